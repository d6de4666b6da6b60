"""One folder per kata: oracle, known mistakes, solution, and right and wrong implementations."""
