#!/usr/bin/env bash
# Checks that every package of the workspace is compiled with the features that the whole workspace is compiled with, so
# that no command compiles a dependency twice. Prints what differs; crates/features/Cargo.toml is where it is mended.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."

# features EDGES SELECTION...: a line for each package with its features.
features() {
    local edges=$1
    shift
    cargo tree --locked --prefix none --edges "$edges" --format '{p} {f}' "$@" |
        sed -e 's/ (\*)$//' -e 's/ (proc-macro)//' -e 's# (/[^)]*)##' | sort -u
}

whole=$(features normal,build,dev --workspace)
status=0
for package in "" $(cargo tree --locked --workspace --depth 0 --prefix none --format "{p}" | sed "/^$/d; s/ .*//" | sort -u); do
    selection=(--workspace)
    [ -n "$package" ] && selection=(--package "$package")
    for edges in normal,build normal,build,dev; do
        differs=$(comm -13 <(printf '%s\n' "$whole") <(features "$edges" "${selection[@]}"))
        if [ -n "$differs" ]; then
            printf '%s (%s) is compiled with other features than the workspace:\n%s\n' "${package:-workspace}" "$edges" "$differs"
            status=1
        fi
    done
done
exit "$status"
