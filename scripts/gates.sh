#!/usr/bin/env bash
# Runs the integrations described in docs/gates.md as users do: the hook with `pre-commit try-repo`
# on this checkout, and the static build that the image contains.
#
#   scripts/gates.sh [hook|image]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
work=$target_dir/gates
mkdir -p "$work"

hook() {
  local venv=$work/venv
  if [ ! -x "$venv/bin/pre-commit" ]; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet pre-commit==4.7.0 || {
      left_out "the pre-commit hook: pre-commit cannot be installed"
      return
    }
  fi
  cargo build --quiet -p weighbridge-cli
  cargo run --quiet -p weighbridge-tests --example fixtures -- "$work/files"
  rm -rf "$work/repo"
  git init --quiet "$work/repo"
  for sort in sound broken; do
    git -C "$work/repo" rm -rfq --cached . 2>/dev/null || true
    rm -f "$work/repo"/*.safetensors
    cp "$(fixture "$sort")" "$work/repo/a.safetensors"
    git -C "$work/repo" add .
    code=0
    (cd "$work/repo" && PATH=$target_dir/debug:$PATH "$venv/bin/pre-commit" try-repo "$root" weighbridge --all-files) \
      >"$work/$sort.log" 2>&1 || code=$?
    [ "$sort-$code" = sound-0 ] || [ "$sort-$code" = broken-1 ] || {
      cat "$work/$sort.log" >&2
      echo "gates: the hook exited with $code on a $sort file" >&2
      exit 1
    }
    echo "gates: pre-commit exits with $code on a $sort file"
  done
}

# fixture SORT: one of our safetensors files.
fixture() {
  for file in "$work"/files/safetensors/*; do
    code=0
    "$target_dir/debug/weighbridge" check --quiet "$file" >/dev/null 2>&1 || code=$?
    case $1-$code in sound-0 | broken-1) echo "$file" && return ;; esac
  done
}

# image: the content of the image, built for this machine: it is static, and it runs.
image() {
  local target binary
  target=$(uname -m)-unknown-linux-musl
  target_installed "$target" || rustup target add "$target" >&2 || {
    left_out "the static build: no libraries for $target"
    return
  }
  cargo build --quiet --locked -p weighbridge-cli --target "$target"
  binary=$target_dir/$target/debug/weighbridge
  ! readelf --program-headers "$binary" | grep INTERP || { echo "gates: $binary is not static" >&2; exit 1; }
  env --ignore-environment "$binary" --version
  echo "gates: the command for $target is static"
}

case ${1:-all} in
  hook) hook ;;
  image) image ;;
  all) hook && image ;;
esac
