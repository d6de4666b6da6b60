"""The `kata speak` command, which trains the student's language model on the source code of Python's standard library.

The command predicts the cost of training with the student's own functions, and compares it with the measured cost at
the end. `FOLDER` stores the tokens, the last checkpoint, and `run.json` with the plan and the losses, so that the next
call can continue the run.
"""

import errno
import json
import math
import os
import shutil
import statistics
import sysconfig
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reference.generate_text.cost import find_cost, find_mfu, measure_memory, measure_speed
from reference.generate_text.curve import draw, save_picture
from reference.generate_text.report import FEWER_LETTERS, LETTERS, Report
from reference.generate_text.training_run import Run, Speaker
from reference.generate_text.trial import choose_threads, using_threads
from reference.generate_text.writing import write

FOLDER = Path(".kata/speak")
PICTURE = Path("loss.png")
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo", "__pycache__"}
LEAST_SOURCE = 10**5  # minimum size of the source code in bytes; a complete standard library has about 10**7
MOST_MINUTES = 24 * 60
SHARE = 0.97  # share for training of the time that the texts and the trial steps leave
TRIAL = 0.04  # share of the time limit for the trial steps with each number of threads
CHECKPOINT_SECONDS = 5
SHORT = 5 * 60  # on a CPU, a run of fewer seconds learns more from windows of half the length
CPU = {"dim": 128, "num_layers": 2, "context": 128, "batch_size": 8, "peak_lr": 6e-3}
GPU = {"dim": 512, "num_layers": 8, "context": 256, "batch_size": 128, "peak_lr": 1e-3, "bfloat16": True}


def add_options(parser: ArgumentParser, texts: Mapping[str, str]) -> None:
    """Add the options of the command."""
    parser.add_argument("--minutes", default="10", help=texts["minutes"])
    parser.add_argument("--device", default="", help=texts["device"])


def run(assignment: Any, texts: Mapping[str, str], minutes: str = "10", device: str = "") -> Iterator[str]:
    """Begin or continue a run, and yield each line of output as soon as it is available.

    Raises OSError if the disk is full. torch.save raises a RuntimeError in this case, so check the free space.
    """
    limit, device = parse_minutes(minutes, texts), choose_device(device, texts)
    folder = Path(os.path.relpath(Path(assignment.generate_text.__file__).parents[1] / FOLDER))
    folder.mkdir(parents=True, exist_ok=True)
    speaker, found = Speaker(assignment, texts, folder, time.monotonic() + limit), Run({"device": device})
    threads = torch.get_num_threads()
    try:
        if (folder / "run.json").exists():
            found = read_run(speaker)
            yield texts["continues"].format(folder=folder)
        else:
            with using_threads(1):  # a model that writes multiplies only small matrices
                yield from begin(speaker, found, limit, threads)
        with using_threads(found.threads):
            yield from go_on(speaker, found, limit)
        with using_threads(1):
            yield from finish(speaker, found)
    except (OSError, RuntimeError) as error:
        needed = 1.1 * found.predicted.get("checkpoint", 0)
        if getattr(error, "errno", 0) == errno.ENOSPC or shutil.disk_usage(folder).free < needed:
            raise OSError(texts["disk_full"].format(folder=folder, megabytes=needed / 1e6)) from None
        raise


def go_on(speaker: Speaker, found: Run, limit: float) -> Iterator[str]:
    """Train from the last checkpoint until the last step or the time limit. Raises KeyboardInterrupt on Ctrl-C."""
    _, _, start = speaker.load(found)
    found.steps = [step for step in found.steps if step[0] <= start]
    if start == (total := found.settings["steps"]):
        return
    yield speaker.texts["training"].format(start=start, steps=total, minutes=limit / 60)
    report = Report(speaker, found)
    with report.stopped_by_ctrl_c():
        speaker.train(found, speaker.checkpoint, report)
    report.close()
    if report.reason == "ctrl_c":
        yield speaker.texts["stopped"].format(step=found.steps[-1][0], steps=total)
        raise KeyboardInterrupt


def parse_minutes(text: str, texts: Mapping[str, str]) -> float:
    """Convert the time limit from minutes to seconds. Raises SystemExit if it is not a valid number of minutes."""
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not 0 < minutes <= MOST_MINUTES:
        raise SystemExit(texts["wrong_minutes"].format(value=repr(text), most=MOST_MINUTES))
    return 60 * minutes


def choose_device(name: str, texts: Mapping[str, str]) -> str:
    """Return the device with this name, or by default a GPU if there is one. Raises SystemExit if it can't be used."""
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.ones(1, device=name).sum().item()
    except (RuntimeError, AssertionError):  # torch built without CUDA raises an AssertionError
        kind = ""
    else:
        kind = torch.device(name).type
    if kind not in ("cpu", "cuda"):
        raise SystemExit(texts["wrong_device"].format(value=repr(name)))
    return kind if kind == "cpu" else name


def read_run(speaker: Speaker) -> Run:
    """Return the stored run. Raises SystemExit if `run.json` or the token file is damaged."""
    with speaker.reading(file := speaker.folder / "run.json"):
        found = Run(**json.loads(file.read_text("utf-8")))
        speaker.assignment.train_language_model.Settings(**found.settings)
        found.steps = [(int(step), float(loss), float(seconds)) for step, loss, seconds in found.steps]
    with speaker.reading(speaker.tokens):
        speaker.assignment.memmap_tokens.load_tokens(speaker.tokens)[-1]
    choose_device(found.settings["device"], speaker.texts)
    return found


