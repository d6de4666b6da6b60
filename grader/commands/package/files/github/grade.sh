#!/usr/bin/env bash
# Grades the repository that it is run in; results go to the directory that is named, and into the step's summary.
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
