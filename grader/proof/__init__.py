"""The proofs of `grader certify`: the zoo tests the tests, attacks test the sandbox, and cheats test the timing."""
