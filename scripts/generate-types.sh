#!/usr/bin/env bash
# Writes everything that is generated from the code: the OpenAPI document, the agents' schemas, shared/types.ts,
# the methods of the TypeScript client.
# With --check it writes nothing, and fails when one of the last two is not what it should be.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."

# Two tests write the schemas and the document, and compare them in every run of the tests.
if [ "${1-}" != --check ]; then
    export FORGE_BLESS=1
    cargo test --quiet --locked --package forge-agents --test it the_schemas_of_all_agents_are_those_that_were_reviewed
    cargo test --quiet --locked --package forge-server --test it the_document_is_the_one_that_was_reviewed
fi
cargo xtask types "$@"
node sdk/typescript/scripts/generate.mjs "$@"
