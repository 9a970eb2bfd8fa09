#!/usr/bin/env bash
# Formatting, clippy, and builds that a change can break unnoticed: every format alone,
# none at all, and a target with neither std nor a heap.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready host

bare_target=thumbv7em-none-eabihf

say() { printf '\n== %s\n' "$*"; }

say "formatting"
cargo fmt --all --check

say "clippy, everything"
cargo clippy --workspace --all-targets -- -D warnings

formats=$(sed -n 's/^formats = \[\(.*\)\]$/\1/p' core/Cargo.toml | tr -d '",')

# A shared helper may be unused in a subset of the formats, and with a single format
# some patterns are irrefutable.
subset() { cargo clippy -p weighbridge-core --no-default-features "$@" -- -D warnings -A dead-code -A irrefutable-let-patterns; }

say "core without any feature"
cargo check -p weighbridge-core --no-default-features
for format in $formats; do
  say "core with only $format"
  subset --features "$format"
done

# Features only add code, so it is enough to test pairs that occur together: formats
# with the features of a host, a browser, a board with mapped flash and a board with a
# flash driver.
for pair in "stb windows" "stb details" "formats details" "formats windows" "formats payloads" \
  "formats sweep" "gguf dequantise" "gguf sweep" "safetensors sweep" "idv payloads" "idv deflate" "ztensor zstd" \
  "ztensor checksum" "ztensor payloads" "oinf bytemuck" "formats embedded-storage" "formats std"; do
  say "core with $pair"
  subset --features "$pair"
done

say "the host layer without std, with one format, with every feature"
cargo clippy -p weighbridge --no-default-features --features formats -- -D warnings
for features in std,safetensors digest,gguf policy,stb remote,safetensors; do
  cargo clippy -p weighbridge --no-default-features --features "$features" -- -D warnings
done
cargo clippy -p weighbridge --all-targets --all-features -- -D warnings

say "the command with files on servers"
cargo clippy -p weighbridge-cli --all-targets --features remote -- -D warnings

say "the Python package"
cargo fmt --manifest-path python/Cargo.toml --check
cargo clippy --locked --manifest-path python/Cargo.toml --all-targets -- -D warnings

say "the library for C, with every format and with one"
cargo fmt --manifest-path c/Cargo.toml --check
CARGO_TARGET_DIR=$target_dir/c cargo clippy --locked --manifest-path c/Cargo.toml --all-targets -- -D warnings
CARGO_TARGET_DIR=$target_dir/c cargo clippy --locked --manifest-path c/Cargo.toml --no-default-features --features stb -- -D warnings

say "core for $bare_target: no std, no heap"
target_ready "$bare_target" core
target_cargo check -p weighbridge-core --no-default-features
target_cargo check -p weighbridge-core
