#!/usr/bin/env bash
# Packages the published crates and builds each from its package alone.
#
# The command line depends on the core, so both are packaged in one call:
# cargo then takes the core from the package just made, not from a registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo package -p weighbridge -p weighbridge-cli "$@"
