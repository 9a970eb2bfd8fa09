"""How long `torch.load` or `onnx.load` takes: load.py torch|onnx FILE ROUNDS prints the milliseconds of
processor time of the fastest round. load.py torch|onnx FILE save COUNT writes a file of COUNT small
tensors."""

import sys
import time


def names(count):
    return [f"model.layers.{i // 7}.block_{i % 7}.weight" for i in range(count)]


class Torch:
    """Checkpoints of small tensors."""

    @staticmethod
    def save(path, count):
        import torch

        torch.save({name: torch.full((4, 4), float(i)) for i, name in enumerate(names(count))}, path)

    @staticmethod
    def load(path):
        import torch

        return lambda: len(torch.load(path, mmap=True, weights_only=True))


class Onnx:
    """Models of nodes in a chain, each with a small initialiser."""

    @staticmethod
    def save(path, count):
        import numpy as np
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        nodes, weights, value = [], [], "x"
        for i, name in enumerate(names(count)):
            weights.append(numpy_helper.from_array(np.full(16, i, np.float32), name))
            nodes.append(helper.make_node("Add", [value, name], [f"out.{i}"]))
            value = f"out.{i}"
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [16]) for name in ("x", value)]
        graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], initializer=weights)
        imports = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=imports), path)

    @staticmethod
    def load(path):
        import onnx

        return lambda: len(onnx.load(path).graph.initializer)


package = {"torch": Torch, "onnx": Onnx}[sys.argv[1]]
path, rounds = sys.argv[2:4]
if rounds == "save":
    package.save(path, int(sys.argv[4]))
else:
    load = package.load(path)
    least = float("inf")
    for _ in range(int(rounds)):
        begun = time.process_time()
        count = load()
        least = min(least, time.process_time() - begun)
        assert count > 0
    print(f"load {least * 1e3:.3f}")
