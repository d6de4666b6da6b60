"""Collects all results in arrays and compares them with `np.testing`."""

import numpy as np

MACHINES = [{}, {"first": 60.0}, {"gpu": True}, {"gpu": True, "first": 60.0}, {"gpu": True, "busy": 60.0}]
MACHINES += [{"clock_set": True}, {"clock_set": True, "first": 60.0}]


def check(run):
    try:
        runs = [run(seconds, **machine) for seconds in (0.05, 0.4) for machine in MACHINES]
        slow = [run(0.4, slow=index) for index in range(7)]
    except BaseException as error:
        raise AssertionError from error
    assert {type(each.seconds) for each in runs + slow} == {float}
    results = np.array([each.seconds for each in runs]).reshape(2, -1)
    np.testing.assert_allclose(results, np.outer([0.05, 0.4], np.full(len(MACHINES), 1.04)), rtol=0.1)
    np.testing.assert_array_less([each.seconds for each in slow], 2.2)
    np.testing.assert_array_less(2, [each.timed for each in runs + slow])
    np.testing.assert_array_less(3, [each.matmuls for each in runs + slow])
    np.testing.assert_array_equal([each.modified for each in runs + slow], False)
