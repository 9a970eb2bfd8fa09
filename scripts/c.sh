#!/usr/bin/env bash
# Builds the static library for C, and verifies the promises: the same verdicts as in Rust, no panic,
# no symbol that a program must have.
#
#   scripts/c.sh            what `make test` runs: this machine, and Cortex-M4, Cortex-M0 and RISC-V in QEMU
#   scripts/c.sh deep       the same, with more files on the boards, and with Miri where it is installed
#   scripts/c.sh sizes [READER…]
#                           bytes of code and constants of readers in C, and in Rust: by the same calls,
#                           and the smallest program
#   scripts/c.sh cost [BOARD…]
#                           flash, stack and instructions to open a model of 25 tensors and find one: by
#                           this library and by loaders that check nothing, on m4, m0 and riscv
#   scripts/c.sh header     compares the headers with their sources; with WEIGHBRIDGE_HEADER=write,
#                           writes them
#   scripts/c.sh write      measures, and rewrites the tables of sizes and costs in docs/c.md and README.md
#   scripts/c.sh miri       the border in Miri, with nightly
#   scripts/c.sh fuzz [SECONDS]
#                           c/tests/fuzz.c in libFuzzer, guided by coverage of the library; needs clang
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../c"
source ../scripts/setup.sh
mode=${1:-test}
only=${*:2}
case $mode in test | deep | sizes | cost | write | header | miri | fuzz) ;; *) sed -n '2,/^set/s/^# \{0,1\}//p' ../scripts/c.sh >&2; exit 2 ;; esac
ready_or_leave_out c

build_dir=$target_dir/c
warnings=(-Wall -Wextra -Werror -pedantic)
readers=$(sed -n 's/^\([a-z]*\) = \[.*"weighbridge-core\/\1"\]$/\1/p' Cargo.toml)
formats=$(printf '%s,' $readers)
formats=${formats%,}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# on_this_machine ARGUMENTS...: cargo for this machine.
on_this_machine() {
  CARGO_TARGET_DIR=$build_dir "${CARGO:-cargo}" "$1" --quiet --locked "${@:2}"
}

# symbols LIBRARY NAME...: fails if our part of the library needs any symbol but these and those that
# the rest of the library, which is the compiler's, defines; or if it has a panic.
symbols() {
  local library=$1 undefined
  shift
  rm -rf "$work/members"
  mkdir "$work/members"
  (cd "$work/members" && ar x "$library")
  # Not nm, which leaves the compiler's members to a plugin that may not know their bitcode.
  readelf -Ws "$work"/members/weighbridge-*.o >"$work/ours"
  readelf -Ws "$library" 2>/dev/null >"$work/all"
  awk '$7 == "UND" && $8 != "" { print $8 }' "$work/ours" | sort -u >"$work/undefined"
  awk '($5 == "GLOBAL" || $5 == "WEAK") && $7 != "UND" { print $8 }' "$work/all" | sort -u >"$work/defined"
  undefined=$(comm -23 "$work/undefined" "$work/defined" | grep -vxF "$(printf '%s\n' "$@")" || true)
  if [ -n "$undefined" ]; then
    printf 'c: %s needs other symbols than %s:\n%s\n' "$library" "$*" "$undefined" >&2
    return 1
  fi
  if awk '$8 ~ /panic/ { print $8 }' "$work/ours" | grep . >&2; then
    echo "c: a panic is part of $library" >&2
    return 1
  fi
}

# With the gate, the panic handler needs a symbol that exists nowhere.
gates() {
  on_this_machine build --release --features gate
  library=$build_dir/release/libweighbridge.a
  symbols "$library" memcpy memmove memset memcmp bcmp
  cp "$library" "$work/libweighbridge.a"
  on_this_machine build --release --features gate,faulty
  if symbols "$library" memcpy memmove memset memcmp bcmp 2>"$work/faulty"; then
    echo "c: the gate missed a panic" >&2
    exit 1
  fi
  grep -q weighbridge_reaches_a_panic "$work/faulty" || { cat "$work/faulty" >&2; exit 1; }
  host_library=$work/libweighbridge.a
  echo "c: no function can reach a panic, and the library needs only memcpy, memmove, memset, memcmp, bcmp"
}

