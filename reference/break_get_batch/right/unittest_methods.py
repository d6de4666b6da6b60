"""Runs the methods of a unittest.TestCase, and reports all errors as one group of a subclass of AssertionError."""

import unittest
from collections import Counter

import numpy as np
import torch


class WrongBatches(AssertionError):
    pass


class Batches(unittest.TestCase):
    def draw(self, data, *options):
        batch = type(self).get_batch(data, *options)
        self.assertIsInstance(batch, torch.Tensor)
        self.assertEqual(batch.dim(), 2)
        return batch.tolist()

    def test_windows(self):
        for dtype, largest in ((np.uint16, 65535), (np.int32, 2**31 - 1), (np.int64, 2**63 - 1)):
            data = np.array([largest, 5, largest - 3, 7, 9, 40000], dtype)
            kept = data.tolist()
            seen = Counter(map(tuple, self.draw(data, 900, 2)))
            self.assertEqual({*seen}, {tuple(kept[i : i + 2]) for i in range(4)})
            self.assertLess(max(seen.values()) - min(seen.values()), 130)
            self.assertEqual(data.tolist(), kept)

    def test_pairs(self):
        pairs = Counter((a[0], b[0]) for a, b in (self.draw(np.arange(7), 2, 3) for _ in range(1600)))
        self.assertEqual(len(pairs), 16)
        self.assertLess(max(pairs.values()), 170)
        self.assertGreater(min(pairs.values()), 40)

    def test_many(self):
        self.assertEqual(len(self.draw(np.arange(7), 50, 3)), 50)

    def test_generator(self):
        runs = []
        for seed, other in ((1, 1), (1, 2), (2, 1)):
            np.random.seed(other)
            torch.manual_seed(seed)
            runs.append([self.draw(np.arange(5000), 6, 3) for _ in range(2)])
            self.assertEqual(torch.initial_seed(), seed)
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0][0], runs[0][1])
        self.assertNotEqual(runs[0], runs[2])

    def test_one_row(self):
        data = np.arange(2, dtype=np.int64)
        batch = type(self).get_batch(data, 1, 1)
        self.assertEqual(batch.tolist(), [[0]])
        data[0] = 8
        self.assertEqual(batch.tolist(), [[0]])
        data = np.arange(40)
        for length in range(1, 9):
            self.draw(data, 1, length)
        self.assertTrue((data == np.arange(40)).all())

    def test_devices(self):
        self.assertEqual(type(self).get_batch(np.arange(9), 2, 3, device="meta").device.type, "meta")

    def test_short(self):
        with self.assertRaises((ValueError, RuntimeError)):
            self.draw(np.arange(4), 2, 4)


def check(get_batch):
    case = type("Case", (Batches,), {"get_batch": staticmethod(get_batch)})
    errors = []
    for name in unittest.TestLoader().getTestCaseNames(case):
        try:
            getattr(case(name), name)()
        except Exception as error:
            errors.append(WrongBatches(repr(error)))
    if errors:
        raise ExceptionGroup("wrong", errors)
