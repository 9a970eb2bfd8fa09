"""Folders of models as libraries write them, without a download: `scripts/folders.sh`.

Writes each folder below the first argument, and prints its name, the exit code that a gate should
give, and why.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

root = Path(sys.argv[1])
os.environ["HF_HOME"] = str(root.parent / "home")
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_DISABLE_XET"] = "1"


class Hub(BaseHTTPRequestHandler):
    """Enough of the hub to download a model from."""

    commit = "0123456789abcdef0123456789abcdef01234567"
    files: Dict[str, bytes] = {}

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        name = self.path.split("/resolve/", 1)[-1].split("/", 1)[-1].split("?")[0]
        if "/tree/" in self.path:
            listed = [
                {"type": "file", "path": name, "size": len(data), "oid": "0" * 40}
                for name, data in self.files.items()
            ]
            self.send(json.dumps(listed).encode(), body)
        elif "/api/models/" in self.path:
            listed = [{"rfilename": name} for name in self.files]
            about = {"id": "org/model", "sha": self.commit, "siblings": listed}
            self.send(json.dumps(about).encode(), body)
        elif name in self.files:
            self.send(self.files[name], body)
        else:
            self.send_error(404)

    def send(self, data: bytes, body: bool) -> None:
        import hashlib

        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("X-Repo-Commit", self.commit)
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


server = HTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["HF_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"

import torch  # noqa: E402
from transformers import (  # noqa: E402
    BertConfig,
    BertModel,
    BertTokenizerFast,
    LlamaConfig,
    LlamaForCausalLM,
    TrainingArguments,
)

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "c"]


def bert() -> BertModel:
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 16}
    return BertModel(BertConfig(vocab_size=len(WORDS), num_attention_heads=2, **sizes))


def tokenizer(folder: Path) -> BertTokenizerFast:
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(WORDS))
    return BertTokenizerFast(str(vocabulary))


def llama() -> LlamaForCausalLM:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 32}
    return LlamaForCausalLM(LlamaConfig(vocab_size=32, num_attention_heads=2, **sizes))


def transformers_model(folder: Path) -> None:
    bert().save_pretrained(folder)
    tokenizer(folder).save_pretrained(folder)


def transformers_shards(folder: Path) -> None:
    llama().save_pretrained(folder, max_shard_size="8KB")


def torch_bin(folder: Path) -> None:
    transformers_model(folder)
    (folder / "model.safetensors").unlink()
    torch.save(bert().state_dict(), folder / "pytorch_model.bin")


def trained(folder: Path) -> None:
    """What a Trainer leaves: its arguments are a pickle of a class of transformers."""
    transformers_model(folder)
    torch.save(TrainingArguments(output_dir=str(folder)), folder / "training_args.bin")


def with_optimizer(folder: Path) -> None:
    model = bert()
    model.save_pretrained(folder)
    optimizer = torch.optim.AdamW(model.parameters())
    sum(it.square().sum() for it in model.parameters()).backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), folder / "optimizer.pt")


def remote_code(folder: Path) -> None:
    transformers_model(folder)
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "modeling_x.XModel"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling_x.py").write_text("class XModel: ...\n")


def sentences(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer, models

    inner = folder.parent / "inner"
    transformers_model(inner)
    word = models.Transformer(str(inner))
    SentenceTransformer(modules=[word, models.Pooling(8)]).save(str(folder))


def adapter(folder: Path) -> None:
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(r=4, target_modules=["q_proj", "v_proj"])
    get_peft_model(llama(), config).save_pretrained(folder)


def diffusers_part(folder: Path) -> None:
    from diffusers import AutoencoderKL, DDPMScheduler

    vae = AutoencoderKL(block_out_channels=(8,), norm_num_groups=4, latent_channels=2)
    vae.save_pretrained(folder / "vae")
    DDPMScheduler().save_pretrained(folder / "scheduler")


def missing_shard(folder: Path) -> None:
    transformers_shards(folder)
    next(iter(sorted(folder.glob("model-*.safetensors")))).unlink()


def hub_cache(folder: Path) -> None:
    from huggingface_hub import snapshot_download

    inner = folder.parent / "inner"
    transformers_model(inner)
    Hub.files = {it.name: it.read_bytes() for it in inner.iterdir() if it.is_file()}
    snapshot_download("org/model", cache_dir=folder)


def damaged_cache(folder: Path) -> None:
    hub_cache(folder)
    blobs = (it for it in folder.rglob("blobs/*") if it.is_file())
    blob = max(blobs, key=lambda it: it.stat().st_size)
    data = bytearray(blob.read_bytes())
    data[-1] ^= 1
    blob.chmod(0o644)
    blob.write_bytes(data)


FOLDERS: Dict[str, Tuple[int, str, Callable[[Path], None]]] = {
    "transformers": (0, "weights, settings and a tokenizer", transformers_model),
    "transformers-shards": (0, "shards and their index", transformers_shards),
    "sentence-transformers": (0, "a model with a pooling layer", sentences),
    "peft": (0, "a LoRA adapter", adapter),
    "diffusers": (0, "an autoencoder and a scheduler", diffusers_part),
    "torch-bin": (0, "pytorch_model.bin, whose pickle imports nothing off the list", torch_bin),
    "optimizer": (0, "optimizer.pt beside the weights", with_optimizer),
    "trainer": (1, "training_args.bin, which would run transformers", trained),
    "remote-code": (1, "auto_map names modeling_x.py", remote_code),
    "missing-shard": (1, "the index lists a shard that is not there", missing_shard),
    "hub-cache": (0, "the cache of huggingface_hub", hub_cache),
    "hub-cache-damaged": (1, "a blob with one other bit", damaged_cache),
}

for name, (code, what, write) in FOLDERS.items():
    write(root / name)
    print(f"{code}\t{name}\t{what}", flush=True)
server.shutdown()
