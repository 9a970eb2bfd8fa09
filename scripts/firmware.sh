#!/usr/bin/env bash
# Builds the images of firmware/ and holds them to what is promised: no panic,
# size, stack, and the verdicts of a host. Prints the tables of docs/firmware.md.
#
# What this machine has not and cannot get is left out with a sentence; with
# WEIGHBRIDGE_REQUIRE=1, as in CI, that is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../firmware"
source ../scripts/targets.sh

triple=thumbv7em-none-eabihf
formats=$(sed -n 's/^\([a-z]*\) = \["weighbridge\/\1"\]$/\1/p' Cargo.toml)
all=$(printf '%s,' $formats)
# All but those of large models, together.
five=stb,oinf,bintensors,ztensor,idv
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# leave_out WHAT: for lack of a tool.
leave_out() {
  echo "firmware: left out: $1"
  [ "${WEIGHBRIDGE_REQUIRE:-0}" = 0 ] || exit 1
  exit 0
}

# build PROFILE FEATURES BIN: prints nothing but errors. The path of the image
# is left in $image.
build() {
  if ! target_cargo build --quiet --profile "$1" --no-default-features --features "$2" \
    --bin "$3" 2>"$work/log"; then
    cat "$work/log" >&2
    return 1
  fi
  image=${CARGO_TARGET_DIR:-target}/$triple/$1/$3
}

# The sections of an image that take up flash, in bytes.
size_of() {
  "$size_tool" -A "$1" | awk '$1 == ".text" || $1 == ".rodata" || $1 == ".data" { n += $2 }
    END { print n }'
}

# The number of a format in a column of budgets.txt.
budget() {
  awk -v format="$1" -v column="$2" '$1 == format { n = $column } END { print n }' budgets.txt
}

echo "firmware: the audits of files that are in memory as a whole, on this machine"
for features in formats stb; do
  "${CARGO:-cargo}" test --quiet --manifest-path ../Cargo.toml -p weighbridge --lib \
    --no-default-features --features "$features,details"
done

size_tool=$(command -v llvm-size || command -v size) || leave_out "everything, for lack of \`size\`"
target_ready "$triple" || leave_out "everything, for lack of a compiler"
echo "firmware: $target_note"

echo "firmware: nothing that is public can reach a panic"
for profile in opt-s opt-3; do
  build "$profile" "${all}full" panic
  echo "  every format, $profile"
done
build opt-s "$all" panic
echo "  every format over mapped flash, opt-s"
for profile in opt-s opt-3; do
  build "$profile" stb panic
done
echo "  STB alone, whose tensors have no names, opt-s and opt-3"
if (build opt-s "${all}faulty" panic) 2>"$work/faulty"; then
  echo "firmware: the gate lets a panic through" >&2
  exit 1
fi
grep -q weighbridge_reaches_a_panic "$work/faulty" || { cat "$work/faulty" >&2; exit 1; }

echo "firmware: bytes of code and constants"
printf '  %-12s %8s %8s %18s\n' reader mapped budget 'windows, details'
over=0
for format in $formats five all; do
  case $format in
    five) features=$five ;;
    all) features=$all ;;
    *) features=$format ;;
  esac
  build release "$features" size
  bytes=$(size_of "$image")
  build release "$features,full" size
  printf '  %-12s %8d %8d %18d\n' "$format" "$bytes" "$(budget "$format" 2)" "$(size_of "$image")"
  [ "$bytes" -le "$(budget "$format" 2)" ] || over=1
done
# The one reader that is inlined, so that what a program does not ask for falls away.
build release stb,told size
echo "  stb for a program that is told of each finding: $(size_of "$image")"
[ "$over" = 0 ] || { echo "firmware: over budget" >&2; exit 1; }

build release "${all}full,decode" check
check=$work/check
cp "$image" "$check"
mkdir "$work/readers"
for format in $formats; do
  build release "$format" check
  cp "$image" "$work/readers/$format"
done
build release "${all}model" model
model=$PWD/$image
(
  triple=thumbv6m-none-eabi
  target_ready "$triple" || leave_out "thumbv6m, for lack of a compiler"
  build release "$all" size
  echo "firmware: every format for thumbv6m, $(size_of "$image") bytes"
)

command -v "${QEMU:-qemu-system-arm}" >/dev/null || target_apt qemu-system-arm ||
  leave_out "what runs in QEMU, for lack of qemu-system-arm"
WEIGHBRIDGE_CHECK=$check WEIGHBRIDGE_READERS=$work/readers WEIGHBRIDGE_MODEL=$model "${CARGO:-cargo}" test --quiet \
  --manifest-path ../Cargo.toml -p weighbridge-tests --features firmware --test firmware \
  -- --nocapture
