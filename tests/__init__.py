"""Property tests, one file per kata. Tests call student code through probes, which return plain values."""
