"""Identification of a class's submissions, and the rules that turn points into marks."""
