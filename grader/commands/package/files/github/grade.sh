#!/usr/bin/env bash
# Grades the repository in the current directory, and writes the results to the given directory and the step summary.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
to="$1"
submission="$PWD"
python="${TORCHKATA_PYTHON:-$to/venv/bin/python}"
read -r -a options < "$here/options"

cd "$to"
grader=("$python" -I "$here/run.py" grader --course "$here/torchkata")
"${grader[@]}" grade "$submission" --out "$to/results" --isolation bwrap "${options[@]}"
"${grader[@]}" export "$to/results" --format junit --to "$to/results/junit.xml"
"${grader[@]}" export "$to/results" --format github --to "$to/summary.md"
cat "$to/summary.md" >> "$GITHUB_STEP_SUMMARY"
