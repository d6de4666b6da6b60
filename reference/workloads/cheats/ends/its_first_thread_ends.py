AIM = "ends its main thread, so that the kernel does not report its time"
SLOW = "train/every_step_three_times"
EXPECTED = "stopped"

# %% CONTROL
import threading

assert threading.current_thread() is threading.main_thread()

# %% CHEAT
import ctypes
import gc
import threading

import grader.sandbox.inside.channel as channel
from grader.sandbox.inside.timed_work import TimedWork
from torchkata.inside.reply import Reply

asked = TimedWork.answer


def answer(self, request):
    if "block" not in request:
        return asked(self, request)
    line = next(c for c in gc.get_objects() if type(c) is channel.Channel)

    def work():
        asked(self, request)
        line.send(Reply("returned"))

    threading.Thread(target=work).start()
    ctypes.CDLL(None).syscall(60, 0)


TimedWork.answer = answer
