"""Proves, for `grader certify`, the tests with the zoo, the sandbox with attacks, and the clock with cheats."""
