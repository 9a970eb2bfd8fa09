#!/usr/bin/env bash
# Fuzzing: seeds, smoke, runs, minimising, coverage.
#
#   scripts/fuzz.sh smoke              seeds and regression files, on stable Rust
#   scripts/fuzz.sh wasm               the same on wasm32 in Node, compared with the host
#   scripts/fuzz.sh run [TARGET...]    FUZZ_S seconds per target (60), all by default
#   scripts/fuzz.sh seeds              regenerates the seeds of the encoders
#   scripts/fuzz.sh minimise [TARGET...]  keeps corpus files that reach new code,
#                                      at most FUZZ_KEEP files (40) in fuzz/seeds
#   scripts/fuzz.sh coverage           lines of core/ that tests and seeds reach
#   scripts/fuzz.sh miri               Miri over the codecs: their unit tests, and short
#                                      kept streams in pieces
#
# `run` needs cargo-fuzz and a nightly toolchain, which it installs if it can. Finds are written to
# fuzz/artifacts, new inputs to fuzz/corpus, and a line per run (time, target, executions, seconds
# of processor time, number of finds) to fuzz/logs/runs.tsv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

seconds=${FUZZ_S:-60}
host=$(rustc -vV | sed -n 's/^host: //p')
# The counters of the coverage tool measure steps: they count how often each region of code ran,
# identically on every machine.
counters='-C instrument-coverage --cfg counters'
export LLVM_PROFILE_FILE=/dev/null
targets=$(sed -n 's/^    target("\([a-z_]*\)".*/\1/p' fuzz/bodies/src/lib.rs)

# bodies PROGRAM ARGUMENTS...: runs a program of the bodies, on stable Rust.
bodies() {
  (cd fuzz && RUSTFLAGS="$counters" cargo run --quiet --target-dir "$target_dir/fuzz" \
    -p weighbridge-fuzz-bodies --bin "$@")
}

# fuzz COMMAND TARGET ARGUMENTS...: cargo-fuzz without a sanitizer, because the core has no unsafe
# code; overflow checks and debug assertions are on. `cfg(fuzzing)` is off, because dependencies
# skip checksums with it.
fuzz() {
  local command=$1
  shift
  RUSTFLAGS="$counters" cargo +nightly fuzz "$command" --sanitizer none --no-cfg-fuzzing \
    --target-dir "$target_dir/fuzz-nightly" "$@"
}

fuzzer_ready() {
  ready host
  command -v cargo-fuzz >/dev/null || {
    echo "setup: cargo install cargo-fuzz" >&2
    cargo install cargo-fuzz --locked
  }
  rustup run nightly rustc --version >/dev/null 2>&1 || {
    echo "setup: rustup toolchain install nightly" >&2
    rustup toolchain install nightly --profile minimal
  }
}

# fresh FOLDER: writes the seeds of the encoders.
fresh() {
  bodies seeds -- "$(realpath -m "$1")" >/dev/null
}

