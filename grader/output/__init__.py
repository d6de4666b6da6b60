"""Stored results as others read them: tables, the page, pictures, and the formats of platforms."""
