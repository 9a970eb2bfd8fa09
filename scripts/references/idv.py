"""Reads data views with ML.NET 1.5, from published Python packages.

    pip install pythonnet==3.0.5 dotnetcore2==3.1.23
    pip download --no-deps --only-binary=:all: --python-version 3.8 \\
        --platform manylinux1_x86_64 nimbusml==1.8.0 -d WHEELS
    unzip WHEELS/nimbusml*.whl 'nimbusml/internal/libs/Microsoft.ML.*' -d MLNET
    export WEIGHBRIDGE_MLNET=MLNET/nimbusml/internal/libs

nimbusml carries ML.NET for Python 3.8 at most; its assemblies are loaded here with the runtime of
dotnetcore2, whatever the Python version.
"""

import json
import os
import pathlib
import struct
import sys
import tempfile

FORMAT = "idv"

# Rules that the loader does not check, with the reason.
ACCEPTED = {
    "T.name.utf8": "bad UTF-8 is replaced",
    "T.codec.name": "bad UTF-8 is replaced, and lengths need not be as short as possible",
    "T.codec.len": "numbers need not be as short as possible",
    "T.codec.depth": "codecs nest without a bound",
    "T.codec.vec.inner": "unknown items are not checked",
    "T.name": "numbers need not be as short as possible, or lose bits above 32",
    "T.rpb": "numbers need not be as short as possible",
    "T.rpb.range": "numbers lose bits above 32",
    "T.lookup.range": "a product wraps",
    "T.slots.range": "versions that have slot names are not read",
    "M.kind": "bad UTF-8 is replaced",
    "M.size": "numbers need not be as short as possible",
    "M.count": "numbers need not be as short as possible",
    "M.count.mismatch": "a table may reach into the next",
    "R.overlap": "regions may share bytes",
    "L.offset": "columns that cannot be read are not checked",
    "B.none.len": "for a stored block, the recorded length is used",
    "B.decomp.len": "no more than the recorded bytes are decoded",
    "B.deflate": "no more than the recorded bytes are decoded",
    "B.deflate.end": "no more than the recorded bytes are decoded",
    "B.deflate.trail": "no more than the recorded bytes are decoded",
    "B.stray": "bytes after a payload are not checked",
    "B.bool.pad": "unused bits are not checked",
    "B.key.range": "keys beyond the key count are read as missing",
    "B.text.utf8": "bad UTF-8 is replaced",
    "B.text.na": "missing texts are read as empty",
    "B.vec.ni": "the number of indices is not compared with their sum",
    "B.vec.indices": "the number of indices is not compared with their sum",
    "B.vec.total": "the number of values is not compared with their sum",
}

# Files that the loader refuses and we accept, by its message.
ONLY_OURS = {
    "Index (zero based) must be greater than or equal to zero":
        "the warning about an annotation that is skipped is itself an error",
    "Cannot read version": "older versions are listed without their payloads",
    "Unexpected version 1.1.1.1": "older versions are listed without their payloads",
    "rows per block": "columns of different rows per block are legal",
    "but the handler consumed": "after an unknown codec inside another, the rest is not skipped",
    "One of the identified items was in an invalid format": "keys that do not begin at 0, or have gaps, are lints",
}

# Why the loader does not show a column that we show.
DEAD = {
    "T.comp.zlib": "zlib is documented, and no release reads it",
    "T.comp.unknown": "an unknown compression",
    "T.codec.unknown": "an unknown codec",
}


# Codecs that releases before 1.5 wrote and 1.5 does not register.
OLD = {"RowId", "UInt128"}


