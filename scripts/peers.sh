#!/usr/bin/env bash
# Sound and broken files through the readers that people use: prints a table of
# how many each accepts and refuses. Installs them below target/peers; what cannot
# be installed is left out with a sentence.
#
#   scripts/peers.sh           the table
#   scripts/peers.sh -v        and which files each reader gets wrong
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=$PWD
target=${CARGO_TARGET_DIR:-$here/target}
work=$target/peers
mkdir -p "$work"
verbose=${1:-}

cargo build --quiet -p weighbridge-cli
cargo run --quiet -p weighbridge-tests --example fixtures -- "$work/files" --list >"$work/list"

python=$work/venv/bin/python
if [ ! -x "$python" ]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet gguf==0.19.0 safetensors==0.8.0 numpy || python=''
fi
if [ ! -d "$work/node_modules" ]; then
  (cd "$work" && npm install --no-save --no-audit --no-fund --loglevel=error \
    @huggingface/gguf@0.4.6 @huggingface/hub@2.17.5 hyllama@0.2.2) || true
fi

# row FORMAT TITLE COMMAND...: the command reads paths and answers line by line.
row() {
  local format=$1 title=$2
  shift 2
  # Remarks on files that are valid are no reason to refuse them.
  awk -F '\t' -v format="$format" '$1 == format && $3 != "lint"' "$work/list" >"$work/chosen"
  cut -f 2 "$work/chosen" | "$@" >"$work/answers" 2>"$work/log" || true
  paste "$work/chosen" "$work/answers" | awk -F '\t' -v title="$title" -v verbose="$verbose" '
    { all[$3]++ }
    $3 == "broken" && $4 == "refuses" || $3 == "sound" && $4 == "accepts" { right[$3]++; next }
    { n = split($2, part, "/"); wrong = wrong "    " part[n] " (" $3 ")\n" }
    END {
      printf "| %-36s | %3d of %3d | %3d of %3d |\n", title, right["broken"], all["broken"],
        right["sound"], all["sound"]
      if (verbose != "") printf "%s", wrong
    }'
}

ours() {
  while IFS= read -r path; do
    if "$target/debug/weighbridge" check "$path" --format "$1" >/dev/null 2>&1; then
      echo accepts
    else
      echo refuses
    fi
  done
}

crate() {
  cargo run --quiet -p weighbridge-tests --example peers
}

printf '| %-36s | %-10s | %-10s |\n' 'safetensors' 'refused' 'accepted'
echo '|---|---|---|'
row safetensors Weighbridge ours safetensors
row safetensors '`safetensors` 0.8 (crate)' crate
[ -z "$python" ] || row safetensors '`safetensors` 0.8 (Python)' "$python" scripts/peers/read.py safetensors
(
  cd "$work"
  [ ! -d node_modules/@huggingface/hub ] ||
    row safetensors '`@huggingface/hub` 2.17.5' node "$here/scripts/peers/read.mjs" @huggingface/hub
)
printf '\n| %-36s | %-10s | %-10s |\n' 'GGUF' 'refused' 'accepted'
echo '|---|---|---|'
row gguf Weighbridge ours gguf
[ -z "$python" ] || row gguf '`gguf` 0.19 (Python)' "$python" scripts/peers/read.py gguf
(
  cd "$work"
  for peer in @huggingface/gguf hyllama; do
    [ ! -d "node_modules/$peer" ] || row gguf "\`$peer\`" node "$here/scripts/peers/read.mjs" "$peer"
  done
)
