"""Compares models of ONNX with what the package `onnx` reads.

    onnx_models.py COMMAND [FILES]

COMMAND is this project's. Without files, the models are those in the tests of the package's own
backends, each of which must be valid. Of every model, the tensors that COMMAND lists must be those of
the messages: as many, with the same shapes, and with the elements of `numpy_helper.to_array`. Models
with files beside them are read with those. Prints each difference, and fails if there is one.
"""

import collections
import hashlib
import json
import pathlib
import subprocess
import sys

import numpy
import onnx
from google.protobuf.message import Message
from onnx import TensorProto, numpy_helper
from onnx.external_data_helper import load_external_data_for_tensor, uses_external_data

# Number of files that one process of the command reads.
MANY = 200
# Bits of the elements that files pack, in each of which `to_array` gives a byte.
PACKED = {TensorProto.INT4: 4, TensorProto.UINT4: 4, TensorProto.FLOAT4E2M1: 4,
          TensorProto.INT2: 2, TensorProto.UINT2: 2}
# Models of the package with something that nobody can check, and why.
UNCHECKED = {
    "training_info": "which node reads which value in training information is not checked",
}


def tensors(message):
    """The messages of tensors within a message."""
    if isinstance(message, TensorProto):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in [value] if isinstance(value, Message) else value:
                yield from tensors(one)


def elements(tensor, folder):
    """The bytes of a tensor's elements, as files store them; None for texts."""
    if tensor.data_type == TensorProto.STRING:
        return None
    if uses_external_data(tensor):
        load_external_data_for_tensor(tensor, str(folder))
    array = numpy_helper.to_array(tensor)
    bits = PACKED.get(tensor.data_type)
    if bits is None:
        return array.tobytes()
    each = 8 // bits
    flat = numpy.frombuffer(array.tobytes(), numpy.uint8) & (1 << bits) - 1
    flat = numpy.pad(flat, (0, -len(flat) % each)).reshape(-1, each)
    return sum(flat[:, i].astype(numpy.uint16) << bits * i for i in range(each)).astype(numpy.uint8).tobytes()


def expected(path):
    """How often each shape with each hash of elements occurs in a model."""
    model = onnx.load(path, load_external_data=False)
    found = collections.Counter()
    for tensor in tensors(model):
        data = elements(tensor, path.parent)
        digest = None if data is None else hashlib.sha256(data).hexdigest()
        found[tuple(tensor.dims), digest] += 1
    return found


def listed(line):
    """The same, as the command lists it."""
    found = collections.Counter()
    for tensor in line["tensors"]:
        digest = None if tensor["dtype"] == "text" else tensor.get("sha256")
        found[tuple(tensor["shape"]), digest] += 1
    return found


def run(command, action, paths):
    """The objects that the command prints, one for each file."""
    done = subprocess.run([command, action, "--json", *map(str, paths)], stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in done.stdout.decode().splitlines() if line]


def main(command, *files):
    folder = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    paths = [pathlib.Path(file) for file in files] or sorted(folder.rglob("*.onnx"))
    wrong = count = 0
    for begin in range(0, len(paths), MANY):
        some = paths[begin:begin + MANY]
        verdicts = {line["file"]: line for line in run(command, "check", some) if "file" in line}
        digests = {line["file"]: line for line in run(command, "digest", some) if "file" in line}
        for path in some:
            line, digest = verdicts[str(path)], digests.get(str(path))
            if line["verdict"] != "valid" and not any(name in str(path) for name in UNCHECKED):
                wrong += 1
                print(f"{path}: {line['verdict']}: {line.get('findings')} {line.get('unchecked')}")
            ours, theirs = listed(digest) if digest else None, expected(path)
            count += sum(theirs.values())
            if ours != theirs:
                wrong += 1
                print(f"{path}: other tensors: {ours and ours - theirs}, not {ours and theirs - ours}")
    print(f"{len(paths)} models, {count} tensors: {wrong} differences")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
