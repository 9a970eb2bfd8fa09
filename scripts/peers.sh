#!/usr/bin/env bash
# Runs sound and broken files through popular readers: prints a table of how many each accepts and
# refuses, whether ggml's Python package reads the same content from GGUF files as we do, and
# whether we read a file of each type written by ggml. Installs the readers below target/peers, with
# pip, npm and cargo; any that cannot be installed is skipped with a message.
#
#   scripts/peers.sh           the tables, also into docs/peers.md where all readers of a table are
#                              installed
#   scripts/peers.sh -v        and which files each reader gets wrong
#   scripts/peers.sh tables NAME...  some tables: safetensors, gguf, onnx, ztensor, tflite, executorch,
#                              pytorch.
#                              TORCH_PYTHON may name an interpreter that has the packages of the last
#   scripts/peers.sh npm       installs the npm packages, for the benchmark in Node
#   scripts/peers.sh install   installs ggml and the Python packages, for other scripts
#   scripts/peers.sh dequantise  how fast blocks of ggml are converted to f32, here and in
#                              ggml's own code in C and in Python; needs both
#   scripts/peers.sh torch     how fast a checkpoint of 10,000 tensors is validated, here and by
#                              torch.load; PyTorch takes 540 MB and more
#   scripts/peers.sh onnx      how fast a model of 100,000 tensors is validated, here and by
#                              onnx.load; ONNX_PYTHON may name an interpreter that has it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready_or_leave_out peers
here=$root
work=$target_dir/peers
mkdir -p "$work"
verbose=${1:-}
python=$work/venv/bin/python
ggml_crate=llama-cpp-sys-2@0.1.161

# install NAME COMMAND...: runs once; errors are in a log beside it.
install() {
  local name=$1
  shift
  [ -e "$work/$name.done" ] && return
  if (cd "$work" && "$@") >"$work/$name.log" 2>&1; then
    touch "$work/$name.done"
  else
    left_out "$name, which cannot be installed: $work/$name.log"
  fi
}

has() {
  [ -e "$work/$1.done" ]
}

pip_packages() {
  python3 -m venv venv
  venv/bin/python -m pip install --quiet gguf==0.19.0 safetensors==0.8.0 numpy sft-cli==0.2.2 netron==9.3.3
}

torch_packages() {
  python3 -m venv torch
  torch/bin/python -m pip install --quiet torch==2.15.0
}

onnx_packages() {
  python3 -m venv onnx
  onnx/bin/python -m pip install --quiet onnx==1.23.2 onnxruntime==1.32.0 ztensor==2.1.2 numpy
}

pytorch_packages() {
  python3 -m venv pytorch
  pytorch/bin/python -m pip install --quiet torch==2.15.0 picklescan==1.0.5 modelscan==0.8.8 fickling==0.1.12 numpy
}

litert_packages() {
  python3 -m venv litert
  litert/bin/python -m pip install --quiet ai-edge-litert==2.3.0 numpy
}

# What else its wheel asks for serves exporters.
executorch_packages() {
  python3 -m venv executorch
  executorch/bin/python -m pip install --quiet torch==2.15.0 numpy
  executorch/bin/python -m pip install --quiet --no-deps executorch==1.5.1
}

npm_packages() {
  npm install --no-save --no-audit --no-fund --loglevel=error \
    @huggingface/gguf@0.4.6 @huggingface/hub@2.17.5 hyllama@0.2.2 zstddec@0.3.4
}

# The sources of ggml are in a crate with its bindings; its header reader needs only a few of them.
ggml() {
  mkdir -p ggml/src
  cd ggml
  printf '[package]\nname = "ggml"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n%s = "=%s"\n' \
    "${ggml_crate%@*}" "${ggml_crate#*@}" >Cargo.toml
  : >src/lib.rs
  cargo fetch --quiet
  local from
  from=$(ggml_from)
  sed 's/@[A-Z_]*@/0/g' "$from/src/ggml-version.h.in" >ggml-version.h
  ggml_program read -O1
}

# ggml_from: the folder where cargo keeps the sources.
ggml_from() {
  local manifest
  manifest=$(cargo metadata --format-version 1 | grep -o "\"manifest_path\":\"[^\"]*${ggml_crate%@*}[^\"]*\"" | head -n 1 | cut -d '"' -f 4)
  echo "$(dirname "$manifest")/llama.cpp/ggml"
}

