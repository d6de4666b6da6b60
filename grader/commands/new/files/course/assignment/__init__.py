"""Your katas, one file each. Use relative imports to import other katas. This file is never executed or graded."""
