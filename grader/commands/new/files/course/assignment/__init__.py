"""Your katas: one file each. This file is never run or graded. Use relative imports between the modules."""