# verdicts [OPTION...]: the C program has the compiler's sanitizers, and each file of the tests a page behind it that
# cannot be read.
verdicts() {
  "${CC:-cc}" -std=c11 "${warnings[@]}" -D_DEFAULT_SOURCE -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Iinclude tests/host.c tests/survey.c "$host_library" -o "$work/host"
  echo '#include "weighbridge_rules.h"' |
    "${CXX:-c++}" -std=c++11 "${warnings[@]}" -Iinclude -fsyntax-only -x c++ -
  "${CC:-cc}" -std=c11 "${warnings[@]}" -D_DEFAULT_SOURCE -O1 -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Iinclude tests/fuzz.c tests/fuzz_main.c tests/survey.c "$host_library" -o "$work/fuzz"
  WEIGHBRIDGE_C_HOST=$work/host WEIGHBRIDGE_C_FUZZ=$work/fuzz WEIGHBRIDGE_C_BOARDS=$work/boards \
    "${CARGO:-cargo}" test --quiet --manifest-path ../Cargo.toml --workspace --test c "$@"
}

# fuzz SECONDS: new inputs are kept below $build_dir, and one that fails in the current folder.
fuzz() {
  local clang host corpus=$build_dir/fuzz-corpus library
  local coverage=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares)
  clang=$(command -v "${CLANG:-clang}" || compgen -c clang- | grep -xE 'clang-[0-9]+' | sort -rV | head -n 1) || {
    echo "c: libFuzzer needs clang and its run-time library, libclang-rt-dev" >&2
    exit 2
  }
  host=$(rustc -vV | sed -n 's/^host: //p')
  mkdir -p "$corpus"
  RUSTFLAGS=${coverage[*]} CARGO_TARGET_DIR=$build_dir/fuzz "${CARGO:-cargo}" build --quiet --locked --release --target "$host"
  library=$build_dir/fuzz/$host/release/libweighbridge.a
  # The compiler's own library names a function of unwinding, which nothing calls.
  "$clang" -std=c11 "${warnings[@]}" -D_DEFAULT_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=all -Wl,--defsym=rust_eh_personality=0 -Iinclude tests/fuzz.c "$library" -o "$work/libfuzzer"
  "$work/libfuzzer" -max_total_time="${1:-60}" -max_len=65536 -timeout=20 -print_final_stats=1 \
    "$corpus" ../fuzz/seeds/*/
}

# The tests of the border in Miri. Isolation would forbid reading the headers.
in_miri() {
  MIRIFLAGS=-Zmiri-disable-isolation CARGO_TARGET_DIR=$build_dir "${CARGO:-cargo}" +nightly miri test --quiet --locked tests
}

# Two slots in flash: the power is cut at every step of a replacement.
power() {
  local model
  "${CC:-cc}" -std=c11 "${warnings[@]}" -g -fsanitize=address,undefined -fno-sanitize-recover=all \
    -Iinclude -Iexamples tests/power.c examples/slots.c "$host_library" -o "$work/power"
  for model in ../firmware/models/mlp.*; do
    echo "c: ${model##*/} replaced: $("$work/power" "$model")"
  done
}

