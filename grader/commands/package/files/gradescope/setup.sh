#!/usr/bin/env bash
# Gradescope runs this script once, as root, when it builds the image.
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
bash "$root/source/install.sh" "$root"
mkdir -p -m 700 "$root/cache"
# Compile the grader once when the image is built, rather than for every submission.
"${TORCHKATA_PYTHON:-$root/venv/bin/python}" -I -m compileall -q "$root/source/torchkata"
# Without bubblewrap, student code runs as another user, which must not be able to read the answers to the tests.
chmod 700 "$root/source"