# ggml_program NAME FLAGS...: compiles scripts/peers/ggml.cpp with these optimisation flags.
ggml_program() {
  local name=$1 from
  shift
  from=$(ggml_from)
  cc "$@" -w -c -D_GNU_SOURCE -I. -I"$from/include" -I"$from/src" "$from/src/ggml.c" "$from/src/ggml-quants.c"
  c++ -std=c++17 "$@" -w -I. -I"$from/include" -I"$from/src" "$here/scripts/peers/ggml.cpp" \
    "$from/src/gguf.cpp" "$from/src/ggml.cpp" "$from/src/ggml-threading.cpp" ggml.o ggml-quants.o \
    -lm -lpthread -o "$name"
}

# ggml as its own build compiles it, with and without instructions specific to this processor.
ggml_speed() {
  cd ggml
  ggml_program speed -O3
  ggml_program speed-native -O3 -march=native
}

# dequantise: our code and theirs in turns; the fastest of all rounds of each counts.
dequantise() {
  local elements=1048576 rounds=21 blocks=$work/blocks
  cargo build --quiet --release -p weighbridge-tests --example dequantise
  # No scale is NaN: all bytes are small.
  "$python" -c "import numpy, sys; numpy.random.default_rng(9).integers(0, 0x60, $elements * 2, dtype=numpy.uint8).tofile(sys.argv[1])" "$blocks"
  for _ in 1 2 3 4 5; do
    "$target_dir/release/examples/dequantise" "$blocks" "$elements" "$rounds" | sed 's/^/ours /'
    "$work/ggml/speed" "$blocks" "$elements" "$rounds" | sed 's/^/-O3 /'
    "$work/ggml/speed-native" "$blocks" "$elements" "$rounds" | sed 's/^/-march=native /'
    "$python" scripts/peers/dequantise.py "$blocks" "$elements" 3 | sed 's/^/NumPy /'
  done | awk '
    !(($1, $2) in most) || most[$1, $2] < $3 { most[$1, $2] = $3 }
    $1 == "ours" && !seen[$2]++ { names[++count] = $2 }
    END {
      peer["-O3"] = "ggml in C, `-O3`"
      peer["-march=native"] = "ggml in C, `-O3 -march=native`"
      peer["NumPy"] = "`gguf` 0.19 with NumPy"
      split("-O3 -march=native NumPy", all, " ")
      for (i = 1; i <= count; i++) for (j = 1; j <= 3; j++) {
        ours = most["ours", names[i]]
        theirs = most[all[j], names[i]]
        printf "dequantise\t%s to f32\t%.3g\t%s\t%.3g\tGB/s\t%.3g\n", names[i], ours, peer[all[j]], theirs, ours / theirs
      }
    }' | tee -a "${WEIGHBRIDGE_FIGURES:-/dev/null}"
}

# timed_load PACKAGE PYTHON EXTENSION COUNT TITLE PEER ROW...: opens a file of COUNT tensors with our code
# and the package in turns; the fastest of all rounds of each counts. ROW is what our code does.
timed_load() {
  local package=$1 theirs=$2 file=$work/many.$3 count=$4 title=$5 peer=$6
  shift 6
  cargo build --quiet --release -p weighbridge-tests --example checkpoint
  "$theirs" scripts/peers/load.py "$package" "$file" save "$count"
  for _ in 1 2 3 4 5; do
    "$target_dir/release/examples/checkpoint" "$file" 5
    "$theirs" scripts/peers/load.py "$package" "$file" 3
  done | awk -v rows="$*" -v title="$title" -v peer="$peer" '
    !($1 in least) || $2 < least[$1] { least[$1] = $2 }
    END {
      table = tolower(title)
      sub(/,.*/, "", table)
      says["index"] = "list"
      says["structure"] = "validate"
      says["data"] = "validate, with the data"
      n = split(rows, all, " ")
      for (i = 1; i <= n; i++) {
        ours = least[all[i]]
        theirs = least["load"]
        printf "%s\t%s: %s\t%.3g\t%s\t%.4g\tms\t%.1f\n", table, title, says[all[i]], ours, peer, theirs, theirs / ours
      }
    }' | tee -a "${WEIGHBRIDGE_FIGURES:-/dev/null}"
}

# TORCH_PYTHON and ONNX_PYTHON may name an interpreter that has the package.
torch_load() {
  timed_load torch "${TORCH_PYTHON:-$work/torch/bin/python}" pt 10000 \
    'PyTorch, 10000 small tensors' '`torch.load(mmap=True)` 2.15' index structure data
}