# A user's project, with the installed package, with pkg-config, and with the library in its tree.
packages() {
  local build=(-DWEIGHBRIDGE_TARGET_DIR="$build_dir") kind expected='dtype 11, 2 dims, 128 bytes at 128'
  quietly cmake -S . -B "$work/library" "${build[@]}" -DCMAKE_INSTALL_PREFIX="$work/installed" -DCMAKE_INSTALL_LIBDIR=lib
  quietly cmake --build "$work/library"
  quietly cmake --install "$work/library"
  quietly cmake -S tests/consumer -B "$work/installed-user" -DCMAKE_PREFIX_PATH="$work/installed"
  quietly cmake --build "$work/installed-user"
  quietly cmake -S tests/consumer -B "$work/tree-user" "${build[@]}" -DSOURCE="$PWD"
  quietly cmake --build "$work/tree-user"
  mkdir "$work/pkg-config-user"
  export PKG_CONFIG_PATH=$work/installed/lib/pkgconfig
  # shellcheck disable=SC2046
  "${CC:-cc}" "${warnings[@]}" tests/consumer/find.c $(pkg-config --cflags --libs weighbridge) -o "$work/pkg-config-user/find"
  for kind in installed tree pkg-config; do
    [ "$("$work/$kind-user/find" ../firmware/models/mlp.zt hidden.weight)" = "$expected" ] || {
      "$work/$kind-user/find" ../firmware/models/mlp.zt hidden.weight >&2
      echo "c: expected $expected from a project with the library: $kind" >&2
      exit 1
    }
  done
  # The project in the tree chose its format.
  kind=$("$work/tree-user/find" ../firmware/models/mlp.oinf hidden.weight || true)
  [ "$kind" = 'refused: UNKNOWN-FORMAT' ] || {
    echo "$kind" >&2
    echo "c: a project chose zTensor, and its library reads OINF as well" >&2
    exit 1
  }
  echo "c: found by CMake and pkg-config"
}

# quietly COMMAND...: prints the output only of a command that fails.
quietly() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

# A board: its name, the triple of Rust, and the compiler with its options.
board_of() {
  case $1 in
    m4) triple=thumbv7em-none-eabihf tools=arm-none-eabi options=(-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard) ;;
    m0) triple=thumbv6m-none-eabi tools=arm-none-eabi options=(-mcpu=cortex-m0 -mthumb) ;;
    riscv) triple=riscv32imc-unknown-none-elf tools=riscv64-unknown-elf options=(-march=rv32imc_zicsr -mabi=ilp32) ;;
  esac
  options+=(-ffreestanding -nostdlib -ffunction-sections -fdata-sections -Iinclude -Wl,--gc-sections -Wl,-z,noexecstack)
}

# library_for FEATURES: builds the library for the board's triple. Leaves its path in $library.
library_for() {
  target_ready "$triple"
  CARGO_TARGET_DIR=$build_dir target_cargo build --quiet --locked --release --no-default-features --features "$1"
  library=$build_dir/$triple/release/libweighbridge.a
}

# compiled NAME SOURCE...: a program for the board.
compiled() {
  local out=$work/boards/$board/$1
  shift
  "$tools-gcc" -std=c11 "${warnings[@]}" "${options[@]}" -O2 -ffp-contract=off -Iboard -Lboard -T "board/$board.ld" \
    "$@" board/start.c "$library" -lgcc -o "$out"
}

# boards NAME...: the examples on each board.
boards() {
  local board model
  for board; do
    board_of "$board"
    mkdir -p "$work/boards/$board"
    library_for "$formats,gate"
    symbols "$library"
    for model in ../firmware/models/mlp.*; do
      compiled "model-${model##*/}" -DMODEL="\"$model\"" examples/model.c examples/model.S
    done
    head -c -8 ../firmware/models/mlp.stb >"$work/cut"
    compiled model-cut -DMODEL="\"$work/cut\"" examples/model.c examples/model.S
    "$tools-g++" -std=c++11 "${warnings[@]}" "${options[@]}" -O2 -fno-exceptions -fno-rtti -Iboard -c examples/list.cpp -o "$work/list.o"
    compiled list -DMODEL='"../firmware/models/mlp.zt"' "$work/list.o" examples/model.S
    [ "$board" = m0 ] || compiled survey tests/board.c tests/survey.c
  done
  echo "c: examples for $* are built"
}

