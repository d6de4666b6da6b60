"""The property tests, one file for each kata. Values go in through probes, plain values come back."""
