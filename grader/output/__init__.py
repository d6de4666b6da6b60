"""Views of stored results: terminal tables, HTML pages, rooflines, and the export formats of platforms."""
