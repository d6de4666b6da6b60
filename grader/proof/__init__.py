"""The proofs of `grader certify`.

Wrong solutions test the tests, attacks test the sandbox, and cheats test the timing.
"""
