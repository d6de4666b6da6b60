"""Names that say nothing of whose a submission is, and the key that turns them back: a JSON object, by pseudonym."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.results.result import write_whole


def pseudonyms_for(submissions: Sequence[str], path: Path, out: Path) -> dict[str, str]:
    """The pseudonym of each, new ones kept in the key before anything is graded.

    Raises CallError for a key that can't be read or written, and for one among the results.
    """
    if path.resolve().is_relative_to(out.resolve()):
        raise CallError(f"--pseudonyms {path}: is in {out}, where whoever sees the results would find it")
    key = read_key(path)
    known = {submission: pseudonym for pseudonym, submission in key.items()}
    new = [submission for submission in submissions if submission not in known]
    if new:
        known |= {submission: f"student-{secrets.token_hex(5)}" for submission in new}
        content = msgspec.json.encode({pseudonym: submission for submission, pseudonym in known.items()})
        try:
            write_whole(path, msgspec.json.format(content, indent=1))
            path.chmod(0o600)
        except OSError as error:
            raise CallError(f"--pseudonyms {path}: can't be written ({error.strerror})") from None
    return known


def read_key(path: Path) -> dict[str, str]:
    """The submission of each pseudonym; none where there is no such file. Raises CallError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CallError(f"{path}: can't be read ({error.strerror})") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise CallError(f"{path}: is no key to pseudonyms, which is an object in JSON") from None
