"""`grader release`: write the handout for students, and check it for leaked solutions and broken tests."""
