"""Open files, their tensors as arrays, and whole files as dictionaries."""

from __future__ import annotations

import gc
import io
import os
import sys
import tracemalloc
import weakref
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest
import weighbridge as wb
from weighbridge._options import Options


def same(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_tensors_by_name(sound: Path, weights: Dict[str, Any]) -> None:
    with wb.open(sound) as model:
        assert model.format == "safetensors" and model.size == sound.stat().st_size
        assert set(model.names) == set(weights) == set(model) == set(model.keys())
        assert len(model) == len(weights) and "a" in model and "z" not in model and 3 not in model
        assert model.metadata == {"format": "pt"}
        for tensor in model.tensors:
            assert same(tensor.numpy(), weights[tensor.name]), tensor
            assert same(np.asarray(tensor), weights[tensor.name])
        a = model["a"]
        assert (a.name, a.dtype, a.shape, a.nbytes, a.status) == ("a", "f32", (4, 6), 96, "sound")
        assert a.tobytes() == weights["a"].tobytes()
        assert a.values(3) == weights["a"].ravel()[:3].tolist()
        assert a.verify() == [] and model.check().is_valid
        with pytest.raises(KeyError, match="there is no tensor 'z'"):
            model["z"]


def test_every_way_to_open_gives_the_same(sound: Path, weights: Dict[str, Any]) -> None:
    data = sound.read_bytes()
    ways: Any = [
        lambda: wb.open(sound),
        lambda: wb.open(sound, mmap=True),
        lambda: wb.open(data),
        lambda: wb.open(bytearray(data)),
        lambda: wb.open(io.BytesIO(data)),
        lambda: wb.open(np.frombuffer(b"x" + data, np.uint8)[1:]),
    ]
    for way in ways:
        with way() as model:
            for name, array in weights.items():
                assert same(model[name].numpy(), array), name
                assert not model[name].numpy().flags.writeable
                assert same(model[name].numpy(dequantize=True), array)


def test_views_copy_nothing(sound: Path) -> None:
    data = sound.read_bytes()
    for source, mmap in ((data, False), (sound, True)):
        with wb.open(source, mmap=mmap) as model:
            a = model["a"].numpy()
            assert a.base is not None and np.shares_memory(a, model["a"].numpy())
            assert not np.shares_memory(model["truth"].numpy(), model["truth"].numpy())
            assert np.shares_memory(model["a"].slice(1, 3), a)


def test_slices(sound: Path, weights: Dict[str, Any]) -> None:
    for source in (sound.read_bytes(), io.BytesIO(sound.read_bytes())):
        with wb.open(source) as model:
            for name in ("a", "b", "half", "truth"):
                found = model[name].slice(1, 2)
                assert same(found, weights[name][1:2]), name
            assert model["a"].slice(4, 4).shape == (0, 6)
            for start, stop in ((3, 5), (2, 1)):
                with pytest.raises(ValueError):
                    model["a"].slice(start, stop)


def test_stats(sound: Path, weights: Dict[str, Any]) -> None:
    with wb.open(sound) as model:
        stats = model["a"].stats()
        assert stats is not None and stats.count == 24 and stats.nan == 0
        assert stats.min == weights["a"].min() and stats.max == weights["a"].max()
        assert stats.mean == pytest.approx(float(weights["a"].mean()), abs=1e-6)
        assert sum(stats.histogram or []) == 24 and "count=24" in repr(stats)


def test_closed(sound: Path) -> None:
    with wb.open(sound) as model:
        tensor = model["a"]
        array = tensor.numpy()
    assert array.shape == (4, 6)
    for call in (lambda: model.tensors, lambda: tensor.numpy(), lambda: model.check()):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert repr(model) == "<Model, closed>"
    model.close()


def test_nothing_keeps_a_model_alive(sound: Path) -> None:
    class File(io.BytesIO):
        pass

    file = File(sound.read_bytes())
    gone = weakref.ref(file)
    model = wb.open(file)
    tensor = model["a"]
    del file, model
    assert gone() is not None
    del tensor
    gc.collect()
    assert gone() is None


def test_what_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"<html>not here</html>")
    with pytest.raises(wb.WeighbridgeError):
        wb.open(path)
    with pytest.raises(FileNotFoundError, match="none"):
        wb.open(tmp_path / "none")
    with pytest.raises(wb.Unsupported):
        wb.open(b"\x89HDF\r\n\x1A\n and so on")


