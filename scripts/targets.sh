#!/usr/bin/env bash
# Sets up a cargo that builds for another target, whatever this machine has.
#
#   source scripts/setup.sh                 # which finds out what is missing
#   target_ready thumbv7em-none-eabihf
#   target_cargo build --release            # cargo build --release --target ...
#
# Tried in this order:
#   1. the active toolchain, if it has the target;
#   2. Debian's rustc-web with its source, if installed: the target's libraries are
#      then built along the way;
#   3. `rustup target add`, which downloads them and needs no root;
#   4. like 2., with the packages installed by scripts/setup.sh if it can.
#
# `target_ready TARGET [LIBRARIES]` builds `core` in the second case, or the given
# LIBRARIES in the form that -Zbuild-std takes, for example `std,panic_abort`. It may be
# called again for another target.

target_triple='' target_env=() target_flags=() target_note='' target_tried=' '

# The version of Rust that Cargo.toml requires.
target_rust_version() {
  sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../Cargo.toml"
}

target_new_enough() {
  local wanted
  wanted=$(target_rust_version)
  [ "$(printf '%s\n%s\n' "$wanted" "$1" | sort -V | head -n 1)" = "$wanted" ]
}

# The linker of a rustup toolchain; Debian's rustc has none for bare targets.
target_linker() {
  local sysroot host linker
  sysroot=$(rustc --print sysroot 2>/dev/null) || return 1
  host=$(rustc -vV | sed -n 's/^host: //p')
  linker=$sysroot/lib/rustlib/$host/bin/rust-lld
  [ -x "$linker" ] && printf '%s\n' "$linker"
}

# Whether the active rustc has the target's libraries.
target_installed() {
  local sysroot
  sysroot=$(rustc --print sysroot 2>/dev/null) || return 1
  compgen -G "$sysroot/lib/rustlib/$1/lib/libcore-*.rlib" >/dev/null
}

# Whether Debian's rustc and its source are installed and new enough.
target_debian() {
  local package
  target_linker >/dev/null && command -v dpkg-query >/dev/null && [ -x /usr/bin/rustc ] || return 1
  for package in rustc-web rust-web-src; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep ' installed$' >/dev/null || return 1
  done
  target_new_enough "$(/usr/bin/rustc --version | cut -d' ' -f2)"
}

# Whether one of the first three ways provides the target; uses the third if necessary.
target_obtainable() {
  target_installed "$1" || target_debian && return
  case $target_tried in *" $1 "*) return 1 ;; esac
  target_tried+="$1 "
  command -v rustup >/dev/null || return 1
  echo "setup: rustup target add $1" >&2
  rustup target add "$1" >&2 && target_installed "$1"
}

target_ready() {
  local libraries=${2:-core} upper
  target_triple=$1 target_env=() target_flags=()
  if target_installed "$1"; then
    target_note=$(rustc --version)
  elif target_debian; then
    upper=$(printf '%s' "$1" | tr 'a-z-' 'A-Z_')
    target_note="Debian's $(/usr/bin/rustc --version), which builds $libraries"
    target_env=(RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
      "CARGO_TARGET_${upper}_LINKER=$(target_linker)")
    target_flags=("-Zbuild-std=$libraries")
  elif target_obtainable "$1"; then
    target_note=$(rustc --version)
  else
    echo "no Rust toolchain for $1: rustup cannot install it, and Debian's rustc-web is not installed" >&2
    return 1
  fi
}

# target_cargo COMMAND ARGUMENTS...: cargo for the prepared target.
target_cargo() {
  local command=$1
  shift
  env ${target_env[@]+"${target_env[@]}"} "${CARGO:-cargo}" "$command" \
    ${target_flags[@]+"${target_flags[@]}"} --target "$target_triple" "$@"
}

# Run as a program with the name of a target, it reports what would be used.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  target_ready "$@"
  echo "$target_triple: $target_note"
fi
