"""Checks a moto bucket with the command, and the same files on disk: the verdicts must match.

python scripts/remote.py COMMAND FOLDER
"""

import json
import logging
import os
import pathlib
import subprocess
import sys

import boto3
from moto.server import ThreadedMotoServer

command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
host, port = server.get_host_and_port()
keys = {"AWS_ACCESS_KEY_ID": "ID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_REGION": "us-east-1"}
endpoint = f"http://127.0.0.1:{port}"
bucket = boto3.resource(
    "s3", endpoint_url=endpoint, region_name="us-east-1",
    aws_access_key_id="ID", aws_secret_access_key="SECRET",
).create_bucket(Bucket="box")

# Every tenth fixture of each format, and more files than fit on one page of a listing.
files = [path for kind in sorted(folder.iterdir()) for path in sorted(kind.iterdir())[::10]]
for path in files:
    bucket.put_object(Key=f"models/{path.relative_to(folder)}", Body=path.read_bytes())
sound = next(path for path in files if path.suffix == ".stb").read_bytes()
for i in range(1_050):
    bucket.put_object(Key=f"many/{i:04}.stb", Body=sound[:64])


def check(*args, cwd=None):
    """The exit code, and the report on each file by name."""
    environment = {**os.environ, **keys, "AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true"}
    run = subprocess.run(
        [command, "check", "--no-config", "--json", *args],
        capture_output=True, text=True, env=environment, cwd=cwd,
    )
    return run.returncode, {(line := json.loads(text))["file"]: line for text in run.stdout.splitlines()}


code, remote = check("s3://box/models/", "--payloads", "--jobs", "4")
on_disk, local = check(".", "--jobs", "2", cwd=folder)
assert code == 1, code
requests = 0
for path in files:
    name = path.relative_to(folder)
    there, here = remote.pop(f"s3://box/models/{name}"), local[f"./{name}"]
    read = there.pop("read", None)
    # A file beside models may say nothing of how it was read; a model never may.
    assert read is not None or there["class"] != "model", there
    if read is not None:
        requests += read["requests"]
        assert read["round_trips"] <= read["requests"], read
    assert {**there, "file": here["file"]} == here, (there, here)
assert not remote, remote
_, many = check("s3://box/many/", "--structure", "--jobs", "8", "--include", "*.stb")
assert len(many) == 1_050, len(many)
assert check("s3://box/none.stb")[0] == 2
print(f"remote: {len(files)} files in moto have the same verdicts as on disk, in {requests} requests; {len(many)} more were listed")
server.stop()