onnx_load() {
  timed_load onnx "${ONNX_PYTHON:-$work/onnx/bin/python}" onnx 100000 \
    'ONNX, file of 100000 nodes and initialisers' '`onnx.load` 1.23' index structure
}

case $verbose in
  npm)
    install npm npm_packages
    exit
    ;;
  install)
    install python pip_packages
    install ggml ggml
    exit
    ;;
  dequantise)
    install python pip_packages
    install ggml ggml
    ! has ggml || install ggml-speed ggml_speed
    if has python && has ggml-speed; then dequantise; fi
    exit
    ;;
  torch)
    [ -n "${TORCH_PYTHON:-}" ] || install torch torch_packages
    if [ -n "${TORCH_PYTHON:-}" ] || has torch; then torch_load; fi
    exit
    ;;
  onnx)
    [ -n "${ONNX_PYTHON:-}" ] || install onnx onnx_packages
    if [ -n "${ONNX_PYTHON:-}" ] || has onnx; then onnx_load; fi
    exit
    ;;
esac

cargo build --quiet -p weighbridge-cli
cargo run --quiet -p weighbridge-tests --example fixtures -- "$work/files" --list >"$work/list"
# Today's packages read only this generation of zTensor, which its magic tells.
awk '$1 == "ztensor"' "$work/list" | while IFS=$'\t' read -r _ path kind; do
  [ "$(head -c 4 "$path" | tr -d '\0\211')" != ZT2 ] || printf 'ztensor-2\t%s\t%s\n' "$path" "$kind"
done >"$work/list-2"
cat "$work/list-2" >>"$work/list"
# The runtime loads programs, and files of data only with one.
awk -F '\t' -v OFS='\t' '$1 == "executorch" && $2 ~ /[.]pte$/ { $1 = "program"; print }' "$work/list" >"$work/list-2"
cat "$work/list-2" >>"$work/list"

names=(safetensors gguf onnx ztensor tflite executorch pytorch)
some=
[ "$verbose" != tables ] || { names=("${@:2}"); some=yes; verbose=; }

# readers NAME: what its table requires.
readers() {
  case $1 in
    safetensors) echo python npm zt ;;
    gguf) echo python npm zt ggml ;;
    onnx) echo python onnx ;;
    ztensor) echo onnx zt ;;
    tflite) echo litert ;;
    executorch) echo executorch ;;
    pytorch) [ -n "${TORCH_PYTHON:-}" ] || echo pytorch ;;
    *) echo "peers: no table $1" >&2; exit 2 ;;
  esac
}

[[ " ${names[*]} " != *" safetensors "* ]] || cargo build --quiet -p weighbridge-tests --example peers
required=$(for name in "${names[@]}"; do readers "$name"; done)
for reader in $(printf '%s\n' $required | sort -u); do
  case $reader in
    python) install python pip_packages ;;
    zt) install zt cargo install --quiet ztensor-cli --version 2.1.1 --root . ;;
    npm) install npm npm_packages ;;
    ggml) install ggml ggml ;;
    *) install "$reader" "${reader}_packages" ;;
  esac
done
NETRON=$(echo "$work"/venv/lib/python3*/site-packages/netron)
export NETRON

