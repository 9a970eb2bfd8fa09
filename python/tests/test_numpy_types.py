"""Arrays of text, dates, records and long floats: the types that NumPy itself gives them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest
import weighbridge as wb


def arrays() -> Dict[str, Any]:
    record = np.dtype(
        [("id", "<i2"), ("at", "<M8[us]"), ("name", "<U5"), ("xy", ">f4", (2,)), ("raw", "V3")]
    )
    records = np.zeros(3, record)
    records["id"] = [1, -2, 3]
    records["at"] = ["2024-02-29T12:00:00.25", "NaT", "1969-12-31T23:59:59"]
    records["name"] = ["cat", "é😀", ""]
    records["xy"] = [[0.5, 1.5], [2, 3], [-1, np.inf]]
    records["raw"] = [b"abc", b"\0\1\2", b""]
    inner = [("a", "u1"), ("b", "f8")]
    nested = np.array([((1, 2.0), b"x"), ((3, 4.0), b"yz")], [("in", inner), ("s", "S2")])
    return {
        "text": np.array([["cat", "dog"], ["é", "emu"]]),
        "big": np.array(["cat", "äöü"], ">U4"),
        "bytes": np.array([b"ab", b"c\0d", b""]),
        "void": np.array([b"\0\1\2", b"\xff"], "V3"),
        "dates": np.array(["2024-02-29", "NaT", "0001-01-01"], "M8[D]"),
        "steps": np.array([0, 3, -1], "<i8").view("M8[25us]"),
        "spans": np.array([0, -5, 7], ">i8").view(">m8[ms]"),
        "generic": np.array([1, 2], "i8").view("m8"),
        "long": np.array([1, 2.5, np.pi], "longdouble"),
        "complex": np.array([1 + 2j, -1j], "clongdouble"),
        "records": records,
        "aligned": np.array([(1, 2.5), (2, -1)], np.dtype([("a", "u1"), ("b", "f8")], align=True)),
        "titled": np.array([(1,), (2,)], [(("a title", "n"), "u2")]),
        "nested": nested,
        "empty": np.zeros((0, 2), "U7"),
        "scalar": np.array("one"),
        "columns": np.asfortranarray(np.array([["a", "bc", "d"], ["ef", "", "g"]])),
        "record columns": np.asfortranarray(np.zeros((2, 3), [("v", "u1")])),
    }


def same(found: Any, expected: Any) -> bool:
    """The same type in this machine's byte order, and equal elements; padding is not compared."""
    native = expected.dtype.newbyteorder("=")
    if found.dtype != native or found.shape != expected.shape:
        return False
    if native.names is not None:
        return all(same(found[name], expected[name]) for name in native.names)
    if native.kind in "Mm":
        found, expected = found.view("i8"), expected.astype(native).view("i8")
    return np.array_equal(found, expected)


def stored(how: str, array: Any) -> bytes:
    out = io.BytesIO()
    if how == "npy":
        np.save(out, array)
    else:
        {"npz": np.savez, "deflated": np.savez_compressed}[how](out, array=array)
    return out.getvalue()


@pytest.mark.parametrize("how", ["npy", "npz", "deflated"])
@pytest.mark.parametrize("name", list(arrays()))
def test_array_is_that_of_numpy(how: str, name: str, tmp_path: Path) -> None:
    array = arrays()[name]
    data = stored(how, array)
    theirs = np.load(io.BytesIO(data))
    theirs = theirs if how == "npy" else theirs["array"]
    path = tmp_path / ("file.npy" if how == "npy" else "file.npz")
    path.write_bytes(data)
    for source in (path, data, io.BytesIO(data)):
        with wb.open(source) as model:
            (tensor,) = model.tensors
            found = tensor.numpy()
            assert same(found, theirs), (found, theirs)
            assert not found.flags.writeable
            assert found.flags.f_contiguous == theirs.flags.f_contiguous
            if theirs.ndim > 0 and len(theirs) > 1:
                assert same(tensor.slice(1, 2), theirs[1:2])
    (loaded,) = wb.load(data).values()
    assert same(loaded, theirs) and loaded.flags.writeable


@pytest.mark.parametrize("how", ["npy", "npz", "deflated"])
def test_text_in_fields_is_checked(how: str) -> None:
    record = [("n", "U3"), ("in", [("t", ">U2", (2,)), ("k", "i4")])]
    array = np.array([("cat", (["é", "😀"], 1)), ("", (["", "ab"], -1))], record)
    data = stored(how, array)
    assert wb.check(data).verdict == "valid"
    (loaded,) = wb.load(data).values()
    assert same(loaded, array)
    # The big-endian text of the second record is no text any more.
    array.view("u1").reshape(2, -1)[1, 12] = 0xFF
    broken = wb.check(stored(how, array))
    assert broken.verdict == "invalid" and broken.findings[0].rule == "NPY-TEXT"
    with pytest.raises(wb.InvalidFile):
        wb.load(stored(how, array))


@pytest.mark.parametrize("how", ["npy", "npz", "deflated"])
def test_record_of_too_many_texts_is_unchecked(how: str) -> None:
    array = np.zeros(2, [("r", [("n", "u1"), ("t", "U1")], (17,))])
    with pytest.raises(wb.Unsupported, match="code points"):
        wb.load(stored(how, array))


def test_descr_is_that_of_the_header() -> None:
    for name, array in arrays().items():
        with wb.open(stored("npy", array)) as model:
            (tensor,) = model.tensors
            descr = np.lib.format.dtype_to_descr(array.dtype)
            assert tensor.descr is not None and eval(tensor.descr) == descr, name
    with wb.open(stored("npy", np.arange(3))) as model:
        assert model.tensors[0].descr is None


def test_long_numbers_of_python_2_are_read() -> None:
    data = stored("npy", np.zeros(2, [("a 3L", "<i2", (2,))]))
    short = data.replace(b"(2,))", b"(2L,)").replace(b"(2L,)]", b"(2L,))]", 1)
    with wb.open(short[: len(data)]) as model:
        (tensor,) = model.tensors
        assert "2L" in (tensor.descr or "")
        assert tensor.numpy().dtype.names == ("a 3L",)


def test_objects_and_types_of_other_machines_are_refused() -> None:
    from weighbridge._numpy import _described

    class Fake:
        dtype, elements, nbytes = "record", 1, 8

    refused = ("[('a', '|O')]", "'|O'", "'<f2048'", "'<i4'", "[('a', '<i4'), ('a', '<i4')]", "[")
    for descr in refused:
        with pytest.raises(wb.Unsupported):
            _described(Fake(), descr)  # type: ignore[arg-type]
