"""`grader release`: writes the handout for students, and checks it for leaked solutions and broken tests."""
