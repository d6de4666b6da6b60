"""Views of stored results: terminal tables, HTML pages, and the export formats of platforms."""
