#!/usr/bin/env bash
# Builds the board into web/dist, from where the server's build takes it. Does nothing where that is newer than everything
# it is made of; packages are installed only when the lock file is another one than last time.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../web"

say() { printf '%s\n' "$*" >&2; }

stamp=node_modules/.installed-lock.json
if ! cmp --silent package-lock.json "$stamp"; then
    say "Installing what the board is built with."
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json "$stamp"
fi
made_of=(src public index.html package.json package-lock.json tsconfig.json vite.config.ts)
if [ ! -e dist/index.html ] || [ -n "$(find "${made_of[@]}" -newer dist/index.html -print -quit)" ]; then
    say "Building the board."
    npm run --silent build -- --logLevel warn
fi
