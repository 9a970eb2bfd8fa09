#!/usr/bin/env bash
# The page: its set-up, its two builds, its tests.
#
#   scripts/web.sh build          builds web/dist/local and web/dist/url, the element in
#                                 web/dist/element and web/dist/single, and the extension in
#                                 web/dist/vscode, prints sizes and fails above the budget
#   scripts/web.sh embed          builds only the element and the extension
#   scripts/web.sh view           builds, serves the local build on the next free port
#                                 from 4173 on and prints its address
#   scripts/web.sh test [SPEC...] builds and runs the tests in Chromium, on free ports:
#                                 those named, or all but those marked @deep
#   scripts/web.sh run [SPEC...]  the same without building
#   scripts/web.sh deep           the tests marked @deep: the rest, large files, memory
#   scripts/web.sh bench          the tests that print times and check their budgets
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

build() {
  scripts/wasm.sh
  npm_packages web
  host_programs
  "$target_dir/debug/weighbridge-samples" web/public/samples "$target_dir/web-trials"
  (cd web && npm run --silent build && npm run --silent embed && npm run --silent sizes)
}

command=${1:-}
[ $# -eq 0 ] || shift
case "$command" in
  build)
    ready_or_leave_out wasm
    build
    ;;
  embed)
    ready_or_leave_out wasm
    scripts/wasm.sh
    npm_packages web
    (cd web && npm run --silent embed)
    ;;
  view)
    ready_or_leave_out wasm
    build
    cd web
    exec npm run --silent preview
    ;;
  test | run)
    ready_or_leave_out web
    [ "$command" = run ] || build
    CHROMIUM=$(chromium_path)
    TRIALS=$target_dir/web-trials
    export CHROMIUM TRIALS
    [ $# -gt 0 ] || set -- --grep-invert @deep
    (cd web && npm test --silent -- "$@")
    ;;
  deep)
    exec scripts/web.sh test --grep @deep
    ;;
  bench)
    BENCH=1 exec scripts/web.sh test --grep @bench --workers 1
    ;;
  *)
    echo "usage: scripts/web.sh build|embed|view|test [SPEC...]|run [SPEC...]|deep|bench" >&2
    exit 2
    ;;
esac
