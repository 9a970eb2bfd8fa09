#!/usr/bin/env bash
# Builds the JavaScript package in wasm/dist: four WebAssembly modules, the code that loads them,
# and the types. Prints sizes and fails above the budget.
#
#   scripts/wasm.sh          builds whatever is out of date
#   scripts/wasm.sh test     builds, and runs the tests in Node, on every eighth file
#   scripts/wasm.sh deep     builds, and compares every file with the command
#   scripts/wasm.sh bench    builds, and measures how long opening takes in Node,
#                            compared with other parsers
#
# BINDGEN may name a weighbridge-bindgen that is already built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready_or_leave_out wasm

# Budgets of the modules, gzipped, in bytes. Every visitor of the page loads the first.
declare -A budgets=([base]=84500 [full]=551000 [compute]=81000 [summary]=87000)

target=wasm32-unknown-unknown
dist=wasm/dist
features=(--enable-bulk-memory --enable-bulk-memory-opt --enable-sign-ext
  --enable-nontrapping-float-to-int --enable-mutable-globals
  --enable-reference-types --enable-multivalue)

target_ready "$target" core,alloc
echo "wasm: $target_note"
# Panics trap without a message, since there is nowhere to print one. Without this, if the standard
# library is not built along the way, modules are some 2 kB larger.
[ "${#target_flags[@]}" -eq 0 ] ||
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS='-Zunstable-options -Cpanic=immediate-abort'
npm_packages wasm

# vector_cargo ARGUMENTS...: like target_cargo, with 128-bit vectors.
vector_cargo() {
  local flags=${CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS:-}
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="$flags -Ctarget-feature=+simd128" target_cargo "$@"
}

mkdir -p "$dist"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$target_dir/$target

# Builds in separate folders, in parallel: cargo links each on one thread.
bindgen=${BINDGEN:-$target_dir/bindgen/release/weighbridge-bindgen}
[ -n "${BINDGEN:-}" ] || in_background cargo build --release --quiet \
  --manifest-path wasm/bindgen/Cargo.toml --target-dir "$target_dir/bindgen"
in_background target_cargo build -p weighbridge-wasm --lib --profile wasm --no-default-features --features documents
in_background vector_cargo build -p weighbridge-wasm --lib --profile wasm-full --no-default-features --features full
in_background vector_cargo build -p weighbridge-wasm --lib --profile wasm-compute --no-default-features --features compute
in_background target_cargo build -p weighbridge-wasm --lib --profile wasm-summary --no-default-features --features summary
in_background_done

# pack NAME OPTIONS PROFILE: one module, optimised for size or for speed, and the code that loads
# it.
pack() {
  "$bindgen" "$folder/$3/weighbridge_wasm.wasm" "$work" "$1"
  # shellcheck disable=SC2086
  wasm/node_modules/.bin/wasm-opt $2 --one-caller-inline-max-function-size=0 \
    --strip-producers --strip-target-features "${features[@]}" "$work/$1_bg.wasm" -o "$dist/$1_bg.wasm"
  cp "$work/$1.js" "$work/$1.d.ts" "$dist/"
}
# A checksum of the package's inputs, so that it is not packed again for each script.
made_of() {
  cat scripts/wasm.sh wasm/package-lock.json "$bindgen" "$folder"/wasm{,-full,-compute,-summary}/weighbridge_wasm.wasm | sha256sum
}
# Functions called only once are not inlined: more bytes, but they compress better. LLVM has already
# inlined what is worthwhile for speed.
for_size='--flatten --rereloop -Oz --converge --always-inline-max-function-size=6'
if [ "$(made_of)" != "$(cat "$folder/packed" 2>/dev/null)" ] || [ ! -f "$dist/summary_bg.wasm" ]; then
  in_background pack base "$for_size" wasm
  in_background pack full '-O3 --enable-simd' wasm-full
  in_background pack compute '-O3 --enable-simd' wasm-compute
  in_background pack summary "$for_size" wasm-summary
  in_background_done
  made_of >"$folder/packed"
fi
cp LICENSE-* "$dist/"

# The rules of the first module's formats, and those of all formats, which the full module needs.
mapfile -t small < <(sed -n 's/^weighbridge = .*features = \[\(.*\)\] }$/\1/p' wasm/Cargo.toml | tr -d '" ' | tr , '\n')
for file in rules every-rule; do
  [ "$file" = rules ] || small=()
  {
    printf '// Made from the rule catalogue.\nexport default '
    cargo run --quiet -p weighbridge-core --example catalogue -- "${small[@]}"
  } >"$work/$file.js"
  cp "$work/$file.js" "$dist/"
  printf 'declare const rules: object;\nexport default rules;\n' >"$dist/$file.d.ts"
done
wasm/node_modules/.bin/tsc -p wasm

failed=0
for file in base_bg.wasm full_bg.wasm compute_bg.wasm summary_bg.wasm base.js rules.js every-rule.js; do
  packed=$(gzip -9 -c "$dist/$file" | wc -c)
  limit=''
  budget=${budgets[${file%_bg.wasm}]:-}
  if [ -n "$budget" ]; then
    limit=", budget $budget"
    [ "$packed" -le "$budget" ] || failed=1
  fi
  printf '%-14s %7d bytes, %6d gzipped%s\n' "$file" "$(wc -c <"$dist/$file")" "$packed" "$limit"
done
[ "$failed" -eq 0 ] || { echo "a module is over its budget" >&2; exit 1; }

case ${1:-} in
  test | deep)
    host_programs
    "$target_dir/debug/examples/fixtures" "$target_dir/wasm-fixtures"
    cd wasm
    if [ "$1" = test ]; then
      node --test test/*.test.mjs
    else
      DEEP=1 node --test test/conformance.test.mjs
    fi
    ;;
esac

if [ "${1:-}" = bench ]; then
  host_programs
  "$target_dir/debug/weighbridge-samples" "$work" "$target_dir/web-trials"
  scripts/peers.sh npm
  node wasm/bench/open.mjs
  node wasm/bench/statistics.mjs
  node wasm/bench/zstd.mjs
fi
