"""What needs a clock, a quiet machine, or minutes: `make prove` runs it, and `make test` does not."""
