"""Creates pseudonyms for submissions, and the key that maps them back to names (a JSON object keyed by pseudonym)."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from grader.base.errors import CallError, convert_write_errors
from grader.marks.tables import read_text
from grader.results.result import write_whole


def pseudonyms_for(submissions: Sequence[str], path: Path, out: Path) -> dict[str, str]:
    """Return the pseudonym of each submission. New pseudonyms are stored in the key file before anything is graded.

    Raises CallError if the key cannot be read or written, or if it is in the results directory.
    """
    if path.resolve().is_relative_to(out.resolve()):
        raise CallError(f"--pseudonyms {path}: must not be in {out}, where readers of the results would find the names")
    known = {submission: pseudonym for pseudonym, submission in read_key(path).items()}
    new = [submission for submission in submissions if submission not in known]
    if new:
        known |= {submission: f"student-{secrets.token_hex(5)}" for submission in new}
        content = msgspec.json.encode({pseudonym: submission for submission, pseudonym in known.items()})
        with convert_write_errors(f"--pseudonyms {path}"):
            write_whole(path, msgspec.json.format(content, indent=1))
            path.chmod(0o600)
    return known


def read_key(path: Path) -> dict[str, str]:
    """Return the submission for each pseudonym, or {} if the file is missing. Raises CallError if it is invalid."""
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(read_text(path), type=dict[str, str])
    except msgspec.DecodeError:
        raise CallError(f"{path}: not a pseudonym key (a JSON object of strings)") from None
