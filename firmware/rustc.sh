#!/usr/bin/env bash
# The compiler wrapper that makes images independent of the checkout's path. Cargo
# derives a crate's number from its absolute path. The number is part of every symbol,
# symbols determine the order of functions, and the order determines what is inlined:
# some 20 bytes. Here the number is derived from the name, version and features.
set -euo pipefail
arguments=() features=''
for argument; do
  case $argument in
    metadata=*) argument=metadata=weighbridge-number ;;
    -Cmetadata=*) argument=-Cmetadata=weighbridge-number ;;
    feature=*) features+=$argument ;;
  esac
  arguments+=("$argument")
done
number=$(printf '%s' "${CARGO_PKG_NAME:-} ${CARGO_PKG_VERSION:-} $features" | cksum | cut -d ' ' -f 1)
arguments=("${arguments[@]/weighbridge-number/$number}")
[ -z "${CARGO_PKG_NAME:-}" ] ||
  arguments+=("--remap-path-prefix=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)=.")
exec "${arguments[@]}"
