"""Your katas, one file each. Import one kata from another with a relative import. This file is not graded."""
