#!/usr/bin/env bash
# The compiler, for images that are the same wherever the checkout lies. Cargo
# derives the number of a crate from its absolute path; the number is part of every
# symbol, symbols decide about the order of functions, and the order about what is
# inlined: some 20 bytes. Here the number is that of the name, version and features.
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