# row FORMAT TITLE COMMAND...: the command reads paths and answers line by line.
row() {
  local format=$1 title=$2
  shift 2
  # Lints are no reason to refuse a file, and checks that this build cannot do are not held against
  # a peer.
  awk -F '\t' -v format="$format" '$1 == format && $3 != "lint" && $3 != "unchecked"' "$work/list" >"$work/chosen"
  cut -f 2 "$work/chosen" | (cd "$work" && "$@") >"$work/answers" 2>"$work/log" || true
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

# corpus_row TITLE COMMAND...: the same for the checkpoints of the sample corpus.
corpus_row() {
  local title=$1
  shift
  cut -f 2 "$work/corpus" | (cd "$work" && "$@") >"$work/answers" 2>"$work/log" || true
  paste "$work/corpus" "$work/answers" | awk -F '\t' -v title="$title" -v verbose="$verbose" '
    { all[$1]++ }
    $3 == ($1 == "valid" ? "accepts" : "refuses") { right[$1]++; next }
    { n = split($2, part, "/"); wrong = wrong "    " part[n] " (" $1 ")\n" }
    END {
      printf "| %-36s | %3d of %3d | %3d of %3d | %3d of %3d |\n", title, right["unsafe"], all["unsafe"],
        right["invalid"], all["invalid"], right["valid"], all["valid"]
      if (verbose != "") printf "%s", wrong
    }'
}

# corpus: lists the checkpoints of the sample corpus with their verdicts. False if it is not there.
corpus() {
  local folder=${WEIGHBRIDGE_CORPUS:-$root/../shared/corpus}
  [ -e "$folder/pytorch/manifest.json" ] || return 1
  python3 - "$folder/pytorch" >"$work/corpus" <<'END'
import json, pathlib, sys

folder = pathlib.Path(sys.argv[1]).resolve()
manifest = json.loads((folder / "manifest.json").read_text())
# Sound files off the list of torch.load are neither: whether to accept them is a choice.
for kind, verdicts in {"valid": ["valid"], "invalid": ["unsafe", "invalid"]}.items():
    for row in manifest[kind]:
        if row["verdict"] in verdicts and "or" not in row:
            print(row["verdict"], folder / row["file"], sep="\t")
END
}

# each COMMAND...: runs a command that takes a path and exits with 0 for a sound file.
each() {
  while IFS= read -r path; do
    if timeout 10 "$@" "$path" >/dev/null 2>&1; then echo accepts; else echo refuses; fi
  done
}

ours=(each "$target_dir/debug/weighbridge" check --format)
torch_python=${TORCH_PYTHON:-$work/pytorch/bin/python}
has_torch() {
  [ -n "${TORCH_PYTHON:-}" ] || has pytorch
}

pytorch_tables() {
  local reads=("$torch_python" "$here/scripts/peers/read.py")
  printf '| %-36s | %-10s | %-10s |\n' 'PyTorch' 'malformed or unsafe, refused' 'valid, accepted'
  echo '|---|---|---|'
  row pytorch Weighbridge "${ours[@]}" pytorch
  ! has_torch || row pytorch '`torch.load(weights_only=True)` 2.15' "${reads[@]}" torch
  ! has_torch || row pytorch '`fickling` 0.1.12' "${reads[@]}" fickling
  ! has_torch || row pytorch '`picklescan` 1.0.5' "${reads[@]}" picklescan
  ! has_torch || row pytorch '`modelscan` 0.8.8' "${reads[@]}" modelscan

  corpus || return 0
  printf '\n| %-36s | %-10s | %-10s | %-10s |\n' 'PyTorch, sample corpus' 'unsafe, refused' 'malformed, refused' 'valid, accepted'
  echo '|---|---|---|---|'
  corpus_row Weighbridge each "$target_dir/debug/weighbridge" check
  ! has_torch || corpus_row '`torch.load(weights_only=True)` 2.15' "${reads[@]}" torch
  ! has_torch || corpus_row '`fickling` 0.1.12' "${reads[@]}" fickling
  ! has_torch || corpus_row '`picklescan` 1.0.5' "${reads[@]}" picklescan
  ! has_torch || corpus_row '`modelscan` 0.8.8' "${reads[@]}" modelscan
}

safetensors_tables() {
  printf '| %-36s | %-10s | %-10s |\n' 'safetensors' 'malformed, refused' 'valid, accepted'
  echo '|---|---|---|'
  row safetensors Weighbridge "${ours[@]}" safetensors
  ! has zt || row safetensors '`zt` 2.1.1' each bin/zt verify
  row safetensors '`safetensors` 0.8 (crate)' "$target_dir/debug/examples/peers"
  ! has python || row safetensors '`safetensors` 0.8 (Python)' "$python" "$here/scripts/peers/read.py" safetensors
  ! has npm || row safetensors '`@huggingface/hub` 2.17.5' node "$here/scripts/peers/read.mjs" @huggingface/hub
  ! has python || row safetensors 'Netron 9.3.3' node "$here/scripts/peers/read.mjs" netron-safetensors
  ! has python || row safetensors '`sft check` 0.2.2' "$python" "$here/scripts/peers/read.py" sft
}

gguf_tables() {
  printf '| %-36s | %-10s | %-10s |\n' 'GGUF' 'malformed, refused' 'valid, accepted'
  echo '|---|---|---|'
  row gguf Weighbridge "${ours[@]}" gguf
  ! has ggml || row gguf 'ggml 0.26, `gguf_init_from_file`' ggml/read
  ! has zt || row gguf '`zt` 2.1.1' each bin/zt verify
  ! has python || row gguf '`gguf` 0.19 (Python)' "$python" "$here/scripts/peers/read.py" gguf
  ! has npm || row gguf '`@huggingface/gguf` 0.4.6' node "$here/scripts/peers/read.mjs" @huggingface/gguf
  ! has python || row gguf 'Netron 9.3.3' node "$here/scripts/peers/read.mjs" netron-gguf
  ! has npm || row gguf '`hyllama` 0.2.2' node "$here/scripts/peers/read.mjs" hyllama
}

onnx_tables() {
  local reads=("$work/onnx/bin/python" "$here/scripts/peers/read.py")
  printf '| %-36s | %-10s | %-10s |\n' 'ONNX' 'malformed, refused' 'valid, accepted'
  echo '|---|---|---|'
  row onnx Weighbridge "${ours[@]}" onnx
  ! has onnx || row onnx '`onnx.load` 1.23' "${reads[@]}" onnx-load
  ! has onnx || row onnx '`onnx.checker` 1.23' "${reads[@]}" onnx-check
  ! has onnx || row onnx '`onnx.checker` 1.23, `full_check`' "${reads[@]}" onnx-full-check
  ! has onnx || row onnx '`onnxruntime` 1.32' "${reads[@]}" onnxruntime
  ! has python || row onnx 'Netron 9.3.3' node "$here/scripts/peers/read.mjs" netron-onnx
}

ztensor_tables() {
  local reads=("$work/onnx/bin/python" "$here/scripts/peers/read.py")
  printf '| %-36s | %-10s | %-10s |\n' 'zTensor 2' 'malformed, refused' 'valid, accepted'
  echo '|---|---|---|'
  row ztensor-2 Weighbridge "${ours[@]}" ztensor
  ! has zt || row ztensor-2 '`zt` 2.1.1' each bin/zt verify
  ! has onnx || row ztensor-2 '`ztensor` 2.1.2 (Python)' "${reads[@]}" ztensor
}

tflite_tables() {
  local reads=("$work/litert/bin/python" "$here/scripts/peers/read.py")
  printf '| %-36s | %-10s | %-10s |\n' 'TensorFlow Lite' 'malformed, refused' 'valid, accepted'
  echo '|---|---|---|'
  row tflite Weighbridge "${ours[@]}" tflite
  ! has litert || row tflite '`ai-edge-litert` 2.3' "${reads[@]}" litert
}

executorch_tables() {
  local reads=("$work/executorch/bin/python" "$here/scripts/peers/read.py")
  printf '| %-36s | %-10s | %-10s |\n' 'ExecuTorch' 'malformed, refused' 'valid, accepted'
  echo '|---|---|---|'
  row program Weighbridge "${ours[@]}" executorch
  ! has executorch || row program '`executorch` 1.5.1, as it loads' "${reads[@]}" executorch
  ! has executorch || row program '`executorch` 1.5.1, verifying' "${reads[@]}" executorch-verified
}

# is_complete NAME: whether the table has every reader, and is that of the page.
is_complete() {
  local reader
  for reader in $(readers "$1"); do has "$reader" || return 1; done
  [ "$1" != pytorch ] || [ -s "$work/corpus" ]
}

for name in "${names[@]}"; do
  "${name}_tables" | tee "$work/tables-$name"
  echo
  if [ -z "$verbose" ] && is_complete "$name"; then
    python3 scripts/peers/page.py docs/peers.md "$work/tables-$name"
  fi
done
[ -z "$some" ] || exit 0

if has ggml && command -v python3 >/dev/null; then
  echo
  python3 scripts/ggml_types.py "$target_dir/debug/weighbridge" "$work/ggml/read" "$work/ggml/types"
fi

if has python; then
  printf '\n'
  cargo build --quiet -p weighbridge-tests --example verdicts
  "$python" scripts/numpy_reader.py "$target_dir/debug/examples/verdicts" "$work/files"
  cargo build --quiet -p weighbridge-tests --example operations --example fixtures
  "$target_dir/debug/examples/fixtures" "$work/hosts"
  "$python" scripts/pickle_operations.py "$target_dir/debug/examples/operations" "$work/hosts/pytorch"
  echo
  ggml_read=()
  ! has ggml || ggml_read=("$work/ggml/read")
  "$python" scripts/gguf_reader.py "$target_dir/debug/weighbridge" "$work/files/gguf" \
    ${ggml_read[@]+"${ggml_read[@]}"}
fi
if has python; then
  echo
  "$python" scripts/gguf_writer.py "$target_dir/debug/weighbridge" "$work/written"
  "$python" scripts/gguf_names.py
fi
