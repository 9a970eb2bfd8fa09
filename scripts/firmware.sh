#!/usr/bin/env bash
# Builds the images of firmware/ and verifies the promises: no panic, size, stack, and the same
# verdicts as on a host.
#
#   scripts/firmware.sh        what `make test` runs: every format in one image, as small
#                              as possible
#   scripts/firmware.sh sizes [READER…]
#                              bytes of code and constants of each reader alone, and of the
#                              decoder (zstd)
#   scripts/firmware.sh deep   each reader alone, with its stack; the panic gate at
#                              opt-level s and 3; the audits of mapped files on this
#                              machine; sizes without a budget: with windows and
#                              details, for thumbv6m
#   scripts/firmware.sh write  measures, and rewrites budgets.txt and the figures of code,
#                              stack and instructions in docs/firmware.md and README.md
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../firmware"
source ../scripts/setup.sh
mode=${1:-test}
only=${*:2}
case $mode in test | sizes | deep | write) ;; *) sed -n '2,/^set/s/^# \{0,1\}//p' ../scripts/firmware.sh >&2; exit 2 ;; esac
ready_or_leave_out firmware

budgets=../scripts/budgets.txt
triple=thumbv7em-none-eabihf
formats=$(sed -n 's/^\([a-z]*\) = \[.*"weighbridge-core\/\1"\]$/\1/p' Cargo.toml)
all=$(printf '%s,' $formats)
# The formats not meant for large models, together, and the formats of models.
five=stb,oinf,bintensors,ztensor,idv
seven=$five,gguf,safetensors
# Those with one verifier of flatbuffers.
flatbuffers=executorch,tflite
size_tool=$(command -v llvm-size || command -v size)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build PROFILE FEATURES BIN: prints only errors. Leaves the path of the image in $image.
build() {
  if ! RUSTC_WRAPPER=$PWD/rustc.sh target_cargo build --quiet --target-dir "$target_dir/firmware" \
    --profile "$1" --no-default-features --features "$2" --bin "$3" 2>"$work/log-$1"; then
    cat "$work/log-$1" >&2
    return 1
  fi
  image=$target_dir/firmware/$target_triple/$1/$3
}

# Size of an image's sections that take up flash, in bytes.
size_of() {
  "$size_tool" -A "$1" | awk '$1 == ".text" || $1 == ".rodata" || $1 == ".data" { n += $2 }
    END { print n }'
}

# features_of READER: by its name in the first column of budgets.txt.
features_of() {
  case $1 in
    five) echo "$five" ;;
    seven) echo "$seven" ;;
    flatbuffers) echo "$flatbuffers" ;;
    all) echo "$all" ;;
    *) echo "$1" ;;
  esac
}

# panics PROFILE FEATURES WHAT: the gate, which does not link if a panic is reachable.
panics() {
  build "$1" "$2" panic
  echo "  $3, $1"
}

# Target-independent tests: the audits of mapped files.
on_this_machine() {
  local features
  echo "firmware: audits of files that are entirely in memory, on this machine"
  for features in formats stb; do
    "${CARGO:-cargo}" test --quiet --manifest-path ../Cargo.toml -p weighbridge-core --lib \
      --no-default-features --features "$features,details"
  done
}

panic_gate() {
  echo "firmware: no public function can reach a panic"
  panics release "${all}spi" "every format"
  if (build release "${all}faulty" panic) 2>"$work/faulty"; then
    echo "firmware: the gate missed a panic" >&2
    exit 1
  fi
  grep -q weighbridge_reaches_a_panic "$work/faulty" || { cat "$work/faulty" >&2; exit 1; }
}

# sizes READER...: measures readers of budgets.txt into $work/code, and compares.
sizes() {
  local reader
  : >"$work/code"
  for reader in "$@"; do
    case $reader in
      zstd) build release unpack unpack_size ;;
      *) build release "$(features_of "$reader")" size ;;
    esac
    printf '%s %d\n' "$reader" "$(size_of "$image")" >>"$work/code"
  done
  echo "firmware: bytes of code and constants"
  compare code 2 "$work/code"
}

