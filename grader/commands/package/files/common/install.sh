#!/usr/bin/env bash
# Installs the grader into the given directory: bubblewrap, and a virtual environment (with the CPU build of torch if
# needed). Existing installations are reused. The current directory may belong to a student, so Python is run with -I
# and in another directory to prevent imports from it. If TORCHKATA_PYTHON is a Python with all packages, it is used
# instead.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
to="$(mkdir -p "$1" && cd "$1" && pwd)"
project="$here/torchkata"
cd "$to"

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
    as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends "$@"
}

find_python() {
    for name in python3.13 python3.12 python3.11 python3; do
        if "$name" -I -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
            echo "$name"
            return
        fi
    done
    return 1
}

if [ -f "$here/source" ] && [ ! -d "$project" ]; then
    command -v git > /dev/null || install_packages git ca-certificates
    read -r url commit < "$here/source"
    git clone --quiet --no-checkout "$url" "$project.part"
    git -C "$project.part" checkout --quiet --detach "$commit"
    mv "$project.part" "$project"
fi

if ! command -v bwrap > /dev/null || ! /sbin/ldconfig -p | grep libseccomp.so > /dev/null; then
    install_packages bubblewrap libseccomp2
fi

# On Ubuntu, programs run by ordinary users can create namespaces only if an AppArmor profile allows it.
restricted=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
if [ "$(id -u)" -ne 0 ] && [ "$(cat "$restricted" 2> /dev/null || echo 0)" -eq 1 ]; then
    as_root sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0
fi

if [ -z "${TORCHKATA_PYTHON:-}" ]; then
    base="$(find_python)" || {
        install_packages python3.12 python3.12-venv || install_packages python3.11 python3.11-venv
        base="$(find_python)"
    }
    [ -x "$to/venv/bin/python" ] || "$base" -I -m venv "$to/venv"
    pip=("$to/venv/bin/python" -I -m pip install --quiet)
    [ ! -f "$project/constraints.txt" ] || pip+=(--constraint "$project/constraints.txt")
    if grep -q '^torch\b' "$here/requirements.txt"; then
        "${pip[@]}" --index-url https://download.pytorch.org/whl/cpu "$(grep '^torch\b' "$here/requirements.txt")"
    fi
    "${pip[@]}" --requirement "$here/requirements.txt"
fi

python="${TORCHKATA_PYTHON:-$to/venv/bin/python}"
"$python" -I -c 'import hypothesis, msgspec, numpy, pytest, rich, typer' || {
    echo "install.sh: $python lacks packages that the grader needs" >&2
    exit 1
}
