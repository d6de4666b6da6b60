"""Changes torch's default dtype and the seeds, restores nothing, and reports all failures as one exception group."""

import random

import torch


def check(run):
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    random.seed(0)
    torch.set_grad_enabled(False)
    failures = []
    for seconds in (0.004, 2.0):
        for high, machine in (
            (1.15, {}),
            (1.15, {"first": 77.0}),
            (1.15, {"clock_set": True}),
            (1.15, {"gpu": True, "busy": 77.0}),
            (1.15, {"gpu": True, "first": 77.0}),
            *((5.5, {"slow": index}) for index in range(7)),
        ):
            try:
                happened = run(seconds, **machine)
                if type(happened.seconds) is not float or not 0.94 < happened.seconds / seconds < high:
                    raise AssertionError(machine)
                if happened.modified or happened.timed < 3 or happened.timed == 3 == happened.matmuls:
                    raise AssertionError("matmuls")
            except Exception as error:
                failures.append(error if isinstance(error, AssertionError) else AssertionError(str(error)))
    if failures:
        raise ExceptionGroup("time_matmul is wrong", failures)
