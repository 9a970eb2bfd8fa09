#!/usr/bin/env bash
# The tests of every part, as `make test` runs them after its set-up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

# An image and a module are linked in one thread each: two builds take both processors.
in_background scripts/wasm.sh
scripts/firmware.sh
in_background_done
# The tests in Node take one processor for the most part, and a wheel is linked in one thread.
in_background scripts/python.sh quick
scripts/wasm.sh test
scripts/web.sh build
in_background_done
# Pages wait for the most part: meanwhile the tests of the host are compiled.
in_background "${CARGO:-cargo}" test --workspace --no-run
scripts/web.sh run
in_background_done
# Last, so that its summaries are the closing lines.
"${CARGO:-cargo}" test --workspace
