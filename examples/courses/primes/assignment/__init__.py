"""Your katas, one file each; import one from another with a relative import. This file is not graded."""
