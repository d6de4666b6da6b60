"""Tests that need a clock, a quiet machine, or minutes: `make prove` runs them, and `make test` does not."""
