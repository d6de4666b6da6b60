"""Reference material, one folder per kata: oracle, known mistakes, solution, correct and wrong implementations."""