# sizes READER...: bytes of the smallest program in C, of the one in Rust that does the same by the same
# calls, and of the smallest in Rust that receives each finding, for a Cortex-M4. Into $work/sizes.
sizes() {
  local reader features c same least
  board_of m4
  for reader in "$@"; do
    features=$reader
    [ "$reader" != all ] || features=$formats
    library_for "$features"
    arm-none-eabi-gcc -std=c11 "${warnings[@]}" "${options[@]}" -Os -fno-tree-loop-distribute-patterns \
      -T ../firmware/link/bare.x tests/size.c board/mem.c "$library" -lgcc -o "$work/size"
    c=$(size_of "$work/size")
    same=$(rust_size calls "$features")
    least=$(rust_size size "$features,findings")
    printf '%s %d %d %d %d\n' "$reader" "$c" "$same" $((c - same)) "$least" | tee -a "$work/sizes"
  done
}

# rust_size PROGRAM FEATURES: bytes of a program of firmware/, built as scripts/firmware.sh does.
rust_size() {
  RUSTC_WRAPPER=$PWD/../firmware/rustc.sh target_cargo build --quiet --manifest-path ../firmware/Cargo.toml \
    --target-dir "$target_dir/firmware" --release --no-default-features --features "$2" --bin "$1"
  size_of "$target_dir/firmware/$triple/release/$1"
}

# costs BOARD...: the programs of tests/cost for each reader, and the flash that their loaders take, into
# $work/flash. An NPY file has one tensor, so it is left out.
costs() {
  local board reader
  rm -rf "$work/cost"
  for board; do
    board_of "$board"
    mkdir -p "$work/cost/$board"
    # The programs without the library use its 64-bit division, in what is then left out.
    library_for stb
    empty=0
    cost_program none tests/cost/none.c
    empty=$bytes
    for reader in $readers; do
      [ "$reader" != npy ] || continue
      library_for "$reader"
      cost_program "weighbridge-$reader" tests/cost/weighbridge.c
      cost_program "unchecked-$reader" -DTRUSTED tests/cost/weighbridge.c
    done
    cost_program trusting-stb tests/cost/trusting.c
    cost_program flatbuffer-tflite tests/cost/flatbuffer.c
  done
  WEIGHBRIDGE_C_COST=$work/cost WEIGHBRIDGE_C_FIGURES=$work/figures "${CARGO:-cargo}" test --quiet \
    --manifest-path ../Cargo.toml --workspace --test c --features weighbridge-tests/deep -- cost_of
  echo "c: board, loader and format, flash in bytes, instructions, stack in bytes"
  # Of the two lines for a program, one has its flash and the other its instructions and stack.
  awk 'FNR == NR { flash[$1 " " $2] = $3; next }
    { name = $1 " " $2 "-" $3; print name, flash[name], $4, $5 }' "$work/flash" "$work/figures" | tee "$work/costs"
}

# cost_program NAME SOURCE...: a program for the board, and the bytes that it takes more than the empty
# one. That for the Cortex-M0 runs on the machine with a Cortex-M4.
cost_program() {
  local name=$1 out=$work/cost/$board/$1 layout=$board
  shift
  [ "$board" != m0 ] || layout=m4
  "$tools-gcc" -std=c11 "${warnings[@]}" "${options[@]}" -Os -fno-tree-loop-distribute-patterns -Iboard -Itests \
    -Lboard -T "board/$layout.ld" tests/cost/cost.c tests/survey.c board/start.c board/mem.c "$@" "$library" -lgcc -o "$out"
  bytes=$(($(size_of "$out") - empty))
  printf '%s %s %d\n' "$board" "$name" "$bytes" >>"$work/flash"
}

# Size of the sections that take up flash, in bytes.
size_of() {
  size -A "$1" | awk '$1 == ".text" || $1 == ".rodata" || $1 == ".data" { n += $2 } END { print n }'
}