def read_library(texts: Mapping[str, str]) -> tuple[int, bytes]:
    """Return the number and the contents of the standard library's source files. Raises OSError if they are missing."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = [path for path in folder.rglob("*.py") if not LEFT_OUT & {*path.relative_to(folder).parts}]
    content = b"\n".join(path.read_bytes() for path in sorted(files) if path.is_file())
    if len(content) < LEAST_SOURCE:
        raise OSError(texts["no_library"].format(folder=folder))
    return len(files), content


def begin(speaker: Speaker, found: Run, limit: float, threads: int) -> Iterator[str]:
    """Write the tokens, show text generated by the untrained model, predict the cost of training, and save the plan."""
    texts, settings = speaker.texts, found.settings
    settings |= CPU if settings["device"] == "cpu" else GPU
    if settings["device"] == "cpu" and limit < SHORT:
        settings["context"] //= 2
    count, content = read_library(texts)
    model, _ = speaker.build(found)
    find_cost(speaker, found, model)
    predicted = found.predicted
    disk = 2 * (len(content) + predicted["checkpoint"])  # a new checkpoint is written next to the last one
    if shutil.disk_usage(speaker.folder).free < disk:
        raise OSError(errno.ENOSPC, "")
    speaker.checkpoint.unlink(missing_ok=True)
    speaker.assignment.memmap_tokens.save_tokens(speaker.tokens, np.frombuffer(content, np.uint8).astype(np.uint16))
    yield texts["library"].format(count=count, bytes=len(content))
    yield texts["model"].format(**settings, parameters=predicted["parameters"])
    yield texts["before"]
    predicted["letter"] = write(speaker, settings["device"], model, FEWER_LETTERS)
    yield texts["trial"]
    times = choose_threads(speaker, found, threads, TRIAL * limit)
    trial = times[found.threads]
    if len(times) == 2:
        key = "one_thread" if found.threads == 1 else "all_threads"
        yield texts[key].format(one=times[1], all=times[threads], threads=threads)
    with using_threads(found.threads):
        measure_speed(speaker, found)
    left = speaker.deadline - time.monotonic() - (LETTERS + FEWER_LETTERS) * predicted["letter"]
    steps = max(1, int(SHARE * left / trial))
    settings |= {"steps": steps, "warmup": min(100, steps // 10)}
    settings["checkpoint_every"] = choose_interval(CHECKPOINT_SECONDS / trial)
    predicted["seconds"] = steps * trial
    flops = steps * predicted["flops"]
    yield texts["plan"].format(
        **settings,
        tokens=steps * settings["batch_size"] * settings["context"],
        flops=flops,
        memory=predicted["memory"] / 1e6,
        disk=disk / 1e6,
        speed=predicted["speed"],
        best=flops / predicted["speed"] / 60,
        seconds=trial,
        minutes=predicted["seconds"] / 60,
        mfu=find_mfu(speaker, found, trial),
    )
    found.save(speaker.folder)


def choose_interval(steps: float) -> int:
    """Return about this number of steps. It divides 100 or is a multiple of it, so that step 100 can be shown."""
    if steps >= 100:
        return 100 * round(steps / 100)
    return max(each for each in range(1, 101) if 100 % each == 0 and each <= max(1, steps))


def finish(speaker: Speaker, found: Run) -> Iterator[str]:
    """Show the loss curve and text generated by the trained model, and compare the predicted with the measured cost."""
    texts, settings, predicted = speaker.texts, found.settings, found.predicted
    if not found.steps:
        raise speaker.refuse("no_report")
    model, optimizer, step = speaker.load(found)
    found.steps = [each for each in found.steps if each[0] <= step]
    yield ""
    yield from draw([loss for _, loss, _ in found.steps])
    first, last = found.steps[0][1], statistics.fmean(loss for _, loss, _ in found.steps[-20:])
    yield texts["losses"].format(first=first, last=last, uniform=math.log(256))
    yield ""
    yield texts["after"].format(step=step)
    write(speaker, settings["device"], model, LETTERS)
    yield ""
    taken = len(found.steps)  # number of steps with a known time
    expected, measured = predicted["seconds"] * taken / settings["steps"], sum(seconds for _, _, seconds in found.steps)
    best = taken * predicted["flops"] / predicted["speed"]
    memory = measure_memory(speaker, found, model, optimizer)
    yield texts["compared"].format(
        best=best / 60,
        expected=expected / 60,
        measured=measured / 60,
        expected_mfu=find_mfu(speaker, found, expected / taken),
        measured_mfu=find_mfu(speaker, found, measured / taken),
        expected_memory=predicted["memory"] / 1e6,
        measured_memory=memory / 1e6,
    )
    ratio = measured / expected
    yield texts["slower" if ratio > 1.15 else "faster" if ratio < 0.87 else "as_expected"].format(ratio=ratio)
    yield texts["why" if measured > best else "disturbed"].format(ratio=measured / best)
    yield ""
    if find_spec("matplotlib") is None:
        yield texts["no_matplotlib"]
    else:
        save_picture([(step, loss) for step, loss, _ in found.steps], PICTURE)
        yield texts["picture"].format(file=PICTURE)
    key = "finished" if step == settings["steps"] else "time_is_up"
    yield texts[key].format(step=step, steps=settings["steps"], folder=speaker.folder)
