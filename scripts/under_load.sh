#!/usr/bin/env bash
# Runs tests again and again beside busy loops, and counts how often they passed.
#
#   scripts/under_load.sh LOOPS ROUNDS FILTER...
#
# LOOPS processes do nothing but use a core each, at the same priority as the tests. FILTER is what
# `cargo nextest run` takes, for example: -p forge -E 'test(/^limits::/)'. What is compiled is compiled first, without
# the loops. The output of a round that failed is kept, and its place is printed.
set -uo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." || exit 1

# Loops that outlive this script by a fault end by themselves.
LONGEST=7200

if [ $# -lt 3 ] || ! [[ "$1 $2" =~ ^[0-9]+\ [1-9][0-9]*$ ]]; then
    echo "usage: scripts/under_load.sh LOOPS ROUNDS FILTER..., for example: 16 50 -p forge -E 'test(/^limits::/)'" >&2
    exit 2
fi
loops=$1
rounds=$2
shift 2

# The tests of several crates run the forge binary.
cargo build --quiet --locked --package forge && cargo nextest run --locked --no-run "$@" || exit 1

logs=$(mktemp -d)
busy=()
for ((loop = 0; loop < loops; loop++)); do
    (
        end=$((SECONDS + LONGEST))
        while ((SECONDS < end)); do :; done
    ) &
    busy+=($!)
done
trap '[ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null' EXIT

passed=0
for ((round = 1; round <= rounds; round++)); do
    if cargo nextest run --locked --no-fail-fast --status-level fail "$@" >"$logs/$round" 2>&1 </dev/null; then
        passed=$((passed + 1))
        rm -f -- "$logs/$round"
    else
        echo "round $round failed: $logs/$round"
    fi
done
echo "$passed of $rounds rounds passed beside $loops busy loops, in $SECONDS seconds"
[ "$passed" -eq "$rounds" ]
