"""Notebook support: `%%kata linear` writes a cell to its file, tests it, and displays the report."""
