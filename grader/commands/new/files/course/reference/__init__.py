"""Reference material of each kata in its own folder: oracle, known mistakes, solution, zoo."""
