#!/usr/bin/env bash
# The figures of docs/performance.md: each is measured in a run in which our code and the peers'
# take turns, is stored in tests/data/figures.tsv, and is written into its table from there.
#
#   scripts/figures.sh          measures everything, and rewrites the figures and the
#                               tables; needs an otherwise idle machine
#   scripts/figures.sh only BENCH...
#                               measures these alone, and keeps the figures of the others; if
#                               those are of another processor, the page names both
#   scripts/figures.sh check    few rounds: fails if a ratio is more than a third below the
#                               stored one of this processor, or the lowest of any; times
#                               are not compared
#   scripts/figures.sh add      few rounds: stores the ratios of this processor for `check`,
#                               beside those of the tables
#   scripts/figures.sh tables   fails if the tables do not match the figures
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
mode=${1:-write}
kept=tests/data/figures.tsv
benches=(structure ztensor headers pytorch onnx tflite payload to_vec values)

case $mode in
  write | check | add) ;;
  only) benches=("${@:2}") ;;
  tables)
    command -v node >/dev/null || { left_out "the tables of figures: Node is not installed"; exit; }
    exec node scripts/figures.mjs tables "$kept"
    ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' scripts/figures.sh >&2; exit 2 ;;
esac
ready_or_leave_out wasm
[ "$mode" != write ] || ready_or_leave_out web
mkdir -p "$target_dir/figures"
export WEIGHBRIDGE_FIGURES=$target_dir/figures/measured.tsv
rm -f "$WEIGHBRIDGE_FIGURES"

# in_rust BENCH...
in_rust() {
  local names=()
  for bench; do names+=(--bench "$bench"); done
  cargo bench --quiet -p weighbridge-tests "${names[@]}"
}

# in_node: opening and statistics in Node, compared with other packages.
in_node() {
  scripts/wasm.sh bench
}

# size ROW FILE...: download size in kilobytes, gzipped.
size() {
  local row=$1 bytes
  shift
  bytes=$(for file; do gzip -9 -c "$file" | wc -c; done | awk '{ n += $1 } END { print n }')
  printf 'size\t%s\t%s\t\t\tkB\t\n' "$row" "$(awk -v n="$bytes" 'BEGIN { printf "%.0f", n / 1000 }')" >>"$WEIGHBRIDGE_FIGURES"
}

# in_page: the page's download size, and how soon it shows large files in Chromium.
in_page() {
  local page
  scripts/web.sh bench
  size 'first module: safetensors and GGUF' wasm/dist/base_bg.wasm
  size 'second module: every format, decompression' wasm/dist/full_bg.wasm
  size 'third module: statistics, pictures, differences' wasm/dist/compute_bg.wasm
  size 'fourth module: summaries of models' wasm/dist/summary_bg.wasm
  mapfile -t page < <(find web/dist/local -path '*/samples' -prune -o -name '*.html' -print -o -name '*.css' -print -o -name '*.js' -print)
  size 'page: all HTML, CSS and JavaScript' "${page[@]}"
}

compare() {
  node scripts/figures.mjs check "$kept" "$WEIGHBRIDGE_FIGURES"
}

# peers BENCH...: packages in Python, which open the same files as some benches.
peers() {
  local bench
  for bench; do
    case $bench in
      pytorch) scripts/peers.sh torch ;;
      onnx) scripts/peers.sh onnx ;;
    esac
  done
}

if [ "$mode" = only ]; then
  [ ${#benches[@]} -gt 0 ] || { echo "figures: which benches?" >&2; exit 2; }
  in_rust "${benches[@]}"
  peers "${benches[@]}"
  node scripts/figures.mjs only "$kept" "$WEIGHBRIDGE_FIGURES"
  node scripts/figures.mjs render "$kept"
  exit
fi

if [ "$mode" = write ]; then
  in_rust "${benches[@]}"
  scripts/peers.sh dequantise
  grep -q '^dequantise' "$WEIGHBRIDGE_FIGURES" || {
    echo "figures: ggml and its Python package are required" >&2
    exit 1
  }
  peers "${benches[@]}"
  in_node
  in_page
  node scripts/figures.mjs write "$kept" "$WEIGHBRIDGE_FIGURES"
  node scripts/figures.mjs render "$kept"
  exit
fi

export WEIGHBRIDGE_SHORT=1
in_rust "${benches[@]}"
in_node
if [ "$mode" = add ]; then
  node scripts/figures.mjs add "$kept" "$WEIGHBRIDGE_FIGURES"
  exit
fi
# Ratios that fall short are measured once more: another program may have used the machine.
compare || {
  echo "figures: measuring again"
  in_rust "${benches[@]}"
  in_node
  compare
}
