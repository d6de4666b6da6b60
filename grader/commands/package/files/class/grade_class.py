"""Grades the repositories of a class in two steps, of which only the first needs a token that can read them.

    python3 -I grade_class.py clone LIST CLASS    downloads the repositories in LIST into the folder CLASS
    python3 -I grade_class.py grade CLASS WORK    grades what is new since WORK/results, and writes WORK/summary.md

Each line of LIST is the URL of a repository, or `all URL [START]`: the address at which the API of GitHub or GitLab
lists an organisation or group, and how the names of the repositories to grade begin. Lines with `#` are comments.

Exit codes: 0 everything is graded; 1 a repository can't be cloned; 2 LIST can't be used; 3 a test is broken or could
not be graded, or the grader failed.
"""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
NOT_CLONED = ".not-cloned"  # file in CLASS
REFUSED, UNSURE = 2, 3  # exit codes of `grader grade`: some can't be read; some tests are broken or could not be graded
PAGE = 100  # repositories in one answer of an API
CLONE_SECONDS = 300
SHOWN = 20  # number of lines of error messages in the summary
FETCH = ("-c", "core.symlinks=false", "clone", "--quiet", "--depth", "1", "--no-tags", "--")


def clone(listed: Path, folder: Path) -> int:
    """Clone all repositories that are listed, and note those that can't be cloned."""
    urls = [url for line in listed.read_text("utf-8").splitlines() for url in list_urls(line.split())]
    names = [url.rstrip("/").removesuffix(".git").rpartition("/")[2] for url in urls]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        stop(f"{listed}: two repositories are called {', '.join(twice)}")
    if not urls:
        stop(f"{listed}: lists no repository")
    if folder.exists():
        stop(f"{folder}: already exists")
    folder.mkdir(parents=True)
    problems = []
    for name, url in zip(names, urls, strict=True):
        try:
            command = ["git", *FETCH, url, str(folder / name)]
            quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
            subprocess.run(command, env=quiet, check=True, capture_output=True, text=True, timeout=CLONE_SECONDS)
            shutil.rmtree(folder / name / ".git")
        except (subprocess.SubprocessError, OSError) as error:
            shutil.rmtree(folder / name, ignore_errors=True)
            reason = [line for line in str(getattr(error, "stderr", None) or error).splitlines() if line]
            problems.append(f"{name}: can't be cloned: {reason[-1]}")
    (folder / NOT_CLONED).write_text("".join(f"{line}\n" for line in problems), "utf-8")
    print(f"cloned {len(urls) - len(problems)} of {len(urls)} repositories", *problems, sep="\n")
    return 0


def list_urls(words: list[str]) -> Iterator[str]:
    """Yield the URLs of the repositories that one line stands for."""
    if not words or words[0].startswith("#"):
        return
    if words[0] != "all":
        yield words[0]
        return
    token = os.environ.get("CLASS_TOKEN", "")
    number, start = 1, "".join(words[2:])
    while True:
        joint = "&" if "?" in words[1] else "?"
        request = urllib.request.Request(f"{words[1]}{joint}per_page={PAGE}&page={number}")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=CLONE_SECONDS) as answer:
                page = json.load(answer)
        except (OSError, ValueError) as error:
            stop(f"{words[1]}: can't be listed: {error}")
        for repository in page:
            url = repository.get("clone_url") or repository["http_url_to_repo"]  # GitHub's name, or GitLab's
            if url.rpartition("/")[2].startswith(start):
                yield url
        if not page:
            return
        number += 1


def grade(folder: Path, work: Path) -> int:
    """Grade the class, write its page and the summary, and return the exit code."""
    results, summary = work / "results", work / "summary.md"
    results.mkdir(mode=0o700, parents=True, exist_ok=True)
    python = os.environ.get("TORCHKATA_PYTHON") or f"{work}/venv/bin/python"
    grader = [python, "-I", f"{HERE}/run.py", "grader", "--course", f"{HERE}/torchkata"]
    options = (HERE / "options").read_text("utf-8").split()
    command = [*grader, "grade", str(folder), "--layout", "github", "--out", str(results), "--json", *options]
    done = run(work, "bash", f"{HERE}/install.sh", str(work))
    is_installed = done.returncode == 0
    for _ in range(2):  # what could not be graded is graded again, and nothing else
        if is_installed and done.returncode in (0, UNSURE):
            done = run(work, *command)
    is_graded = is_installed and done.stdout.startswith("{")  # nothing is printed if the grader refuses to begin
    said = json.loads(done.stdout)["problems"] if is_graded else done.stderr.splitlines()[-SHOWN:]
    not_cloned = (folder / NOT_CLONED).read_text("utf-8").splitlines()
    code, line = 0, ""
    if is_graded and done.returncode == UNSURE:
        code, line = UNSURE, "A test is broken or could not be graded. The reason is below."
    elif not is_graded or done.returncode not in (0, REFUSED):
        code, line = UNSURE, f"The grader failed with exit code {done.returncode}. The end of its messages is below."
    elif not_cloned:
        code, line = 1, "Not every repository could be cloned. Earlier results of these repositories are kept."
    messages = [f"    {each}\n" for text in [*not_cloned, *said] for each in text.splitlines()[:SHOWN]]
    text = "\n".join([*([f"**{line}**\n"] if line else []), "".join(messages)])
    if any(results.glob("*/result.json")):
        run(work, *grader, "report", str(results))
        run(work, *grader, "export", str(results), "--format", "github", "--out", str(summary))
        text += f"\n{summary.read_text('utf-8')}"
    summary.write_text(text, "utf-8")
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        shutil.copy(summary, page)
    print(line or "graded", file=sys.stderr)
    return code


def stop(reason: str) -> NoReturn:
    """Exit because the list of repositories can't be used."""
    print(reason, file=sys.stderr)
    sys.exit(2)


def run(work: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in WORK, not among the students' files, and show its errors."""
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, errors="replace")
    sys.stderr.write(done.stderr)
    return done


if __name__ == "__main__":
    step = {"clone": clone, "grade": grade}[sys.argv[1]]
    sys.exit(step(Path(sys.argv[2]).absolute(), Path(sys.argv[3]).absolute()))
