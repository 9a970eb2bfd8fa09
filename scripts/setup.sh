#!/usr/bin/env bash
# The scripts' requirements, in one place: checked before anything is built, and installed if
# possible.
#
#   scripts/setup.sh PART...    of host, firmware, c, wasm, web (the tests of the page), python, peers, hard
#   source scripts/setup.sh     the functions below; `ready PART...` does the same
#
# As root, packages are installed with apt, after a line that names them. Other users are told which
# command to run, before anything is built. If something is still missing:
#
#   WEIGHBRIDGE_REQUIRE unset   ends the script; only extras (cargo-deny, third-party
#                               readers) are left out, with a message
#   WEIGHBRIDGE_REQUIRE=1       ends the script, also for extras: used in CI
#   WEIGHBRIDGE_REQUIRE=0       it is left out, with a message

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# All builds go below one folder, whichever folder a script is in.
case ${CARGO_TARGET_DIR:-} in
  '') target_dir=$root/target ;;
  /* | [A-Za-z]:*) target_dir=$CARGO_TARGET_DIR ;;
  *) target_dir=$root/$CARGO_TARGET_DIR ;;
esac
export CARGO_TARGET_DIR=$target_dir
source "$root/scripts/targets.sh"

# left_out WHAT: reports what is skipped, or ends the script if nothing may be left out. Everything
# that can be skipped calls this function.
left_out() {
  echo "left out: $1" >&2
  [ "${WEIGHBRIDGE_REQUIRE:-0}" = 0 ] || {
    echo "WEIGHBRIDGE_REQUIRE=$WEIGHBRIDGE_REQUIRE: nothing may be left out" >&2
    exit 1
  }
}

# ready PART...: makes sure that this machine has what these parts need. Fails only if that may be
# left out.
ready() {
  look "$@"
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "${#packages[@]}" -gt 0 ] && can_install; then
    echo "setup: apt-get update" >&2
    apt-get update -qq >&2 || true
    offered
    if [ "${#packages[@]}" -gt 0 ]; then
      echo "setup: installing with apt: ${packages[*]}" >&2
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        "${packages[@]}" >/dev/null || true
      look "$@"
    fi
  fi
  case " ${missing[*]-} " in
    *" Chromium "*) apt_offers chromium || { chromium_fetch && look "$@"; } ;;
  esac
  [ "${#missing[@]}" -gt 0 ] || return 0
  echo "setup: missing on this machine, for $*:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  offered
  [ "${#packages[@]}" = 0 ] || echo "setup: sudo apt-get install ${packages[*]}" >&2
  [ "${WEIGHBRIDGE_REQUIRE:-}" != 0 ] || return 1
  echo "setup: nothing was built; set WEIGHBRIDGE_REQUIRE=0 to leave out what needs it" >&2
  exit 1
}

# ready_or_leave_out PART: ends the script successfully if the part may be left out.
ready_or_leave_out() {
  ready "$1" || {
    left_out "$1, because of what is missing above"
    exit 0
  }
}

can_install() {
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]
}

# apt_offers PACKAGE: whether the package is in this machine's lists.
apt_offers() {
  command -v apt-cache >/dev/null && apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null
}

# offered: reduces `packages` to those that apt offers.
offered() {
  local package all=(${packages[@]+"${packages[@]}"})
  packages=()
  for package in ${all[@]+"${all[@]}"}; do
    ! apt_offers "$package" || packages+=("$package")
  done
}

# released COMMAND: the command to try: COMMAND, or the release build, which is made.
released() {
  [ -n "$1" ] || cargo build --quiet --release -p weighbridge-cli
  echo "${1:-$target_dir/release/weighbridge}"
}

# in_background COMMAND...: runs a command in the background, and keeps its output.
background=()
in_background() {
  local log
  log=$(mktemp)
  "$@" >"$log" 2>&1 &
  background+=("$!:$log")
}

# in_background_done: waits, prints the output, and fails if any command failed.
in_background_done() {
  local job failed=0
  for job in "${background[@]}"; do
    wait "${job%%:*}" || failed=1
    cat "${job#*:}"
    rm -f "${job#*:}"
  done
  background=()
  return "$failed"
}

# lack WHAT [PACKAGE...]: records a missing item and the packages that provide it.
lack() {
  local package
  case " ${missing[*]-} " in *" $1 "*) return ;; esac
  missing+=("$1")
  shift
  for package; do
    case " ${packages[*]-} " in
      *" $package "*) ;;
      *) packages+=("$package") ;;
    esac
  done
}

# look PART...: fills `missing`, and `packages` with those that apt can install.
look() {
  local part
  missing=() packages=()
  for part; do
    "look_$part"
  done
}

look_host() {
  local wanted
  wanted=$(target_rust_version)
  if ! command -v "${CARGO:-cargo}" >/dev/null || ! command -v rustc >/dev/null; then
    lack "Rust $wanted or newer (https://rustup.rs)"
  elif ! target_new_enough "$(rustc --version | cut -d' ' -f2)"; then
    lack "Rust $wanted or newer: this is $(rustc --version); try \`rustup update stable\`"
  fi
  # Rust links with it, and tests compare with C libraries.
  command -v cc >/dev/null || lack "a C compiler, cc" gcc libc6-dev
}

look_target() {
  command -v rustc >/dev/null || return 0
  target_obtainable "$1" ||
    lack "the Rust libraries for $1, which rustup cannot install" rustc-web rust-web-src
}

look_firmware() {
  look_host
  command -v llvm-size >/dev/null || command -v size >/dev/null || lack "size" binutils
  command -v "${QEMU:-qemu-system-arm}" >/dev/null || lack "QEMU, ${QEMU:-qemu-system-arm}" qemu-system-arm
  look_target thumbv7em-none-eabihf
  look_target thumbv6m-none-eabi
}

look_c() {
  look_firmware
  command -v "${CXX:-c++}" >/dev/null || lack "a C++ compiler, ${CXX:-c++}" g++
  command -v readelf >/dev/null || lack readelf binutils
  command -v cmake >/dev/null || lack CMake cmake
  command -v pkg-config >/dev/null || lack pkg-config pkg-config
  command -v arm-none-eabi-g++ >/dev/null || lack "GCC for ARM, arm-none-eabi-gcc" gcc-arm-none-eabi
  command -v riscv64-unknown-elf-g++ >/dev/null ||
    lack "GCC for RISC-V, riscv64-unknown-elf-gcc" gcc-riscv64-unknown-elf
  command -v qemu-system-riscv32 >/dev/null || lack "QEMU, qemu-system-riscv32" qemu-system-misc
  look_target riscv32imc-unknown-none-elf
}

# look_node: the minimum version for Vite 8.
look_node() {
  local fits='const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    lack "Node 20.19 or newer with npm (https://nodejs.org)"
  elif ! node -e "$fits"; then
    lack "Node 20.19 or newer: this is $(node --version)"
  fi
}

look_wasm() {
  look_host
  look_node
  look_target wasm32-unknown-unknown
}

look_web() {
  look_wasm
  chromium_path >/dev/null || lack Chromium chromium
}

# Measures with Python's standard library.
look_hard() {
  look_host
  command -v python3 >/dev/null || lack "Python 3" python3
}

# The oldest version for which wheels are built.
look_python() {
  look_host
  "${PYTHON:-python3}" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
    lack "Python 3.9 or newer with venv" python3-venv
}

look_peers() {
  look_host
  look_node
  command -v c++ >/dev/null || lack "a C++ compiler, c++" g++
  python3 -c 'import ensurepip, venv' 2>/dev/null || lack "Python 3 with venv" python3-venv
}

# host_programs: builds the command line, the samples and the examples of the tests into
# $target_dir/debug. All in one call, with the dependencies of tests, so that `cargo test
# --workspace` reuses them and nothing is built twice.
host_programs() {
  "${CARGO:-cargo}" build --quiet --manifest-path "$root/Cargo.toml" --workspace \
    --bin weighbridge --bin weighbridge-samples --example fixtures --example kept
}

# npm_packages FOLDER: installs the packages of its lock file, unless they are up to date.
npm_packages() {
  if [ ! -f "$root/$1/node_modules/.package-lock.json" ] ||
    [ "$root/$1/package-lock.json" -nt "$root/$1/node_modules/.package-lock.json" ]; then
    (cd "$root/$1" && npm ci --no-audit --no-fund --loglevel=error)
  fi
}

# chromium_path: the browser named in CHROMIUM, the system's, or Playwright's, if it starts.
chromium_path() {
  local path
  if [ -n "${CHROMIUM:-}" ]; then
    command -v "$CHROMIUM"
  elif [ -x /usr/bin/chromium ]; then
    echo /usr/bin/chromium
  else
    path=$(cd "$root/web" && node --input-type=module -e \
      "import { chromium } from '@playwright/test'; console.log(chromium.executablePath())" 2>/dev/null) &&
      "$path" --version >/dev/null 2>&1 && printf '%s\n' "$path"
  fi
}

# chromium_fetch: for systems without a package for apt, such as Ubuntu.
chromium_fetch() {
  local how=(chromium)
  ! can_install || how=(--with-deps chromium)
  echo "setup: npx playwright install ${how[*]}${how[1]:+, which installs libraries with apt}" >&2
  npm_packages web && (cd "$root/web" && npx playwright install "${how[@]}") >&2 || true
  chromium_path >/dev/null && return
  echo "setup: if Chromium lacks libraries: cd web && sudo npx playwright install-deps chromium" >&2
  return 1
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  [ $# -gt 0 ] || { sed -n '2,/^root=/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
  if ready "$@"; then
    echo "setup: ready for $*"
  fi
fi
