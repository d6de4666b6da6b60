"""`grader calibrate`: measures the device of this machine and compares it with its datasheet."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from grader.base.errors import CallError, MachineError, convert_write_errors
from grader.base.terminal import create_console
from grader.speed import ceilings, setup
from grader.speed.calibration import Calibration, calibration_path, store
from grader.speed.child import Send, receive_messages
from torchkata.speed.datasheets import device as find_device
from torchkata.speed.sizes import Kind

SILENCE = 900.0  # maximum time without a message, in seconds; float16 is slow on CPUs without hardware support


def run_calibrate(device: str | None, to: Path | None) -> int:
    """Measure the device (by default, the GPU if there is one), print a table and store the results.

    Raises CallError if the options are invalid, or MachineError if the device can't be measured or a file can't be
    written.
    """
    if device == "none":
        raise CallError("--device none: choose cpu or cuda")
    if to is not None and (to.is_dir() or not to.parent.is_dir()):
        raise CallError(f"--to {to}: must be a file in an existing directory")
    out = create_console()
    out.print("Measuring takes up to a minute. Run nothing else on this machine in the meantime.", style="dim")
    calibration = measure(device)
    print_table(calibration, out)
    for path in filter(None, (calibration_path(calibration.device), to)):
        with convert_write_errors(path, MachineError):
            store(calibration, path)
        out.print(f"stored: {path}", soft_wrap=True)
    return 0


def measure(device: str | None) -> Calibration:
    """Measure the device in a child process, because a driver may hang or crash.

    Raises MachineError if the device can't be measured.
    """

    def work(send: Send) -> None:
        kind: Kind = "cpu" if device == "cpu" or (device is None and setup.find_missing("cuda")) else "cuda"
        reason = setup.find_missing(kind)
        send(msgspec.msgpack.encode(reason or ceilings.measure_device(kind)))

    for message in receive_messages(work, SILENCE):
        found = msgspec.msgpack.decode(message, type=str | Calibration)
        if isinstance(found, Calibration):
            return found
        raise MachineError(found)
    raise MachineError("the measuring process exited unexpectedly")


def print_table(calibration: Calibration, out: Console) -> None:
    """Print the measured values next to the datasheet values."""
    facts = [f"torch {calibration.torch}", calibration.date]
    facts[:0] = ["one core" if calibration.kind == "cpu" else f"driver {calibration.driver or 'unknown'}"]
    unknown = "" if find_device(calibration.device) else ": not in the table of devices"
    out.print(f"{calibration.device} ({', '.join(facts)}){unknown}")
    table = Table("", "measured", "datasheet", "share", "reported by others", box=box.SIMPLE_HEAD)
    for row in make_rows(calibration):
        table.add_row(*row)
    out.print(table)


def make_rows(calibration: Calibration) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    model = find_device(calibration.device)
    unit, prefix = ("GFLOP/s", 1e9) if calibration.kind == "cpu" else ("TFLOP/s", 1e12)
    for name, flops in calibration.flops.items():
        peak = model.tflops.get(name) if model else None
        achieved = model.achieved.get(name) if model else None
        yield make_row(name, flops / prefix, unit, peak, achieved)
    for name, bandwidth in calibration.bandwidth.items():
        yield make_row(name, bandwidth / 1e9, "GB/s", model.gb_s if model else None, None)


def make_row(name: str, value: float, unit: str, promised: float | None, achieved: float | None) -> tuple[str, ...]:
    """Return a row, using dashes for unknown values."""
    return (
        name,
        f"{value:.4g} {unit}",
        f"{promised:g}" if promised else "–",
        f"{value / promised:.2f}" if promised else "–",
        f"{achieved:g}" if achieved else "–",
    )
