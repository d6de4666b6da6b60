"""How a test calls the student's code: the runner at home, time limits, and the exceptions that end a test."""
