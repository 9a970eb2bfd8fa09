"""How long `onnx.load` takes for a model: onnx_load.py FILE ROUNDS prints the milliseconds of processor
time of the fastest round. onnx_load.py FILE save COUNT writes a chain of COUNT nodes, each with a small
initialiser."""

import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

path, rounds = sys.argv[1], sys.argv[2]
if rounds == "save":
    nodes, weights, value = [], [], "x"
    for i in range(int(sys.argv[3])):
        name = f"model.layers.{i}.weight"
        weights.append(numpy_helper.from_array(np.full(16, i, np.float32), name))
        nodes.append(helper.make_node("Add", [value, name], [f"out.{i}"]))
        value = f"out.{i}"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [16]) for name in ("x", value)]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], initializer=weights)
    imports = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=imports), path)
else:
    least = float("inf")
    for _ in range(int(rounds)):
        begun = time.process_time()
        loaded = onnx.load(path)
        least = min(least, time.process_time() - begun)
        assert len(loaded.graph.initializer) > 0
    print(f"load {least * 1e3:.3f}")
