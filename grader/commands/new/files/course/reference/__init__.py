"""Reference material, one folder per kata: oracle, known mistakes, solution, right and wrong implementations."""