run() {
  fuzzer_ready
  mkdir -p fuzz/logs
  local work target before status=0
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  fresh "$work/seeds"
  fuzz build
  for target in "$@"; do
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target" "fuzz/seeds/$target"
    local dictionary=() file=fuzz/dictionaries/${target#*_}.dict log=fuzz/logs/$target.log
    [ ! -f "$file" ] || dictionary=("-dict=$file")
    local TIMEFORMAT='%U %S'
    { time "$target_dir/fuzz-nightly/$host/release/$target" "fuzz/corpus/$target" "$work/seeds/$target" \
      "fuzz/seeds/$target" "-artifact_prefix=fuzz/artifacts/$target/" \
      ${dictionary[@]+"${dictionary[@]}"} "-max_len=$(longest "$target")" -timeout=60 \
      -rss_limit_mb=2048 "-max_total_time=$seconds" -print_final_stats=1 \
      >"$log" 2>&1 || status=1; } 2>"$work/time"
    printf '%s\t%s\t%s\t%s\t%s\n' "$(date +%FT%T)" "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)" \
      "$(awk '{ printf "%.1f", $1 + $2 }' "$work/time")" "$(grep -c '^SUMMARY' "$log" || true)" |
      tee -a fuzz/logs/runs.tsv
  done
  return "$status"
}

# The longest input of a target, as defined by the bodies.
longest() {
  bodies replay -- --longest "$1"
}

smoke() {
  local work target
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  fresh "$work"
  for target in $targets; do
    local folders=("$work/$target")
    [ ! -d "fuzz/seeds/$target" ] || folders+=("fuzz/seeds/$target")
    [ ! -d "fuzz/regressions/$target" ] || folders+=("fuzz/regressions/$target")
    bodies replay -- "$target" "${folders[@]/#fuzz\//$PWD/fuzz/}"
  done
}

# Compares what the bodies see with 32-bit addresses with what they see on the host.
wasm() {
  local work module=$target_dir/fuzz/wasm32-unknown-unknown/release/weighbridge_fuzz_wasm.wasm
  ready_or_leave_out wasm
  target_ready wasm32-unknown-unknown std,panic_abort
  (cd fuzz && target_cargo build --quiet --release --target-dir "$target_dir/fuzz" \
    -p weighbridge-fuzz-wasm)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  host_programs
  "$target_dir/debug/examples/kept" "$work"
  MODULE=$module INPUTS=$work node --test fuzz/wasm/test.mjs
}

# minimise TARGET...: keeps a few small files, from those found and those kept, that reach code the
# encoders' seeds do not.
minimise() {
  fuzzer_ready
  local work target
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  fresh "$work/seeds"
  fuzz build
  for target in "$@"; do
    mkdir -p "fuzz/corpus/$target" "fuzz/seeds/$target" "$work/new" "$work/kept"
    # Code reached by the first folder counts as reached; the rest is merged by size.
    cp "$work/seeds/$target"/* "$work/new/"
    "$target_dir/fuzz-nightly/$host/release/$target" -merge=1 "$work/new" "fuzz/seeds/$target" \
      "fuzz/corpus/$target" >"fuzz/logs/$target.merge.log" 2>&1
    # Keep some files of every size: small ones are many and reach little.
    (cd "$work/new" && comm -23 <(ls) <(ls "$work/seeds/$target") | xargs -r stat -c '%s %n') |
      awk '$1 <= 4096' | sort -n | awk -v keep="${FUZZ_KEEP:-40}" '
        { name[NR] = $2 }
        END { step = NR > keep ? NR / keep : 1; for (i = 1; i <= NR; i += step) print name[int(i)] }' |
      while read -r file; do cp "$work/new/$file" "$work/kept/"; done
    rm -rf "fuzz/seeds/$target"
    mv "$work/kept" "fuzz/seeds/$target"
    rm -rf "$work/new"
    echo "$target: $(ls "fuzz/seeds/$target" | wc -l) files"
  done
}

# The lines of core/ that tests and seeds reach, excluding its own tests, and without the tests that
# change every byte of a file, which are slow here. Prints a line per file and the total, and writes
# every line that is not reached to target/coverage/missed.txt.
coverage() {
  local folder=$target_dir/coverage tools objects
  tools=$(rustc --print sysroot)/lib/rustlib/$host/bin
  [ -x "$tools/llvm-cov" ] || {
    echo "setup: rustup component add llvm-tools" >&2
    rustup component add llvm-tools
  }
  rm -rf "$folder/profiles"
  mkdir -p "$folder/profiles"
  local -x RUSTFLAGS='-C instrument-coverage' CARGO_TARGET_DIR=$folder
  local -x LLVM_PROFILE_FILE=$folder/profiles/%m.profraw
  # Counter blocks shared by many programs are merged as they are written.
  mapfile -t objects < <(cargo test --no-run --message-format=json -p weighbridge-core \
    -p weighbridge-tests 2>"$folder/log" | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' |
    grep -v '/examples/\|/criterion' | sort -u)
  [ "${#objects[@]}" -gt 0 ] || { cat "$folder/log" >&2; return 1; }
  cargo test -p weighbridge-core -p weighbridge-tests --lib --test it --test fuzz --test memory -- \
    --skip _on_changed_fixtures --skip mutations:: >"$folder/log" 2>&1 ||
    { tail -40 "$folder/log" >&2; return 1; }
  "$tools/llvm-profdata" merge -sparse "$folder"/profiles/*.profraw -o "$folder/profile"
  "$tools/llvm-cov" export -format=lcov -instr-profile "$folder/profile" \
    "${objects[@]/#/-object=}" --sources "$PWD/core/src" >"$folder/lcov"
  awk -v root="$PWD/" -v missed="$folder/missed.txt" '
    BEGIN { printf "" >missed }
    /^SF:/ {
      file = substr($0, 4)
      tests = 1e9
      n = 0
      while ((getline line <file) > 0) {
        n++
        if (line ~ /^#\[cfg\(test\)\]/) { tests = n; break }
      }
      close(file)
      sub("^" root, "", file)
      lines = hit = 0
    }
    /^DA:/ {
      split(substr($0, 4), of, ",")
      if (of[1] + 0 >= tests) next
      lines++
      if (of[2] > 0) hit++
      else print file ":" of[1] >missed
    }
    /^end_of_record/ && lines {
      printf "%-44s %5d of %5d lines, %5.1f %%\n", file, hit, lines, 100 * hit / lines
      all += lines
      reached += hit
    }
    END { printf "core: %d of %d lines, %.2f %%\n", reached, all, 100 * reached / all }
  ' "$folder/lcov"
}

# Without the encoders and the readers in C, which Miri cannot run; only short streams, because Miri
# is slow.
miri() {
  ready host
  cargo +nightly miri --version >/dev/null 2>&1 || {
    echo "setup: rustup toolchain install nightly --component miri,rust-src" >&2
    rustup toolchain install nightly --profile minimal --component miri,rust-src
  }
  local -x MIRIFLAGS=-Zmiri-disable-isolation CARGO_TARGET_DIR=$target_dir/miri
  local streams
  mapfile -t streams < <(find "$PWD/fuzz/seeds/codecs" -size -300c)
  cargo +nightly miri test -p weighbridge-core --features zstd --lib codec::
  (cd fuzz && cargo +nightly miri run -p weighbridge-fuzz-bodies --no-default-features \
    --bin replay -- codecs "${streams[@]}")
}

command=${1:-}
[ $# -eq 0 ] || shift
case "$command" in
  smoke) smoke ;;
  wasm) wasm ;;
  seeds) fresh "${1:?a folder}" ;;
  run)
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $targets
    run "$@"
    ;;
  minimise)
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $targets
    minimise "$@"
    ;;
  coverage) coverage ;;
  miri) miri ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
