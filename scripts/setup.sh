#!/usr/bin/env bash
# Make the locked environment in .venv: bootstrap uv when missing, find a Python >= 3.12, install what uv.lock says.
# Usage: scripts/setup.sh [extra arguments of `uv sync`]
set -euo pipefail
cd "$(dirname "$0")/.."

fits() { "$1" -c 'import sys; raise SystemExit(not ((3, 12) <= sys.version_info[:2] < (3, 14)))' 2>/dev/null; }

find_python() {
    local candidate
    for candidate in "${STARLING_PYTHON:-}" python3.13 python3.12 python3 \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23].*/bin/python3; do
        [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 && fits "$candidate" &&
            { command -v "$candidate"; return; }
    done
}

uv=$(command -v uv || true)
if [ -z "$uv" ]; then
    if [ ! -x .tools/uv/bin/uv ]; then
        echo "uv is not installed: fetching it from PyPI into .tools/uv"
        python3 -m venv .tools/uv
        .tools/uv/bin/pip install --quiet --disable-pip-version-check "uv>=0.9"
    fi
    uv=$PWD/.tools/uv/bin/uv
fi

python=$(find_python || true)
if [ -z "$python" ]; then
    echo "no Python 3.12 or 3.13 found: asking uv for one"
    "$uv" python install 3.12 || {
        echo "error: Starling needs Python 3.12 or 3.13 and none could be found or fetched. Install one (or set STARLING_PYTHON to it) and run the command again." >&2
        exit 1
    }
    python=3.12
fi
# An environment made by an interpreter that is gone is made anew.
if [ -d .venv ] && ! fits .venv/bin/python; then rm -rf .venv; fi

UV_PYTHON=$python UV_PYTHON_PREFERENCE=only-system "$uv" sync --frozen --quiet --inexact "$@" ||
    UV_PYTHON=$python "$uv" sync --frozen --inexact "$@"
mkdir -p .tools && printf '%s\n' "$uv" >.tools/uv-path
