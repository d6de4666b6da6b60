#!/usr/bin/env bash
# Gradescope runs this as root, once, when it builds the image.
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
bash "$root/source/install.sh" "$root"
mkdir -p -m 700 "$root/cache"
# Compile the grader once for the image, and not for every submission.
"${TORCHKATA_PYTHON:-$root/venv/bin/python}" -I -m compileall -q "$root/source/torchkata"
# Where bubblewrap can't work, a student's code runs as another user: that user must not read the tests' answers.
chmod 700 "$root/source"
