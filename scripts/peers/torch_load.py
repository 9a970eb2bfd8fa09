"""How long `torch.load` takes for a checkpoint: torch_load.py FILE ROUNDS prints the milliseconds of
processor time of the fastest round. torch_load.py FILE save COUNT writes one of COUNT small tensors."""

import sys
import time

import torch

path, rounds = sys.argv[1], sys.argv[2]
if rounds == "save":
    names = (f"model.layers.{i // 7}.block_{i % 7}.weight" for i in range(int(sys.argv[3])))
    torch.save({name: torch.full((4, 4), float(i)) for i, name in enumerate(names)}, path)
else:
    least = float("inf")
    for _ in range(int(rounds)):
        begun = time.process_time()
        loaded = torch.load(path, mmap=True, weights_only=True)
        least = min(least, time.process_time() - begun)
        assert len(loaded) > 0
    print(f"load {least * 1e3:.3f}")
