"""`grader calibrate`: what this machine's device reaches, beside what its datasheet promises."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from grader.base.errors import CallError, MachineError
from grader.base.terminal import create_console
from grader.speed import ceilings, setup
from grader.speed.calibration import Calibration, calibration_path, store
from grader.speed.child import Send, receive_messages
from torchkata.speed.datasheets import device
from torchkata.speed.sizes import Kind

SILENCE = 900.0  # seconds: float16 takes its time on a processor that has none


@dataclass(frozen=True)
class Options:
    """What was asked for."""

    device: str | None  # cpu, cuda; None: a GPU if there is one
    to: Path | None


class Missing(msgspec.Struct, frozen=True, tag=True):
    """There is nothing to measure."""

    reason: str


class Measured(msgspec.Struct, frozen=True, tag=True):
    """All that there is to know."""

    calibration: Calibration


def run_calibrate(options: Options) -> int:
    """Measure, print the table, store the figures. Raises CallError, MachineError."""
    if options.device == "none":
        raise CallError("--device none: calibrate measures a device, cpu or cuda")
    if options.to is not None and (options.to.is_dir() or not options.to.parent.is_dir()):
        raise CallError(f"--to {options.to}: this should be a file in a directory that exists")
    out = create_console()
    out.print("Measuring, for a minute at most; nothing else should run on this machine.", style="dim")
    calibration = measured(options.device)
    show(calibration, out)
    for path in filter(None, (calibration_path(calibration.device), options.to)):
        try:
            store(calibration, path)
        except OSError as error:
            raise MachineError(f"can't write {path} ({error.strerror})") from None
        out.print(f"stored: {path}", soft_wrap=True)
    return 0


def measured(asked: str | None) -> Calibration:
    """In a child, since a device's driver may hang or die. Raises MachineError."""

    def work(send: Send) -> None:
        kind: Kind = "cpu" if asked == "cpu" or (asked is None and setup.find_missing("cuda")) else "cuda"
        reason = setup.find_missing(kind)
        send(msgspec.msgpack.encode(Missing(reason) if reason else Measured(ceilings.measure_device(kind))))

    for message in receive_messages(work, SILENCE):
        found = msgspec.msgpack.decode(message, type=Missing | Measured)
        if isinstance(found, Measured):
            return found.calibration
        raise MachineError(found.reason)
    raise MachineError("the process that measured was lost")


def show(calibration: Calibration, out: Console) -> None:
    """The table of figures."""
    facts = [f"torch {calibration.torch}", calibration.date]
    facts[:0] = ["one core" if calibration.kind == "cpu" else f"driver {calibration.driver or 'unknown'}"]
    known = device(calibration.device) is not None
    out.print(f"{calibration.device} ({', '.join(facts)})" + ("" if known else ": not in the table of devices"))
    table = Table("", "measured", "datasheet", "share", "others measured", box=box.SIMPLE_HEAD)
    for row in rows(calibration):
        table.add_row(*row)
    out.print(table)


def rows(calibration: Calibration) -> Iterator[tuple[str, ...]]:
    """Each figure, what the datasheet promises and others have measured, as far as it is known."""
    model = device(calibration.device)
    unit, prefix = ("GFLOP/s", 1e9) if calibration.kind == "cpu" else ("TFLOP/s", 1e12)
    for name, flops in calibration.flops.items():
        peak = model.tflops.get(name) if model else None
        achieved = model.achieved.get(name) if model else None
        yield row(name, flops / prefix, unit, peak, achieved)
    for name, bandwidth in calibration.bandwidth.items():
        yield row(name, bandwidth / 1e9, "GB/s", model.gb_s if model else None, None)


def row(name: str, value: float, unit: str, promised: float | None, achieved: float | None) -> tuple[str, ...]:
    """One line of the table."""
    return (
        name,
        f"{value:.4g} {unit}",
        f"{promised:g}" if promised else "–",
        f"{value / promised:.2f}" if promised else "–",
        f"{achieved:g}" if achieved else "–",
    )
