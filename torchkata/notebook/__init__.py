"""Support for notebooks: `%%kata linear` writes a cell to its file, tests it, and shows the report."""
