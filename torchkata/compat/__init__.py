"""Access to private parts of other packages, one module per package."""