def start():
    """Loads the entry points of ML.NET."""
    import dotnetcore2
    from clr_loader import get_coreclr
    from pythonnet import set_runtime

    os.environ["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "1"
    config = {"runtimeOptions": {
        "framework": {"name": "Microsoft.NETCore.App", "version": "3.1.23"},
        "configProperties": {"System.Globalization.Invariant": True}}}
    place = pathlib.Path(tempfile.mkdtemp()) / "runtimeconfig.json"
    place.write_text(json.dumps(config))
    root = pathlib.Path(dotnetcore2.__file__).parent / "bin"
    set_runtime(get_coreclr(runtime_config=str(place), dotnet_root=str(root)))
    import clr

    libraries = os.environ["WEIGHBRIDGE_MLNET"]
    sys.path.append(libraries)
    for assembly in ["DataView", "Core", "Data"]:
        clr.AddReference(os.path.join(libraries, f"Microsoft.ML.{assembly}.dll"))


def tell(path):
    """The columns and all their values."""
    from Microsoft.ML import BinaryLoaderSaverCatalog, DebuggerExtensions, MLContext
    from System import NullReferenceException  # noqa: F401, proves that the runtime is up

    view = BinaryLoaderSaverCatalog.LoadFromBinary(MLContext().Data, path)
    # The limit given to `inspect --values`; a view without columns may claim any number.
    rows = min(view.GetRowCount() or 0, 100_000)
    shown = DebuggerExtensions.Preview(view, int(rows))
    return [{"name": column.Column.Name, "values": [plain(value) for value in column.Values]}
            for column in shown.ColumnView]


def plain(value):
    """A .NET value as JSON."""
    kind = value.GetType().FullName if hasattr(value, "GetType") else ""
    if kind.startswith("Microsoft.ML.Data.VBuffer"):
        stored = {int(pair.Key): plain(pair.Value) for pair in value.Items(False)}
        if value.Length > 100_000:
            return {"length": value.Length, "stored": sorted(stored.items())}
        zero = next(iter(stored.values()), 0)
        zero = type(zero)() if isinstance(zero, (bool, int, float, str)) else None
        return [stored.get(i, zero) for i in range(value.Length)]
    if kind.startswith("System.ReadOnlyMemory"):
        # Unpaired surrogates cannot cross the border as text.
        from System.Text import Encoding
        return bytes(Encoding.Unicode.GetBytes(value.ToArray())).decode("utf-16-le")
    if kind in ("System.TimeSpan", "System.DateTime"):
        return int(value.Ticks)
    if kind == "System.DateTimeOffset":
        return [int(value.Ticks), int(value.Offset.TotalMinutes)]
    if kind == "Microsoft.ML.Data.DataViewRowId":
        return [int(value.Low), int(value.High)]
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value


def ours(shown):
    """The same facts from `inspect --json`."""
    return [{"name": tensor["name"], "values": [dense(value) for value in tensor["values"]]}
            for tensor in shown["tensors"]
            if tensor.get("values") is not None and tensor.get("codec") not in OLD]


def dense(value):
    """A sparse vector filled with its zeros."""
    if not isinstance(value, dict) or "indices" not in value:
        return value
    pairs = dict(zip(value["indices"], value["values"]))
    if value["length"] > 100_000:
        return {"length": value["length"], "stored": sorted(pairs.items())}
    zero = next(iter(value["values"]), 0)
    zero = type(zero)() if isinstance(zero, (bool, int, float, str)) else None
    return [pairs.get(i, zero) for i in range(value["length"])]


def paired(mine, theirs, rules):
    """Our columns without those that the loader does not show, if a rule explains why."""
    if len(mine) == len(theirs) or not rules & DEAD.keys():
        return mine
    left = list(theirs)
    return [one for one in mine if left and one["name"] == left[0]["name"] and left.pop(0)]


def same(mine, theirs):
    """Whether two columns have the same content."""
    return mine == theirs or folded(mine) == folded(theirs)


def folded(value):
    """Replaces values that the loader does not distinguish: a missing value and its substitute,
    -0.0 and 0.0, an unpaired surrogate and its replacement."""
    if isinstance(value, dict) and "utf16" in value:
        units = struct.pack(f"<{len(value['utf16'])}H", *value["utf16"])
        return units.decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {key: folded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        # A missing time with an offset is 0 with none.
        return 0 if list(value) == [0, 0] else [folded(item) for item in value]
    if value is None or value == "NaN":
        return 0
    return value if value else 0
