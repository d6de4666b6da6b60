"""Uses unittest's subtests, and raises a subclass of AssertionError at the end."""

import unittest


class WrongStopwatch(AssertionError):
    pass


class Stopwatch(unittest.TestCase):
    run_program = None

    def measure(self, seconds, high=1.15, **machine):
        happened = type(self).run_program(seconds, **machine)
        self.assertIs(type(happened.seconds), float)
        self.assertGreater(happened.seconds, 0.94 * seconds)
        self.assertLess(happened.seconds, high * seconds)
        self.assertGreaterEqual(happened.timed, 3)
        self.assertGreaterEqual(happened.matmuls, 4)
        self.assertFalse(happened.modified)

    def test_cpu(self):
        self.measure(1.0)
        self.measure(0.002, clock_set=True)
        self.measure(1.0, clock_set=True)

    def test_first(self):
        for gpu in (True, False):
            self.measure(0.5, gpu=gpu, first=20.0)

    def test_gpu(self):
        self.measure(0.5, gpu=True)
        self.measure(0.5, gpu=True, busy=100.0)

    def test_slow(self):
        for slow in range(7):
            self.measure(0.5, 6.0, slow=slow)


def check(run):
    case = type("Case", (Stopwatch,), {"run_program": staticmethod(run)})
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    if not result.wasSuccessful():
        raise WrongStopwatch(f"{len(result.failures)} failures, {len(result.errors)} errors")
