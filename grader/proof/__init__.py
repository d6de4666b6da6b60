"""The proofs of `grader certify`: wrong solutions check the tests, attacks the sandbox, and cheats the timing."""
