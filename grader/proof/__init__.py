"""Runs the proofs of `grader certify`: tests with the zoo, the sandbox with attacks, and timing with cheats."""
