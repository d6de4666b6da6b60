"""Access to private APIs of other packages, with one module per package, and to the standard streams."""