def test_a_large_file_is_read_as_needed(tmp_path: Path, encoder: Any) -> None:
    path = tmp_path / "large.safetensors"
    array = np.arange(5 << 20, dtype=np.float32)
    path.write_bytes(encoder({"a": array, "b": array[:7].reshape(7, 1)}))
    with wb.open(path) as model:
        assert same(model["b"].numpy(), array[:7].reshape(7, 1))
        assert same(model["a"].slice(1000, 2000), array[1000:2000])
        os.truncate(path, 1 << 20)
        with pytest.raises(OSError, match="changed"):
            model["a"].numpy()


def test_a_file_that_is_shortened_while_it_is_mapped(tmp_path: Path, encoder: Any) -> None:
    """A read by the package raises an error. Accessing an array of the file would kill the process,
    which is why files are mapped only on request."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(encoder({"a": np.arange(1 << 16, dtype=np.float32)}))
    with wb.open(path, mmap=True) as model:
        tensor = model["a"]
        assert tensor.numpy()[5] == 5.0
        os.truncate(path, 4096)
        for call in (tensor.stats, tensor.tobytes, tensor.values, model.verify_unchanged):
            with pytest.raises(OSError, match="changed"):
                call()
        with pytest.raises(OSError, match="changed"):
            model.check()
    with wb.open(path.rename(tmp_path / "b"), mmap=True) as model:
        with pytest.raises(wb.InvalidFile):
            model["a"].numpy()


def test_the_bytes_of_an_array_stay(encoder: Any, tmp_path: Path) -> None:
    tensors: Dict[str, Any] = {}
    for i, shape in enumerate([(), (64,), (8, 8)] * 3):
        tensors[str(i)] = np.full(shape, i, np.float32)
    tensors["none"] = np.zeros((0, 8), np.float32)
    path = tmp_path / "model.safetensors"
    path.write_bytes(encoder(tensors))
    for name, expected in tensors.items():
        data = bytearray(path.read_bytes())
        with wb.open(data) as model:
            arrays = [model[it].numpy() for it in (*tensors, name)]
            with pytest.raises(BufferError):
                data.clear()
        array = arrays.pop()
        del arrays, model
        gc.collect()
        if expected.size:
            with pytest.raises(BufferError):
                data.clear()
        else:  # it is not a view of the file
            data.clear()
        assert same(array, expected)
    with wb.open(path, mmap=True) as model:
        arrays = [model[name].numpy() for name in tensors]
    for array, expected in zip(arrays, tensors.values()):
        if expected.size:
            with pytest.raises(BufferError):
                array.base.base.obj.close()
        assert same(array, expected)


def test_empty_buffers() -> None:
    for nothing in (b"", bytearray(), memoryview(b""), np.zeros(0, np.uint8), io.BytesIO()):
        with pytest.raises(wb.WeighbridgeError):
            wb.open(nothing)


def test_a_file_that_is_replaced_while_it_is_mapped(sound: Path, monkeypatch: Any) -> None:
    from weighbridge import _open

    open_file, new = _open._open_file, sound.with_suffix(".new")

    def replaced(path: str) -> Any:
        file = open_file(path)
        new.write_bytes(sound.read_bytes())
        os.replace(new, sound)
        return file

    monkeypatch.setattr(_open, "_open_file", replaced)
    with pytest.raises(OSError, match="the file changed while it was opened"):
        wb.open(sound, mmap=True)


def test_tensors_of_one_shape(encoder: Any, tmp_path: Path) -> None:
    shapes = [(6,), (2, 3), (3, 2), (1, 2, 3), (2, 3, 1)] * 4 + [(i + 1,) for i in range(20)]
    tensors: Dict[str, Any] = {}
    for i, shape in enumerate(shapes):
        for dtype in (np.float32, np.int32):
            tensors[f"{i} {dtype.__name__}"] = (np.arange(np.prod(shape)) + i).astype(dtype).reshape(shape)
    data = encoder(tensors)
    path = tmp_path / "model.safetensors"
    path.write_bytes(data)
    for mapped in (False, True):
        with wb.open(path, mmap=mapped) as model:
            for _ in range(2):
                for name, expected in tensors.items():
                    array = model[name].numpy()
                    assert same(array, expected), name
                    assert array.flags.c_contiguous and array.flags.aligned
                    assert not array.flags.writeable and not array.flags.owndata
                    assert array.strides == expected.strides


def test_load_file(sound: Path, broken: Path, weights: Dict[str, Any]) -> None:
    from safetensors.numpy import load as their_load
    from safetensors.numpy import load_file as their_load_file

    for ours, theirs in (
        (wb.load_file(sound), their_load_file(sound)),
        (wb.load_file(str(sound)), weights),
        (wb.load(sound.read_bytes()), their_load(sound.read_bytes())),
    ):
        assert ours.keys() == theirs.keys()
        for name, array in ours.items():
            assert same(array, theirs[name]), name
            assert array.flags.writeable and array.flags.aligned
    loaded = wb.load_file(sound)
    loaded["a"][...] = 3
    assert same(loaded["b"], weights["b"])
    for load in (lambda: wb.load_file(broken), lambda: wb.load(broken.read_bytes())):
        with pytest.raises(wb.InvalidFile) as raised:
            load()
        assert raised.value.report is not None


def test_load_file_of_large_files(tmp_path: Path, encoder: Any) -> None:
    random = np.random.default_rng(2)
    tensors = {f"t{i:03}": random.normal(size=(i, 997)).astype(np.float32) for i in range(120)}
    tensors["large"] = random.normal(size=(3 << 20,)).astype(np.float32)
    path = tmp_path / "large.safetensors"
    path.write_bytes(encoder(tensors))
    assert path.stat().st_size > 16 << 20
    seen = []
    loaded = wb.load_file(path, progress=lambda read, size: seen.append((read, size)))
    assert list(loaded) == list(tensors) and seen
    for name, array in tensors.items():
        assert same(loaded[name], array), name
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(wb.InvalidFile):
        wb.load_file(path)


def test_every_number_of_unaligned_files(encoder: Any) -> None:
    odd = np.arange(3, dtype=np.uint8)
    array = np.arange(5, dtype=np.float64)
    data = encoder({"odd": odd, "array": array})
    loaded = wb.load(data)
    assert same(loaded["array"], array) and loaded["array"].flags.aligned
    with wb.open(data) as model:
        assert same(model["array"].numpy(), array) and model["array"].numpy().flags.aligned


def test_empty_tensors_wherever_they_lie(fixtures: Path) -> None:
    for path in (fixtures / "ztensor").glob("*empty*"):
        data = path.read_bytes()
        for source in (data, io.BytesIO(data), path):
            with wb.open(source) as model:
                for tensor in model.tensors:
                    if (tensor.status, tensor.encoding, tensor.elements) == ("sound", "raw", 0):
                        assert tensor.numpy().size == 0


def test_truth_values_are_zero_or_one(encoder: Any) -> None:
    data = encoder({"truth": ("BOOL", [4], b"\0\1\2\xff")})
    expected = np.array([False, True, True, True])
    assert same(wb.load(data, lenient=True)["truth"], expected)
    with wb.open(data) as model:
        assert same(model["truth"].numpy(), expected)


def test_narrow_floats(encoder: Any) -> None:
    import ml_dtypes

    types = {
        "BF16": ml_dtypes.bfloat16,
        "F8_E4M3": ml_dtypes.float8_e4m3fn,
        "F8_E5M2": ml_dtypes.float8_e5m2,
    }
    for name, dtype in types.items():
        every = np.arange(256 if name != "BF16" else 65536).astype(f"u{np.dtype(dtype).itemsize}")
        data = encoder({"t": (name, [every.size // 8, 8], every.tobytes())})
        expected = every.view(dtype).reshape(-1, 8)
        with wb.open(data) as model, wb.open(io.BytesIO(data)) as read:
            for tensor in (model["t"], read["t"]):
                assert same(tensor.numpy(), expected), name
                floats = tensor.numpy(dequantize=True)
                assert floats.dtype == np.float32
                np.testing.assert_array_equal(floats, expected.astype(np.float32))
                np.testing.assert_array_equal(
                    tensor.slice(1, 3, dequantize=True), floats[1:3]
                )
        assert same(wb.load(data)["t"], expected)


def test_narrow_floats_without_ml_dtypes(encoder: Any, monkeypatch: Any) -> None:
    data = encoder({"t": ("BF16", [2], b"\x80\x3f\x00\x40")})
    code = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import warnings, weighbridge as wb, numpy as np\n"
        f"data = {data!r}\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    array = wb.open(data)['t'].numpy()\n"
        "    assert array.dtype == np.uint16 and array.tolist() == [0x3f80, 0x4000], array\n"
        "    assert seen[0].category is wb.RawElementsWarning, seen\n"
        "    assert 'install ml_dtypes' in str(seen[0].message)\n"
        "    assert wb.open(data)['t'].numpy(dequantize=True).tolist() == [1.0, 2.0]\n"
        "    assert wb.load(data)['t'].dtype == np.uint16\n"
    )
    import subprocess

    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_check_needs_no_numpy(sound: Path) -> None:
    import subprocess

    code = (
        "import sys; sys.modules['numpy'] = None\n"
        f"import weighbridge as wb; assert wb.check({str(sound)!r}).is_valid\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_names_can_be_had_without_pytorch() -> None:
    import subprocess

    code = "import sys; sys.modules['torch'] = None\nfrom weighbridge import *\nload_file, check\n"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_is_in_the_wheel(sound: Path, broken: Path) -> None:
    import subprocess

    for command in ([sys.executable, "-m", "weighbridge"], [os.path.dirname(sys.executable) + "/weighbridge"]):
        for path, status in ((sound, 0), (broken, 1)):
            run = subprocess.run([*command, "check", "--json", str(path)], capture_output=True)
            assert run.returncode == status
            assert run.stdout.decode() == wb.check(path).to_json() + "\n"


def test_sparse_tensors_are_no_arrays(fixtures: Path) -> None:
    refused = 0
    for path in sorted((fixtures / "ztensor").glob("coo-*.zt")):
        try:
            model = wb.open(path)
        except wb.InvalidFile:
            continue
        with model:
            for tensor in model.tensors:
                tracemalloc.start()
                with pytest.raises((wb.Unsupported, wb.InvalidFile)):
                    tensor.numpy()
                # Some shapes declare gigabytes.
                assert tracemalloc.get_traced_memory()[1] < 1 << 20, path
                tracemalloc.stop()
                refused += 1
    assert refused > 10


def test_a_session_has_no_report_before_its_end() -> None:
    session = wb.Session(100, Options())
    with pytest.raises(ValueError, match="the check has not finished"):
        session.report()


def _field(number: int, content: bytes) -> bytes:
    """A field of Protocol Buffers with fewer than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


@pytest.mark.parametrize("mmap", [False, True])
def test_onnx_data_in_other_file_is_read(tmp_path: Path, mmap: bool) -> None:
    location = _field(1, b"location") + _field(2, b"w.bin")
    # Two floats, and data that is external.
    tensor = b"\x08\x02\x10\x01" + _field(8, b"w") + _field(13, location) + b"\x70\x01"
    graph = _field(2, b"g") + _field(5, tensor)
    opset = b"\x10\x15"
    model = b"\x08\x0a" + _field(7, graph) + _field(8, opset)
    path = tmp_path / "m.onnx"
    path.write_bytes(model)
    data = np.array([1.5, -2.0], "<f4")
    (tmp_path / "w.bin").write_bytes(data.tobytes())
    with wb.open(path, mmap=mmap) as opened:
        tensor_of_w = opened["w"]
        assert tensor_of_w.numpy().tolist() == data.tolist()
        assert tensor_of_w.span is None
    assert wb.check(path).is_valid
    (tmp_path / "w.bin").write_bytes(b"short")
    assert not wb.check(path).is_valid
