#!/usr/bin/env bash
# The tests of every part, as `make test` runs them after its set-up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

# An image and a module each link on one thread: two builds use both processors.
in_background scripts/wasm.sh
scripts/firmware.sh
scripts/c.sh
in_background_done
# The tests in Node mostly use one processor, and a wheel links on one thread.
in_background scripts/python.sh quick
scripts/wasm.sh test
scripts/web.sh build
in_background_done
# Page tests mostly wait, so the host's tests are compiled in the meantime.
in_background "${CARGO:-cargo}" test --workspace --no-run
scripts/web.sh run
in_background_done
# Last, so that its summaries end the output.
"${CARGO:-cargo}" test --workspace
