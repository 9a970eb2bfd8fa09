#!/usr/bin/env bash
# Makes a cargo that builds for another target, whatever this machine has.
#
#   source scripts/targets.sh
#   target_ready thumbv7em-none-eabihf || exit 1
#   target_cargo build --release            # cargo build --release --target ...
#
# Tried in this order:
#   1. the active toolchain, if it has the target;
#   2. Debian's rustc-web with its source, installed if this is root and apt
#      offers them: the target's libraries are then built along the way;
#   3. `rustup target add`, which downloads them.
#
# `target_ready TARGET [LIBRARIES]` builds `core` in the second case, or the
# LIBRARIES that it is given in the form that -Zbuild-std takes, for example
# `std,panic_abort`. It may be called again for another target.

target_triple='' target_env=() target_flags=() target_note=''

# The linker that comes with a rustup toolchain; Debian's rustc has none for
# bare targets.
target_linker() {
  local sysroot host linker
  command -v rustup >/dev/null || return 1
  sysroot=$(rustup run "${RUSTUP_TOOLCHAIN:-stable}" rustc --print sysroot 2>/dev/null) || return 1
  host=$(rustup run "${RUSTUP_TOOLCHAIN:-stable}" rustc -vV | sed -n 's/^host: //p')
  linker=$sysroot/lib/rustlib/$host/bin/rust-lld
  [ -x "$linker" ] && printf '%s\n' "$linker"
}

# Whether the active rustc has the target's libraries.
target_installed() {
  local sysroot
  sysroot=$(rustc --print sysroot 2>/dev/null) || return 1
  compgen -G "$sysroot/lib/rustlib/$1/lib/libcore-*.rlib" >/dev/null
}

# Installs what is named with apt, if this is root and apt offers all of it.
target_apt() {
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
  local missing=() package
  for package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
      missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  echo "installing ${missing[*]} with apt" >&2
  apt-get update -qq >&2 || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}

# Debian's rustc of at least the version that Cargo.toml asks for.
target_debian() {
  local wanted have
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../Cargo.toml")
  target_linker >/dev/null && target_apt rustc-web rust-web-src || return 1
  have=$(/usr/bin/rustc --version | cut -d' ' -f2)
  [ "$(printf '%s\n%s\n' "$wanted" "$have" | sort -V | head -1)" = "$wanted" ]
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
  elif command -v rustup >/dev/null && rustup target add "$1" >&2; then
    target_note=$(rustc --version)
  else
    echo "no Rust toolchain for $1: rustup cannot get it, and apt (as root) offers none" >&2
    return 1
  fi
}

# target_cargo COMMAND ARGUMENTS...: cargo for the target that was made ready.
target_cargo() {
  local command=$1
  shift
  env ${target_env[@]+"${target_env[@]}"} "${CARGO:-cargo}" "$command" \
    ${target_flags[@]+"${target_flags[@]}"} --target "$target_triple" "$@"
}

# Called as a program with the name of a target, it says what would be used.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  target_ready "$@"
  echo "$target_triple: $target_note"
fi
