"""What the course knows of each kata, one folder each: oracle, known mistakes, solution, zoo."""
