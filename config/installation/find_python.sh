#!/bin/sh
# Print the path of the newest Python from 3.11 to 3.13 that runs here and can make a virtual environment.
# A name on the path proves nothing (pyenv leaves names of Pythons that are not there), so each candidate is run.
# A .venv that works comes first: what was installed goes on working. PYTHON=... names the only candidate.

probe='import os, sys
if not (3, 11) <= tuple(sys.version_info[:2]) <= (3, 13):
    sys.exit("is Python %d.%d" % tuple(sys.version_info[:2]))
try:
    import ensurepip, venv
except ImportError:
    sys.exit("is Python %d.%d, but venv or ensurepip is missing" % tuple(sys.version_info[:2]))
base = getattr(sys, "_base_executable", None) or sys.executable
print(base if os.access(base, os.X_OK) else sys.executable)'

if [ -n "$PYTHON" ]; then
    set -- "$PYTHON"
else
    set -- .venv/bin/python python3.13 python3.12 python3.11 python3 python
fi

tried=""
for candidate in "$@"; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if path=$("$candidate" -c "$probe" 2>/dev/null) && [ -n "$path" ]; then
        printf '%s\n' "$path"
        exit 0
    fi
    reason=$("$candidate" -c "$probe" 2>&1 >/dev/null | tail -n 1)
    case "$reason" in
        "is Python"*) ;;
        *) reason="does not run" ;;
    esac
    tried="$tried
  $candidate $reason"
done

if [ -n "$PYTHON" ]; then
    echo "PYTHON=$PYTHON is not a Python that Plurank can use.${tried:-
  $PYTHON is not found}" >&2
else
    echo "Plurank needs Python 3.11, 3.12 or 3.13 with venv, and finds none on the path.$tried" >&2
fi
cat >&2 <<'MESSAGE'
Install one, then run make again:
  Debian, Ubuntu   sudo apt install python3 python3-venv
  Fedora           sudo dnf install python3.13
  macOS            brew install python@3.13
or name one that you have: PYTHON=/path/to/python3.12 make demo
MESSAGE
exit 1
