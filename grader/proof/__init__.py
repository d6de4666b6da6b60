"""The proofs of `grader certify`: wrong solutions test the tests, attacks the sandbox, and cheats the timing."""
