#!/usr/bin/env bash
# The deep tests of every part, as `make test-deep` runs them after its set-up.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

# Seeds, images and emulators each use one processor: two at a time.
in_background scripts/fuzz.sh smoke
scripts/firmware.sh deep
scripts/c.sh deep
in_background_done
in_background scripts/fuzz.sh wasm
scripts/wasm.sh deep
scripts/python.sh test
in_background_done
# Page tests mostly wait, so the host's tests are compiled in the meantime.
in_background "${CARGO:-cargo}" test --workspace --features weighbridge-tests/deep,weighbridge-cli/remote --no-run
scripts/web.sh deep
in_background_done
"${CARGO:-cargo}" test --workspace --features weighbridge-tests/deep,weighbridge-cli/remote
scripts/remote.sh
