AIM = "reports every block as done without doing it"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import grader

assert grader.__name__ == "grader"

# %% CHEAT
from grader.sandbox.inside.timed_work import TimedWork

asked = TimedWork.answer
TimedWork.answer = lambda self, request: None if "block" in request else asked(self, request)
