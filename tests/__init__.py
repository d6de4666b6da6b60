"""Property tests, one file per kata. They call student code through probes, which return plain values."""
