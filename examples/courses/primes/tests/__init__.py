"""The property tests, one file per kata."""
