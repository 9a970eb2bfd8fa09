#!/bin/bash -eu
# Builds every target with its seeds and dictionary, for OSS-Fuzz.
cd "$SRC/weighbridge"

# The peers' C libraries are built with the sanitizer's flags as well. cfg(fuzzing) is
# removed, because dependencies skip checksums with it.
flags=${RUSTFLAGS:-}
export RUSTFLAGS=${flags//--cfg fuzzing/}
cargo fuzz build -O --debug-assertions --no-cfg-fuzzing
built=fuzz/target/x86_64-unknown-linux-gnu/release

seeds=$(mktemp -d)
(cd fuzz && RUSTFLAGS="" cargo run --quiet -p weighbridge-fuzz-bodies --bin seeds -- "$seeds")

for source in fuzz/fuzz_targets/*.rs; do
  target=$(basename "$source" .rs)
  cp "$built/$target" "$OUT/"
  dictionary=fuzz/dictionaries/${target#*_}.dict
  [ ! -f "$dictionary" ] || cp "$dictionary" "$OUT/$target.dict"
  inputs=("$seeds/$target")
  for folder in "fuzz/seeds/$target" "fuzz/regressions/$target"; do
    [ ! -d "$folder" ] || inputs+=("$folder")
  done
  zip -qr -j "$OUT/${target}_seed_corpus.zip" "${inputs[@]}"
done