# compare WHAT COLUMN MEASURED: fails if anything exceeds its budget.
compare() {
  awk -v what="$1" -v column="$2" -v mode="$mode" '
    /^#/ { next }
    FNR == NR { budget[$1] = $column; next }
    {
      if (budget[$1] == "") { printf "  %s has no row in budgets.txt\n", $1; over = 1; next }
      printf "  %-12s measured %6d, budget %6d, slack %5.1f %%", $1, $2, budget[$1], 100 * (budget[$1] / $2 - 1)
      if ($2 > budget[$1]) { over = 1; printf "  OVER BUDGET by %d", $2 - budget[$1] }
      printf "\n"
    }
    END {
      if (!over || mode == "write") exit 0
      printf "firmware: %s over budget (%s); see scripts/budgets.txt\n", what, "'"$target_note"'" | "cat >&2"
      exit 1
    }' "$budgets" "$3"
}

# in_qemu [READER...]: compares verdicts with a host's and runs a model; for each reader alone,
# compares verdicts and measures the stack into $work/stack.
in_qemu() {
  local reader
  build release "${all}full,decode" check
  cp "$image" "$work/check"
  mkdir "$work/readers"
  for reader in "$@"; do
    build release "$reader" check
    cp "$image" "$work/readers/$reader"
  done
  build release "${all}spi" spi
  cp "$image" "$work/spi"
  build release gguf,spi partial
  cp "$image" "$work/partial"
  build release ztensor,unpack unpack
  cp "$image" "$work/unpack"
  build release "${all}model" model
  export WEIGHBRIDGE_UNPACK=$work/unpack WEIGHBRIDGE_PARTIAL=$work/partial
  [ $# -eq 0 ] || export WEIGHBRIDGE_READERS=$work/readers WEIGHBRIDGE_STACK=$work/stack WEIGHBRIDGE_COST=$work/cost WEIGHBRIDGE_UNPACKED=$work/unpacked WEIGHBRIDGE_PARTIAL_COST=$work/parts
  WEIGHBRIDGE_CHECK=$work/check WEIGHBRIDGE_SPI=$work/spi WEIGHBRIDGE_MODEL=$image "${CARGO:-cargo}" test --quiet --manifest-path ../Cargo.toml \
    --workspace --test firmware -- --nocapture
  [ $# -gt 0 ] || return 0
  echo "firmware: bytes of stack"
  sort "$work/stack" | awk '{ most[$1] = $2 > most[$1] ? $2 : most[$1] }
    END { for (reader in most) print reader, most[reader] }' | sort >"$work/deepest"
  compare stack 3 "$work/deepest"
}

deep() {
  local reader
  on_this_machine
  panics opt-s "${all}spi" "every format"
  panics opt-s "$all" "every format over mapped flash"
  panics opt-s stb "STB alone, whose tensors have no names"
  panics opt-3 "${all}spi" "every format"
  panics opt-3 stb "STB alone, whose tensors have no names"
  sizes $formats five seven flatbuffers all zstd
  in_qemu $formats
  echo "firmware: bytes of code and constants with windows, details and payloads"
  for reader in $formats five seven flatbuffers all; do
    build release "$(features_of "$reader"),full" size
    printf '  %-12s %6d\n' "$reader" "$(size_of "$image")"
  done
  # The one reader that is inlined, so that unused parts are dropped.
  build release stb,findings size
  echo "firmware: STB in a program that handles each finding: $(size_of "$image")"
  target_ready thumbv6m-none-eabi
  build release "$all" size
  echo "firmware: every format for thumbv6m, $(size_of "$image") bytes ($target_note)"
}

# write: sets budgets 5 % above the measured values, in steps of 50 (code) and 10 (stack).
write() {
  awk '
    function up(n, step) { return int((n + step - 0.01) / step) * step }
    FILENAME ~ /code$/ { code[$1] = $2; next }
    FILENAME ~ /deepest$/ { stack[$1] = $2; next }
    /^#/ || NF == 2 { print; next }
    {
      if (code[$1] > $4 || ($5 != "-" && stack[$1] > $5)) {
        printf "firmware: %s exceeds the promised limits: code %d of %d, stack %d of %s\n", $1, code[$1], $4, stack[$1], $5 | "cat >&2"
        failed = 1
      }
      budget = up(code[$1] * 1.05, 50); if (budget > $4) budget = $4
      room = stack[$1] == "" ? "-" : up(stack[$1] * 1.05, 10); if (room != "-" && room > $5) room = $5
      printf "%-11s %6d %6s %15d %6s\n", $1, budget, room, $4, $5
    }
    END { exit failed }' "$work/code" "$work/deepest" "$budgets" >"$work/budgets"
  cp "$work/budgets" "$budgets"
  # The tables: in one a row per reader, in the other a column per reader.
  local titles='stb STB,oinf OINF,bintensors BinTensors,ztensor zTensor,idv IDV,safetensors safetensors,gguf GGUF,npy NPY,tflite TensorFlow Lite,executorch ExecuTorch,flatbuffers both formats of flatbuffers,zstd zstd,five the first five,seven the first seven,all all ten'
  for text in ../docs/firmware.md ../README.md; do
    awk -F '|' -v OFS='|' -v titles="$titles" '
      function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
      function thousands(n) { return n > 999 ? thousands(int(n / 1000)) "," sprintf("%03d", n % 1000) : n }
      function bytes(n) { return " " thousands(n) " B " }
      # Three digits: the others change with every compiler.
      function about(n, step) { step = n > 999999 ? 10000 : n > 99999 ? 1000 : n > 9999 ? 100 : n > 999 ? 10 : 1; return " " thousands(int(n / step + 0.5) * step) " " }
      BEGIN {
        count = split(titles, pairs, ",")
        step["check and index"] = "check"; step["copy each tensor"] = "copied"
        step["use each in the buffer"] = "pieces"; step["the same, by offset"] = "ordered"
        for (i = 1; i <= count; i++) { at = index(pairs[i], " "); name[substr(pairs[i], at + 1)] = substr(pairs[i], 1, at - 1) }
      }
      FILENAME ~ /code$/ { split($0, of, " "); code[of[1]] = of[2]; next }
      FILENAME ~ /deepest$/ { split($0, of, " "); stack[of[1]] = of[2]; next }
      FILENAME ~ /cost$/ { split($0, of, " "); open[of[1]] = of[2]; list[of[1]] = of[3]; audit[of[1]] = of[4]; find[of[1]] = of[5]; next }
      FILENAME ~ /parts$/ { split($0, of, " "); for (i = 2; i <= 6; i++) part[of[1], i] = of[i]; next }
      FILENAME ~ /unpacked$/ { split($0, of, " "); state = of[1]; weights = of[2]; text = of[3]; next }
      # The steps of firmware/src/bin/partial.rs.
      (trimmed($2) in step) && NF == 8 {
        key = step[trimmed($2)]
        $3 = about(part[key, 2]); $4 = bytes(part[key, 3])
        for (i = 4; i <= 6; i++) $(i + 1) = " " thousands(part[key, i]) " "
      }
      trimmed($2) == "" && trimmed($3) in name { for (i = 3; i < NF; i++) column[i] = name[trimmed($i)] }
      FILENAME ~ /firmware\.md$/ && trimmed($2) in name && $3 ~ / B $/ {
        reader = name[trimmed($2)]
        $3 = bytes(code[reader])
        if (stack[reader] != "") $4 = bytes(stack[reader])
        if (reader == "zstd") { $5 = bytes(state); $6 = about(weights); $7 = about(text) }
        if (open[reader] != "") { $6 = about(open[reader]); $7 = about(audit[reader]); $8 = about(find[reader]) }
      }
      trimmed($2) == "code and constants, kB" { for (i in column) $i = sprintf(" %.1f ", code[column[i]] / 1000) }
      trimmed($2) == "stack, kB" { for (i in column) $i = sprintf(" %.1f ", stack[column[i]] / 1000) }
      trimmed($2) == "instructions to open a file of 25 tensors" { for (i in column) if (column[i] in open) $i = about(open[column[i]]) }
      trimmed($2) == "instructions to list a tensor" { for (i in column) if (column[i] in open) $i = about(list[column[i]]) }
      trimmed($2) == "instructions to look one up" { for (i in column) if (column[i] in open) $i = about(find[column[i]]) }
      { print }' "$work/code" "$work/deepest" "$work/cost" "$work/unpacked" "$work/parts" "$text" >"$work/text"
    cp "$work/text" "$text"
  done
  git --no-pager diff --stat -- "$budgets" ../docs/firmware.md ../README.md || true
}

target_ready "$triple"
echo "firmware: $target_note, in $(pwd)"
case $mode in
  deep) deep ;;
  sizes) sizes ${only:-$formats five seven flatbuffers all zstd} ;;
  write)
    sizes $formats five seven flatbuffers all zstd
    in_qemu $formats
    write
    ;;
  test)
    panic_gate
    sizes stb all zstd
    in_qemu
    ;;
esac
