"""The proof behind `grader certify`: tests against the zoo, the sandbox against attacks, timing against cheats."""
