"""Names what to use instead of commands and options that earlier versions had, for one minor release."""

from collections.abc import Sequence
from itertools import pairwise

BOTH = "use `--kata`, which also accepts tracks"
DRAWN_ONCE = "leave it out, because the inputs are always drawn once for all submissions"
REMOVED = {  # the command, then the option and its value, if only those were removed
    "calibrate": "use `grader doctor --device cuda`",
    "similar": "use `grader export RESULTS --format sources --out DIR`",
    "translations": "use `make translations`",
    "certify --messages": "use `--only messages --out DIR`",
    "certify --only attacks": "use `pytest grader/tests/integration/test_attacks.py` in a checkout",
    "certify --only cheats": "use `make speed` in a checkout",
    "certify --write-caught-by": "leave it out, because `grader certify` always completes caught_by.toml",
    "export --overwrite": "use `--force`",
    "grade --class": "use `grader marks RESULTS CLASS` or `grader report RESULTS --class CLASS` afterwards",
    "grade --executor local": "leave it out",
    "grade --executor": "use `--slurm KEY=VALUE`, or `--slurm default` to pass no option to sbatch",
    "grade --gradescope": "upload the file that `grader package gradescope --out OUT.zip` writes",
    "grade --per-task": "use `--slurm per-task=N`",
    "grade --pseudonyms": "use `grader anonymize IN --out OUT --key KEYFILE` and grade OUT",
    "grade --quiet": "write `> /dev/null` after the command",
    **dict.fromkeys(("certify --force", "grade --force"), "use `--again`"),
    **dict.fromkeys(("certify --markdown", "diff --csv", "export --to", "report --feedback"), "use `--out`"),
    **dict.fromkeys((f"new kata --kind {kind}" for kind in ("random", "tests", "training")), "use `--kind function`"),
    **{f"{command} --track": BOTH for command in ("certify", "grade", "package", "release")},
    **{f"{command} --{no}replay": DRAWN_ONCE for command in ("certify", "grade") for no in ("", "no-")},
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