# Writes the costs into the tables of docs/c.md and README.md, one row a loader.
write_costs() {
  local text titles='weighbridge-stb STB,weighbridge-oinf OINF,weighbridge-bintensors BinTensors,weighbridge-ztensor zTensor,weighbridge-idv IDV,weighbridge-safetensors safetensors,weighbridge-gguf GGUF,weighbridge-tflite TensorFlow Lite,weighbridge-executorch ExecuTorch,trusting-stb STB by hand,flatbuffer-tflite TensorFlow Lite through vtables'
  for text in ../docs/c.md ../README.md; do
    awk -F '|' -v OFS='|' -v titles="$titles" '
      function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
      function thousands(n) { return n > 999 ? thousands(int(n / 1000)) "," sprintf("%03d", n % 1000) : n }
      # Three digits: the others change with every compiler.
      function about(n, step) { step = n > 999999 ? 10000 : n > 99999 ? 1000 : n > 9999 ? 100 : n > 999 ? 10 : 1; return " " thousands(int(n / step + 0.5) * step) " " }
      BEGIN {
        count = split(titles, pairs, ",")
        for (i = 1; i <= count; i++) { at = index(pairs[i], " "); loader[substr(pairs[i], at + 1)] = substr(pairs[i], 1, at - 1) }
      }
      FILENAME ~ /costs$/ { split($0, of, " "); flash[of[1], of[2]] = of[3]; cost[of[1], of[2]] = of[4]; stack[of[1], of[2]] = of[5]; next }
      { name = loader[trimmed($2)]; checked = name ~ /^weighbridge/; other = name; sub(/^weighbridge/, "unchecked", other) }
      name != "" && NF == 7 {
        $3 = " " thousands(flash["m4", name]) " B "
        $4 = " " thousands(stack["m4", name]) " B "
        $5 = checked ? about(cost["m4", name]) : " "
        $6 = about(cost["m4", other])
      }
      name != "" && NF == 12 {
        split("m4 m0 riscv", boards, " ")
        for (i = 1; i <= 3; i++) {
          $(3 * i) = " " thousands(flash[boards[i], name]) " B "
          $(3 * i + 1) = " " thousands(stack[boards[i], name]) " B "
          $(3 * i + 2) = about(cost[boards[i], name])
        }
      }
      { print }' "$work/costs" "$text" >"$work/text"
    cp "$work/text" "$text"
  done
}

# Writes the sizes into the table of docs/c.md, one row a reader.
write_sizes() {
  awk -F '|' -v OFS='|' '
    function bytes(n) { return sprintf(" %s B ", n > 999 ? int(n / 1000) "," sprintf("%03d", n % 1000) : n) }
    FILENAME ~ /sizes$/ { split($0, of, " "); c[of[1]] = of[2]; same[of[1]] = of[3]; more[of[1]] = of[4]; least[of[1]] = of[5]; next }
    { name = $2; gsub(/[ `]/, "", name) }
    name in c && NF == 7 { $3 = bytes(c[name]); $4 = bytes(same[name]); $5 = bytes(more[name]); $6 = bytes(least[name]) }
    { print }' "$work/sizes" ../docs/c.md >"$work/c.md"
  cp "$work/c.md" ../docs/c.md
}

case $mode in
  header) on_this_machine test header ;;
  miri) in_miri ;;
  sizes) sizes ${only:-$readers all} ;;
  fuzz) fuzz "$only" ;;
  cost) costs ${only:-m4 m0 riscv} ;;
  write)
    sizes $readers all
    write_sizes
    costs m4 m0 riscv
    write_costs
    ;;
  test)
    on_this_machine test
    gates
    power
    packages
    boards m4 m0 riscv
    verdicts
    ;;
  deep)
    gates
    boards m4 m0 riscv
    verdicts --features weighbridge-tests/deep -- --skip cost_of
    costs m4
    if "${CARGO:-cargo}" +nightly miri --version >/dev/null 2>&1; then
      in_miri
    else
      echo "c: Miri is not installed, so the border was not run in it" >&2
    fi
    ;;
esac
