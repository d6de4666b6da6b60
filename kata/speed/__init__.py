"""Speed: what is timed, in which sizes, and how its figures read. Shared by `pytest -m gpu` and the grader."""
