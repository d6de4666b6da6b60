"""`grader certify`: proves the tests before a student sees them.

zoo reads the right and wrong implementations, claims turns each into something to grade and what must come of it,
prove grades them all and prints what it found.
"""

from grader.certify.prove import Options, run_certify

__all__ = ["Options", "run_certify"]
