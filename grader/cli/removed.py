"""Names what to use instead of commands and options that earlier versions had, for one minor release."""

from collections.abc import Sequence
from itertools import pairwise

REMOVED = {  # the command, then the option and its value, if only those were removed
    "calibrate": "use `grader doctor --device cuda`",
    "similar": "use `grader export RESULTS --format sources --to DIR`",
    "translations": "use `make translations`",
    "grade --class": "use `grader marks RESULTS CLASS` or `grader report RESULTS --class CLASS` afterwards",
    "grade --gradescope": "upload the file that `grader package gradescope OUT.zip` writes",
    "grade --no-replay": "leave it out, because the inputs are always drawn once for all submissions",
    "grade --per-task": "use `--slurm per-task=N`",
    "grade --pseudonyms": "use `grader anonymize IN OUT KEYFILE` and grade OUT",
    "grade --replay": "leave it out, because the inputs are always drawn once for all submissions",
    "certify --no-replay": "leave it out, because the inputs are always drawn once for all submissions",
    "certify --only attacks": "use `pytest grader/tests/integration/test_attacks.py` in a checkout",
    "certify --only cheats": "use `make speed` in a checkout",
    "certify --replay": "leave it out, because the inputs are always drawn once for all submissions",
    "certify --write-caught-by": "leave it out, because `grader certify` always completes caught_by.toml",
    "new kata --kind random": "use `--kind function`",
    "new kata --kind tests": "use `--kind function`",
    "new kata --kind training": "use `--kind function`",
}


def find_removed(arguments: Sequence[str]) -> str:
    """Return what to use instead of the first removed command or option in a command line, or "" if there is none."""
    pairs = [*pairwise(arguments), *(argument.partition("=")[::2] for argument in arguments)]
    for name, instead in REMOVED.items():
        command, dashes, rest = name.partition(" --")
        option, _, value = f"{dashes}{rest}".strip().partition(" ")
        if [*arguments[: len(command.split())]] != command.split():
            continue
        if not option or any(given == option and value in ("", chosen) for given, chosen in pairs):
            return f"`grader {name}` was removed; {instead}"
    return ""
