# Sourced by `run` and `test`: `set_up run|test` leaves a working $python that belongs to this project alone.
# Everything said here goes to stderr; stdout is the command's own.

root=$(cd "$(dirname "$(readlink -f "$0" 2>/dev/null || printf '%s' "$0")")/.." && pwd)
venv=$root/.venv
python=$venv/bin/python
unset PYTHONPATH PYTHONHOME

say() { printf 'synapse: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

# Prints a CPython that the lock covers, or nothing.
find_python() {
    for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
        if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c '
import sys
sys.exit(sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info[:2] <= (3, 14))
' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
}

# Shows a command, runs it quietly, and shows what it said if it failed.
show_and_do() {
    printf '+ %s\n' "$*" >&2
    log=$(mktemp)
    if "$@" >"$log" 2>&1 </dev/null; then
        rm -f "$log"
    else
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
}

# Installs what the system lacks where that is possible without asking, else names it. Never fails.
install_missing() {
    lacking=$("$base_python" "$root/packaging/environment.py" missing "$1")
    [ -n "$lacking" ] || return 0
    packages=$(printf '%s\n' "$lacking" | cut -d ' ' -f 1 | tr '\n' ' ')
    if ! command -v apt-get >/dev/null 2>&1; then
        say "this system lacks: $(printf '%s\n' "$lacking" | cut -d ' ' -f 2- | tr '\n' ',' | sed 's/,$//; s/,/, /g')"
        say "install them with your package manager (Debian calls the packages: $packages)"
        return 0
    fi
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root='sudo -n'
    else
        say "the window needs system packages that only an administrator can install:"
        say "    sudo apt-get install --no-install-recommends $packages"
        return 0
    fi
    say "installing system packages that the window needs"
    # shellcheck disable=SC2086  # words are meant to split
    {
        show_and_do $as_root apt-get -q update || say "apt-get update failed; trying with the lists that are there"
        show_and_do $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
            install --no-install-recommends $packages ||
            say "apt-get could not install them; going on without"
    }
}

pip() { "$python" -m pip --disable-pip-version-check --no-input "$@"; }

current() { # the environment is whole and made from this lock
    [ ! -e "$venv/unfinished" ] && [ -e "$venv/$1.stamp" ] && [ -x "$python" ] &&
        [ "$("$python" "$root/packaging/environment.py" fingerprint "$1" 2>/dev/null)" = "$(cat "$venv/$1.stamp")" ]
}

usable() { # an environment that can be brought up to date as it stands
    [ ! -e "$venv/unfinished" ] && [ -x "$python" ] && "$python" -c '
import pip, sys
sys.exit(sys.prefix == sys.base_prefix or sys.version_info < (3, 11))
' 2>/dev/null
}

make_environment() {
    if usable; then
        fresh=
        say "bringing the private environment in .venv up to date"
        : >"$venv/unfinished"
    else
        fresh=1
        say "making a private environment in .venv (downloads about 120 MB the first time)"
        mkdir -p "$venv"
        : >"$venv/unfinished"
        find "$venv" -mindepth 1 -maxdepth 1 ! -name unfinished -exec rm -rf {} +
        "$base_python" -m venv "$venv" ||
            fail "Python cannot make a private environment. On Debian and Ubuntu: sudo apt-get install python3-venv"
    fi
    lock=$root/packaging/requirements.txt
    [ "$1" = run ] || lock=$root/packaging/requirements-test.txt
    # Wheels only and no build isolation: a build of its own would fetch what the lock does not pin.
    if ! pip install --quiet --no-user --require-hashes --only-binary :all: --requirement "$lock"; then
        # pip undoes its own failures, so an environment that worked still does; only a kill leaves one in pieces.
        [ -n "$fresh" ] || rm "$venv/unfinished"
        fail "the packages could not be installed; with a connection, run this again"
    fi
    pip install --quiet --no-user --no-index --no-deps --no-build-isolation --editable "$root" ||
        fail "Synapse itself could not be installed into .venv"
    for level in run test; do
        rm -f "$venv/$level.stamp"
        if [ "$1" = test ] || [ "$level" = run ]; then
            "$python" "$root/packaging/environment.py" fingerprint "$level" >"$venv/$level.stamp"
        fi
    done
    rm "$venv/unfinished"
}

set_up() {
    base_python=$(find_python)
    [ -n "$base_python" ] || fail "Synapse needs Python 3.11 to 3.14 and found $(python3 --version 2>&1 || true)." \
        "On Debian 12, Ubuntu 24.04 and newer: sudo apt-get install python3 python3-venv"
    install_missing "$1"
    # Two set-ups at once would break each other's environment; the second waits.
    exec 9<"$root/packaging/requirements.txt"
    if command -v flock >/dev/null 2>&1; then flock 9; fi
    current "$1" || make_environment "$1"
    exec 9<&-
}
