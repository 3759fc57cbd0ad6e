#!/usr/bin/env bash
# Fuzzes the server by its OpenAPI document with schemathesis, for about two minutes. `./test` runs it.
#
# The server and the fuzzer run as a user without privileges, with a home of its own, where there is no network but
# loopback; nothing of the person's can be read or changed by what they make up. Python packages are pinned in
# fuzz/requirements.txt and kept in the person's cache. FUZZ_SEED makes another run, FUZZ_SECONDS a longer
# one, FUZZ_KEEP=1 keeps its directory.
set -euo pipefail
# Another user reads what is made here.
umask 022

scripts=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
forge=${FORGE_BINARY:-${CARGO_TARGET_DIR:-$scripts/../target}/debug/forge}
# A user that no machine has, and so owns nothing. It is not `nobody`: the kernel shows that one for whom it cannot
# name, so the server does not take it for its own.
nobody=59999

say() { printf '%s\n' "$*" >&2; }

# find_python: prints the interpreter to use. Another user must be able to run it, which one below /root is not.
find_python() {
    local python
    for python in /usr/bin/python3 "$(type -P python3)"; do
        if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    say "the fuzzer needs Python 3.11 or newer with venv; install it with: sudo apt-get install python3 python3-venv"
    return 1
}

# make_environment PYTHON: prints the virtual environment with the pinned packages, made if it is not there.
make_environment() {
    local python=$1 key environment new
    key=$({ "$python" --version && cat "$scripts/fuzz/requirements.txt"; } | sha256sum | cut -c 1-16)
    environment=${XDG_CACHE_HOME:-$HOME/.cache}/forge-fuzz/$key
    if [ ! -e "$environment/made" ]; then
        say "installing schemathesis into $environment"
        mkdir -p -- "$(dirname -- "$environment")"
        rm -rf -- "$environment"
        "$python" -m venv "$environment"
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
            --only-binary=:all: --require-hashes --requirement "$scripts/fuzz/requirements.txt" >&2
        touch -- "$environment/made"
    fi
    echo "$environment"
}

[ -x "$forge" ] || { say "$forge is missing: run \`cargo build -p forge\` first, or set FORGE_BINARY"; exit 1; }
python=$(find_python)
environment=$(make_environment "$python")

place=$(mktemp -d "${TMPDIR:-/tmp}/forge-fuzz.XXXXXX")
clean() { [ -n "${FUZZ_KEEP:-}" ] && say "kept: $place" || rm -rf -- "$place"; }
trap clean EXIT
mkdir -- "$place/own" "$place/environment" "$place/scripts"
# What the other user runs may lie where only its owner looks, so it is given a copy, or a view of it.
cp -- "$forge" "$place/forge"
cp -- "$scripts"/fuzz/*.py "$place/scripts/"
chmod 755 "$place" "$place/forge"

# $1 is the place, $2 the environment, the rest becomes the user without privileges.
# shellcheck disable=SC2016
inside='
    place=$1 environment=$2
    shift 2
    ip link set lo up
    mount --bind "$environment" "$place/environment"
    cd "$place/own"
    exec "$@" env -i PATH="$PATH" HOME="$place/own" PYTHONDONTWRITEBYTECODE=1 \
        ${FUZZ_SEED:+"FUZZ_SEED=$FUZZ_SEED"} ${FUZZ_SECONDS:+"FUZZ_SECONDS=$FUZZ_SECONDS"} \
        "$place/environment/bin/python" "$place/scripts/run.py" "$place/forge" "$place/own"
'
bare=(setpriv --no-new-privs --inh-caps=-all --bounding-set=-all)
if [ "$(id -u)" -eq 0 ]; then
    chown "$nobody:$nobody" "$place/own"
    apart=(unshare --net --mount)
    become=("${bare[@]}" "--reuid=$nobody" "--regid=$nobody" --clear-groups)
else
    # Root of a namespace, to make the network and the view; then the person's own user again, without any right.
    apart=(unshare --user --map-root-user --net --mount)
    become=(unshare --user "--map-user=$(id -u)" "--map-group=$(id -g)" setpriv --no-new-privs)
fi
# A run takes about two minutes, on a busy machine more. The first signal lets it end its server and its agents.
timeout --kill-after=30 $((2 * ${FUZZ_SECONDS:-0} + 720)) "${apart[@]}" bash -euc "$inside" inside "$place" "$environment" "${become[@]}"
