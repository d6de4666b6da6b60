"""Tests of `grader calibrate` on this machine's CPU, with sizes small enough to run quickly."""

from datetime import date
from pathlib import Path

import pytest
import torch

from grader.speed import setup
from grader.speed.calibration import load
from grader.tests.conftest import run_python

QUICK = """
import dataclasses, pathlib, sys
from grader.commands.calibrate import run_calibrate
from grader.speed import ceilings, machine
from torchkata.speed.sizes import Size

ceilings.PRODUCT = {"cpu": Size(batch=4, width=8, outputs=4)}
ceilings.ELEMENTS, ceilings.BLOCK_SECONDS = {"cpu": 1000}, {"cpu": 1e-4}
ceilings.DEMANDS = {"cpu": dataclasses.replace(machine.DEMANDS["cpu"], warm_up_seconds=1e-4)}
sys.exit(run_calibrate("cpu", pathlib.Path(sys.argv[1])))
"""


def test_calibrate_measures_and_stores_cpu_speed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    done = run_python("-c", QUICK, str(tmp_path / "figures.json"))
    assert (done.code, done.err) == (0, ""), done.out
    found = load(setup.cpu_name(), "cpu")
    assert found is not None
    assert list(found.flops) == ["fp32", "bf16", "fp16", "fp64"]
    assert list(found.bandwidth) == ["copy", "triad"]
    assert all(0 < rate < float("inf") for rate in [*found.flops.values(), *found.bandwidth.values()])
    assert (found.torch, found.driver) == (torch.__version__, "")
    date.fromisoformat(found.date)
    (stored,) = (path for path in cache.rglob("*") if path.is_file())
    assert stored.read_bytes() == (tmp_path / "figures.json").read_bytes()
    for words in ("one core", "not in the table of devices", *(f" {name} " for name in found.flops | found.bandwidth)):
        assert words in done.out
