#!/usr/bin/env bash
# Builds the static library for C, and verifies the promises: the same verdicts as in Rust, no panic,
# no symbol that a program must have.
#
#   scripts/c.sh            what `make test` runs
#   scripts/c.sh header     compares the headers with their sources; with WEIGHBRIDGE_HEADER=write,
#                           writes them
#   scripts/c.sh miri       the border in Miri, with nightly
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../c"
source ../scripts/setup.sh
mode=${1:-test}
case $mode in test | header | miri) ;; *) sed -n '2,/^set/s/^# \{0,1\}//p' ../scripts/c.sh >&2; exit 2 ;; esac
ready_or_leave_out c

build_dir=$target_dir/c
warnings=(-Wall -Wextra -Werror -pedantic)
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
  nm "$work"/members/weighbridge-*.o | awk '$1 == "U" { print $2 }' | sort -u >"$work/undefined"
  nm "$library" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TWDRBV]/ { print $3 }' | sort -u >"$work/defined"
  undefined=$(comm -23 "$work/undefined" "$work/defined" | grep -vxF "$(printf '%s\n' "$@")" || true)
  if [ -n "$undefined" ]; then
    printf 'c: %s needs other symbols than %s:\n%s\n' "$library" "$*" "$undefined" >&2
    return 1
  fi
  if nm "$work"/members/weighbridge-*.o | grep panic >&2; then
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
  library=$work/libweighbridge.a
  echo "c: no function can reach a panic, and the library needs only memcpy, memmove, memset, memcmp, bcmp"
}

# The C program has the compiler's sanitizers, and each file of the tests a page behind it that
# cannot be read.
verdicts() {
  "${CC:-cc}" -std=c11 "${warnings[@]}" -D_DEFAULT_SOURCE -g -fsanitize=address,undefined \
    -fno-sanitize-recover=all -Iinclude tests/host.c tests/survey.c "$library" -o "$work/host"
  echo '#include "weighbridge_rules.h"' |
    "${CXX:-c++}" -std=c++11 "${warnings[@]}" -Iinclude -fsyntax-only -x c++ -
  WEIGHBRIDGE_C_HOST=$work/host "${CARGO:-cargo}" test --quiet --manifest-path ../Cargo.toml \
    --workspace --test c
}

case $mode in
  header) on_this_machine test header ;;
  # Isolation would forbid reading the headers.
  miri) MIRIFLAGS=-Zmiri-disable-isolation "${CARGO:-cargo}" +nightly miri test --target-dir "$build_dir" tests ;;
  test)
    on_this_machine test
    gates
    verdicts
    ;;
esac
