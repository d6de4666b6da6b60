"""Private parts of other packages, one module for each package."""
