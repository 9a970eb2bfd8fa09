#!/usr/bin/env bash
# The page: its set-up, its two builds, its tests.
#
#   scripts/web.sh build   builds web/dist/local and web/dist/url, prints sizes
#                          and fails above the budget
#   scripts/web.sh view    builds, serves the local build and prints its address
#   scripts/web.sh test    builds and runs the tests in Chromium
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# need_node: Vite 8 needs this much.
need_node() {
  local fits='const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'
  if ! command -v node >/dev/null || ! node -e "$fits"; then
    echo "the page needs Node 20.19 or newer" >&2
    exit 1
  fi
}

# packages: those of the lock file, unless they are there already.
packages() {
  if [ ! -f web/node_modules/.package-lock.json ] ||
    [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
    (cd web && npm ci --no-audit --no-fund --loglevel=error)
  fi
}

build() {
  need_node
  scripts/wasm.sh
  packages
  cargo run --quiet -p weighbridge-samples -- web/public/samples "${CARGO_TARGET_DIR:-target}/web-trials"
  (cd web && npm run --silent build && npm run --silent sizes)
}

# chromium: the system's, or the one that Playwright fetches.
chromium() {
  [ -n "${CHROMIUM:-}" ] || [ -x /usr/bin/chromium ] && return
  if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
    apt-get update -qq
    apt-get install -y -qq chromium >/dev/null && return
  fi
  (cd web && npx playwright install --with-deps chromium)
}

case "${1:-}" in
  build) build ;;
  view)
    build
    cd web
    exec npm run --silent preview
    ;;
  test)
    build
    chromium
    TRIALS=$(cd "${CARGO_TARGET_DIR:-target}/web-trials" && pwd)
    export TRIALS
    (cd web && npm test --silent)
    ;;
  *)
    echo "usage: scripts/web.sh build|view|test" >&2
    exit 2
    ;;
esac
