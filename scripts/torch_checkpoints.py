"""Compares checkpoints with what PyTorch reads.

    torch_checkpoints.py COMMAND FILES

COMMAND is this project's. The tensors that it lists must be those of `torch.load(weights_only=True)`:
as many, with the same shapes and elements. Of TorchScript (`.jit`), each parameter and buffer must be
listed; constants of its code are listed as well. Prints each difference, and fails if there is one.
"""

import collections
import hashlib
import json
import pathlib
import subprocess
import sys

import torch


def tensors(value):
    """The tensors within an object that was loaded."""
    if isinstance(value, torch.Tensor):
        yield value.detach()
    elif isinstance(value, (dict, list, tuple)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from tensors(inner)


def elements(tensor):
    return hashlib.sha256(tensor.contiguous().clone().reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()


def load(path):
    if path.suffix == ".jit":
        return dict(torch.jit.load(str(path), map_location="cpu").state_dict())
    return torch.load(path, map_location="cpu", weights_only=True)


def listed(command, path):
    """How often the command lists each shape with each hash of elements."""
    done = subprocess.run([command, "digest", "--json", str(path)], stdout=subprocess.PIPE, check=False)
    line = next(json.loads(line) for line in done.stdout.decode().splitlines() if '"file"' in line)
    return collections.Counter((tuple(it["shape"]), it.get("sha256")) for it in line["tensors"])


def main(command, *files):
    wrong = count = 0
    for path in map(pathlib.Path, files):
        ours = listed(command, path)
        theirs = collections.Counter((tuple(it.shape), elements(it)) for it in tensors(load(path)))
        count += sum(theirs.values())
        more = collections.Counter() if path.suffix == ".jit" else ours - theirs
        if theirs - ours or more or not theirs:
            wrong += 1
            print(f"{path}: other tensors: {more}, not {theirs - ours}")
    print(f"{len(files)} checkpoints, {count} tensors: {wrong} differences")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
