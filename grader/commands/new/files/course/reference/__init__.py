"""Each kata has a folder with its oracle, known mistakes, solution, and right and wrong implementations."""
