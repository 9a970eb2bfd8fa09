#!/usr/bin/env bash
# Packages the published crates and builds each from its package alone.
#
# The command line depends on the library and that on the core, so all are packaged in one
# call: cargo then takes each from the package just made, not from a registry.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Cargo keeps what it unpacked from that temporary registry (its folder has no
# host in its name) and does not notice that the same version has changed.
rm -rf -- "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/weighbridge-[0-9]* \
  "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/weighbridge-core-[0-9]*

cargo package -p weighbridge-core -p weighbridge -p weighbridge-cli "$@"
