"""Models as safetensors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Optional, Union

from . import _native
from ._options import Bar, Options, Progress

if TYPE_CHECKING:
    StrPath = Union[str, "os.PathLike[str]"]


def convert(
    source: StrPath,
    target: StrPath,
    *,
    dequantise: Optional[str] = None,
    max_shard_size: Union[int, str, None] = None,
    overwrite: bool = False,
    force: bool = False,
    format: Optional[str] = None,
    lenient: bool = False,
    max_work: Optional[int] = None,
    memory: Optional[int] = None,
    progress: Optional[Progress] = None,
    tqdm: bool = False,
) -> _native.Converted:
    """Writes a model as safetensors, whatever its format, without loading it into memory.

    The files appear only when all of them are complete.

    Args:
        source: The path of a file, of an index of shards, or of the first part of a split model.
        target: Where to write.
        dequantise: Write quantised elements as `f32`, `f16` or `bf16` instead of refusing them.
        max_shard_size: Write several files with at most this much data each, as a number of
            bytes or like `5GB`, and an index.
        overwrite: Replace files that exist.
        force: Convert an invalid model too, and leave out what cannot be written.
        format: Read the file as this format instead of detecting the format.
        lenient: Accept files that break the specification but can be read safely.
        max_work: Limit on decoding, in decoded bytes.
        memory: Bytes of memory for comparing names and regions.
        progress: Called with the number of bytes read so far and the size of the file.
        tqdm: Show a tqdm bar.

    Raises:
        InvalidFile: The model is invalid.
        Unsupported: The format is not read, or tensors cannot be written; all are named.
        OSError: A file cannot be read or written, or is in the way.
    """
    path = os.fspath(source)
    size = None if max_shard_size is None else str(max_shard_size)
    options = Options(format, lenient, False, (), max_work, memory)
    with Bar(progress, tqdm, path) as bar:
        options = options._replace(progress=bar.callback)
        return _native.convert_path(
            path, os.fspath(target), options, dequantise, size, overwrite, force
        )
