#!/usr/bin/env bash
# Gradescope runs this as root, once, when it builds the image.
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
bash "$root/source/install.sh" "$root"
# What the tests ask is drawn once, with the versions of this image, and not for every submission.
read -r -a options < "$root/source/options"
export XDG_CACHE_HOME="$root/cache"
mkdir -p -m 700 "$XDG_CACHE_HOME"
python="${TORCHKATA_PYTHON:-$root/venv/bin/python}"
cd "$root/source"
"$python" -I run.py grader.pipeline.draw --course torchkata "${options[@]}"
# Where bubblewrap can't work, a student's code runs as another user: that user must not read the tests' answers.
chmod 700 "$root/source"
