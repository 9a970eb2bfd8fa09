"""Reads files with a Python package: read.py PEER, paths on standard input, "accepts"
or "refuses" for each on standard output. Each file has its own process and ten
seconds, because some files hang some readers."""

import os
import signal
import sys

PEER = sys.argv[1]
SECONDS = 10

if PEER == "gguf":
    from gguf import GGUFReader

    def read(path):
        """Reads the file like gguf_dump."""
        for tensor in GGUFReader(path).tensors:
            str(tensor.name)
elif PEER == "sft":
    import subprocess

    def read(path):
        command = [os.path.join(os.path.dirname(sys.executable), "sft"), "check", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
elif PEER.startswith("onnx"):
    import onnx

    def read(path):
        """Loads the model; by path, the checker uses its own loader."""
        if PEER == "onnxruntime":
            import onnxruntime

            onnxruntime.set_default_logger_severity(4)
            onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        elif PEER == "onnx-load":
            onnx.load(path)
        else:
            onnx.checker.check_model(path, full_check=PEER == "onnx-full-check")
elif PEER == "torch":
    import torch

    def read(path):
        """Loads the file with the restricted unpickler."""
        torch.load(path, map_location="cpu", weights_only=True)
elif PEER == "picklescan":
    from picklescan.scanner import scan_file_path

    def read(path):
        """Scans the file, and fails as its command does."""
        found = scan_file_path(path)
        if found.issues_count or found.scan_err:
            raise ValueError(path)
elif PEER == "modelscan":
    import pathlib

    from modelscan.modelscan import ModelScan

    def read(path):
        """Scans the file, and fails as its command does: also if it scans nothing."""
        scan = ModelScan()
        scan.scan(pathlib.Path(path))
        if scan.errors or scan.issues.all_issues or not scan.scanned:
            raise ValueError(path)
elif PEER == "fickling":
    import zipfile

    from fickling.loader import scan_file, scan_zip_archive

    def read(path):
        """Scans the pickles of an archive, or the file as one."""
        is_archive = zipfile.is_zipfile(path)
        found = scan_zip_archive(path).values() if is_archive else [scan_file(path)]
        if not all(it.is_safe for it in found):
            raise ValueError(path)
elif PEER == "litert":
    from ai_edge_litert.interpreter import Interpreter

    def read(path):
        """Builds the interpreter and reserves its memory; runs nothing."""
        Interpreter(model_path=path).allocate_tensors()
elif PEER.startswith("executorch"):
    import torch  # pylint: disable=unused-import # its libraries
    from executorch.extension.pybindings import _C

    LEVEL = _C.Verification.Minimal
    if PEER == "executorch-verified":
        LEVEL = _C.Verification.InternalConsistency

    def read(path):
        """Loads the program and each method, which plans its memory; runs nothing."""
        program = _C._load_program(path, program_verification=LEVEL)
        for i in range(program.num_methods()):
            program.load_method(program.get_method_name(i))
elif PEER == "ztensor":
    import ztensor

    def read(path):
        """Verifies the file."""
        ztensor.verify(path)
else:
    from safetensors import safe_open

    def read(path):
        with safe_open(path, framework="np") as file:
            list(file.keys())


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        signal.alarm(SECONDS)
        try:
            read(line.strip())
        except BaseException:  # pylint: disable=broad-except
            os._exit(1)
        os._exit(0)
    print("accepts" if os.waitpid(child, 0)[1] == 0 else "refuses", flush=True)
