#!/usr/bin/env bash
# Gradescope runs this as root, once, when it builds the image.
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
bash "$root/source/install.sh" "$root"
# Where bubblewrap can't work, a student's code runs as another user: that user must not read the tests' answers.
chmod 700 "$root/source"
