"""`grader certify`: proves the tests and the sandbox before a student sees them.

zoo reads the right and wrong implementations, claims turns each into something to grade and what must come of it,
prove grades them. attacks reads the hostile ones (archives are packed by archives and read by reception), siege grades
each among others at one level of isolation. command prints what came of it all.
"""

from grader.certify.command import run_certify
from grader.certify.proof import Options

__all__ = ["Options", "run_certify"]
