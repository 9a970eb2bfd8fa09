"""Real local Ray and Spark against an S3-compatible server on the loopback address: `make
test-python-engines`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, Iterator

import numpy as np
import pytest
from conftest import encode

ROWS = {"sound": "valid", "broken": "invalid", "other": "valid"}


@pytest.fixture(scope="module")
def options() -> Iterator[Dict[str, Any]]:
    """Options for accessing the bucket `models`."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1"}
    options = {"key": "k", "secret": "s", "client_kwargs": client}
    import s3fs

    fs = s3fs.S3FileSystem(**options)
    for bucket in ("models", "checkpoints"):
        fs.call_s3("create_bucket", Bucket=bucket)
    sound = encode({"a": np.zeros((4, 5), np.float32), "b": np.ones(3, np.int64)})
    fs.pipe("models/sound.safetensors", sound)
    fs.pipe("models/broken.safetensors", sound[:-1])
    checkpoint = Path(os.environ["WEIGHBRIDGE_FIXTURES"], "pytorch", "views-of-one-storage.pt")
    fs.pipe("checkpoints/views.pt", checkpoint.read_bytes())
    fs.pipe("models/deep/other.safetensors", encode({"c": np.zeros(1 << 20, np.float32)}))
    yield options
    server.stop()


def expected(row: Any) -> None:
    name = Path(row["file"]).stem
    if name == "none":
        assert row["verdict"] is None and "NotFound" in row["error"]
        return
    assert row["error"] is None
    assert row["verdict"] == ROWS[name]
    assert row["file"].startswith("s3://models/")
    rules = [it["rule"] for it in row["findings"]]
    assert rules == (["OFFSET-BOUNDS"] if name == "broken" else [])


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    # Leaves nothing in the home folder.
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 27)
    yield ray
    ray.shutdown()


def test_ray_reports(ray: Any, options: Dict[str, Any]) -> None:
    import weighbridge.ray

    paths = ["s3://models", "s3://models/none.gguf"]
    data = weighbridge.ray.read_reports(paths, storage_options=options, override_num_blocks=3)
    rows = data.take_all()
    assert sorted(Path(row["file"]).stem for row in rows) == ["broken", "none", "other", "sound"]
    for row in rows:
        expected(row)


def test_ray_tensors(ray: Any, options: Dict[str, Any]) -> None:
    import weighbridge.ray

    data = weighbridge.ray.read_tensors_index("s3://models/*.safetensors", storage_options=options)
    rows = data.take_all()
    assert sorted({row["name"] for row in rows}) == ["a", "b"]
    assert {tuple(row["shape"]) for row in rows} == {(4, 5), (3,)}


def test_ray_reads_checkpoints(ray: Any, options: Dict[str, Any]) -> None:
    import weighbridge.ray

    (row,) = weighbridge.ray.read_reports("s3://checkpoints", storage_options=options).take_all()
    assert (row["format"], row["verdict"]) == ("pytorch", "valid")
    data = weighbridge.ray.read_tensors_index("s3://checkpoints/*.pt", storage_options=options)
    names = {row["name"] for row in data.take_all()}
    assert names == {"w", "tied", "turned", "every-other", "b"}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    import weighbridge.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.dataSource.register(weighbridge.spark.WeighbridgeDataSource)
    yield session
    session.stop()


def test_spark_reports(spark: Any, options: Dict[str, Any]) -> None:
    reader = spark.read.format("weighbridge").option("storage_options", json.dumps(options))
    paths = json.dumps(["s3://models", "s3://models/none.gguf"])
    frame = reader.option("partitions", "3").load(paths)
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    assert sorted(Path(row["file"]).stem for row in rows) == ["broken", "none", "other", "sound"]
    for row in rows:
        expected(row)
    assert frame.where("verdict = 'invalid'").count() == 1


def test_spark_tensors(spark: Any, options: Dict[str, Any]) -> None:
    reader = spark.read.format("weighbridge").option("storage_options", json.dumps(options))
    frame = reader.option("rows", "tensors").load("s3://models/sound.safetensors")
    rows = {row["name"]: row for row in frame.collect()}
    assert rows["a"]["shape"] == [4, 5] and rows["b"]["dtype"] == "i64"


def test_spark_reads_checkpoints(spark: Any, options: Dict[str, Any]) -> None:
    reader = spark.read.format("weighbridge").option("storage_options", json.dumps(options))
    (row,) = reader.load("s3://checkpoints").collect()
    assert (row["format"], row["verdict"]) == ("pytorch", "valid")
    frame = reader.option("rows", "tensors").load("s3://checkpoints/views.pt")
    assert {row["name"]: row["shape"] for row in frame.collect()}["turned"] == [3, 2]
