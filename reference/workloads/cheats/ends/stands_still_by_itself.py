AIM = "stops its own process, as if it were paused"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
import signal

signal.getsignal(signal.SIGCONT)

# %% CHEAT
import os
import signal

from grader.sandbox.inside.timed_work import TimedWork

asked = TimedWork.answer


def answer(self, request):
    os.kill(os.getpid(), signal.SIGSTOP)
    return asked(self, request)


TimedWork.answer = answer
