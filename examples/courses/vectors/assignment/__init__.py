"""Your katas: one file each. This file is never run or graded; the modules import each other relatively."""
