"""The property tests, one file for each kata. Plain values go in, plain values come back."""
