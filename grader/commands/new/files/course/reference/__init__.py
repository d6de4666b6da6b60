"""Each kata has a folder that contains its oracle, known mistakes, solution, and right and wrong implementations."""
