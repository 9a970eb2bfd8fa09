#!/usr/bin/env python3
"""Writes files with ggml's Python package, and verifies that we accept each.

    pip install gguf==0.19.0
    cargo build -p weighbridge-cli
    python3 scripts/gguf_writer.py target/debug/weighbridge FOLDER

Models of every architecture that the package names, with every tokenizer it has converters for;
splits, projectors, adapters, importance matrices, vocabularies, and files without a tokenizer. All
of them are sound: any file that is not valid is printed with its findings, and the exit code is 1.
The same applies if our summary counts different total or active parameters than the package.
"""

import json
import pathlib
import subprocess
import sys

import numpy
from gguf import GGUFEndian, GGUFWriter, GGMLQuantizationType, TokenType
from gguf.constants import MODEL_ARCH_NAMES
from gguf.quants import quantize

WIDTH, BLOCKS = 32, 2
TEMPLATE = "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}{% endfor %}"
# Not all layers of these have attention heads, if any; converters store 0.
HEADLESS = ("mamba", "mamba2", "rwkv6", "rwkv7", "rwkv6qwen2", "arwkv7")
HYBRID = ("jamba", "granitehybrid", "nemotron_h", "plamo2", "lfm2", "falcon-h1", "deci", "openelm")


def sentencepiece(writer, model="llama", more=40):
    """Three special tokens, one per byte, and some words, like the converters of SentencePiece."""
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    types = [TokenType.UNKNOWN] + [TokenType.CONTROL] * 2 + [TokenType.BYTE] * 256
    tokens += [f"\u2581word{i}" for i in range(more)]
    types += [TokenType.NORMAL] * (more - 2) + [TokenType.USER_DEFINED, TokenType.UNUSED]
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(i) for i in range(len(tokens))])
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    return len(tokens)


def byte_pairs(writer, pre="gpt-2"):
    tokens = [chr(0x100 + i) for i in range(256)] + ["he", "hel", "<|endoftext|>", "[PAD259]"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.NORMAL] * 258 + [TokenType.CONTROL, TokenType.UNUSED])
    writer.add_token_merges(["h e", "he l"])
    writer.add_bos_token_id(258)
    writer.add_eos_token_id(258)
    return len(tokens)


def word_pieces(writer, count=120):
    """Like a small BERT with its own ids: it has no 101st token."""
    writer.add_tokenizer_model("bert")
    writer.add_token_list([b"[PAD]", b"[UNK]", b"[CLS]", b"[SEP]", b"[MASK]"] + [b"w%d" % i for i in range(count - 5)])
    writer.add_token_scores([-1000.0] * count)
    writer.add_token_types([TokenType.CONTROL] * 5 + [TokenType.NORMAL] * (count - 5))
    for add, token in zip(("unk", "sep", "pad", "mask"), (1, 3, 0, 4)):
        getattr(writer, f"add_{add}_token_id")(token)
    writer.add_uint32("tokenizer.ggml.cls_token_id", 2)
    writer.add_token_type_count(2)
    return count


def unigram(writer):
    writer.add_tokenizer_model("t5")
    writer.add_token_list(["<pad>", "</s>", "<unk>", "a", "b"])
    writer.add_token_scores([0.0] * 5)
    writer.add_token_types([3, 3, 2, 1, 1])
    writer.add_precompiled_charsmap(bytes([4, 0, 0, 0, 1, 2, 3, 4, 5]))
    writer.add_add_eos_token(True)
    return 5


def rwkv(writer):
    writer.add_tokenizer_model("rwkv")
    writer.add_token_list([f"<{i}>" for i in range(40)])
    writer.add_token_types([TokenType.NORMAL] * 40)
    return 40


def none(writer):
    writer.add_tokenizer_model("none")
    writer.add_vocab_size(99)
    return 99


def plain(writer, arch, heads=4, heads_kv=2):
    writer.add_type("model")
    writer.add_name("recipe")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(64)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads_kv)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(0)
    if arch.endswith("moe") or arch in ("dbrx", "grok", "deepseek2", "llama4"):
        writer.add_expert_count(8)
        writer.add_expert_used_count(2)


def tensors(writer, rows):
    writer.add_tensor("output_norm.weight", numpy.ones(WIDTH, numpy.float32))
    embedding = numpy.random.default_rng(7).standard_normal((rows, WIDTH), numpy.float32)
    writer.add_tensor("token_embd.weight", embedding)
    for block in range(BLOCKS):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{block}.{name}.weight", numpy.ones(WIDTH, numpy.float32))
        packed = quantize(embedding[:4], GGMLQuantizationType.Q8_0)
        writer.add_tensor(f"blk.{block}.ffn_up.weight", packed, raw_dtype=GGMLQuantizationType.Q8_0)


def models():
    tokenizers = (sentencepiece, byte_pairs, word_pieces, unigram, rwkv, none)
    for i, arch in enumerate(sorted(MODEL_ARCH_NAMES.values())):
        def write(writer, arch=arch, tokenizer=tokenizers[i % len(tokenizers)]):
            if arch in HEADLESS:
                plain(writer, arch, 0, 0)
            elif arch in HYBRID:
                plain(writer, arch, [4, 0], [2, 0])
            else:
                plain(writer, arch)
            rows = tokenizer(writer)
            writer.add_chat_template(TEMPLATE)
            tensors(writer, rows)
        yield f"model-{arch}", arch, {}, write
    for arch in ("llama", "qwen2", "gemma", "bert", "falcon"):
        for tokenizer in tokenizers:
            def write(writer, arch=arch, tokenizer=tokenizer):
                plain(writer, arch)
                tensors(writer, tokenizer(writer))
            yield f"{arch}-{tokenizer.__name__}", arch, {}, write


def odd():
    def templates(writer):
        plain(writer, "llama")
        tensors(writer, sentencepiece(writer))
        writer.add_chat_template([
            {"name": "default", "template": TEMPLATE},
            {"name": "tool_use", "template": TEMPLATE},
        ])
    yield "templates", "llama", {}, templates
    yield "big-endian", "llama", {"endianess": GGUFEndian.BIG}, templates

    def vocabulary(writer):
        plain(writer, "llama")
        sentencepiece(writer)
    yield "vocabulary-only", "llama", {}, vocabulary

    def adapter(writer):
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", 16.0)
        for side, shape in (("a", (8, WIDTH)), ("b", (300, 8))):
            writer.add_tensor(f"token_embd.weight.lora_{side}", numpy.zeros(shape, numpy.float32))
    yield "adapter", "llama", {}, adapter

    def projector(writer):
        writer.add_type("mmproj")
        writer.add_clip_has_vision_encoder(True)
        writer.add_clip_projector_type("gemma3")
        writer.add_vision_projection_dim(WIDTH)
        writer.add_vision_patch_size(14)
        writer.add_vision_image_size(896)
        writer.add_vision_embedding_length(WIDTH)
        writer.add_vision_feed_forward_length(64)
        writer.add_vision_block_count(BLOCKS)
        writer.add_vision_head_count(0)
        writer.add_vision_image_mean([0.5] * 3)
        writer.add_tensor("v.patch_embd.weight", numpy.zeros((WIDTH, 3, 14, 14), numpy.float32))
    yield "mmproj", "clip", {}, projector

    def audio(writer):
        writer.add_type("mmproj")
        writer.add_clip_has_audio_encoder(True)
        writer.add_clip_projector_type("ultravox")
        writer.add_uint32("clip.audio.block_count", BLOCKS)
        writer.add_uint32("clip.audio.attention.head_count", 4)
        writer.add_tensor("a.conv1d.1.weight", numpy.zeros((4, 4, 3), numpy.float16))
    yield "mmproj-audio", "clip", {}, audio

    def importance(writer):
        writer.add_type("imatrix")
        writer.add_array("imatrix.datasets", ["wiki.txt"])
        writer.add_uint32("imatrix.chunk_count", 10)
        writer.add_uint32("imatrix.chunk_size", 512)
        writer.add_tensor("blk.0.ffn_up.weight.in_sum2", numpy.ones((1, WIDTH), numpy.float32))
        writer.add_tensor("blk.0.ffn_up.weight.counts", numpy.ones((1, 1), numpy.float32))
    yield "imatrix", "imatrix", {}, importance

    def control(writer):
        writer.add_string("controlvector.model_hint", "llama")
        writer.add_uint32("controlvector.layer_count", BLOCKS)
        writer.add_tensor("direction.1", numpy.ones(WIDTH, numpy.float32))
    yield "control-vector", "controlvector", {}, control

    def diffusion(writer):
        writer.add_quantization_version(2)
        writer.add_tensor("double_blocks.0.img_attn.qkv.weight", numpy.ones((6, WIDTH), numpy.float16))
    yield "diffusion", "flux", {}, diffusion

    def whisper(writer):
        writer.add_uint32("whisper.encoder.attention.head_count", 6)
        writer.add_tensor("encoder.conv1.weight", numpy.ones((6, 8, 3), numpy.float16))
    yield "whisper", "whisper", {}, whisper

    def nothing(_):
        pass
    yield "nothing", "llama", {}, nothing

    def layers(writer):
        plain(writer, "llama", [4, 2], [2, 1])
        tensors(writer, byte_pairs(writer, "llama-bpe"))
    yield "heads-by-layer", "llama", {}, layers


    def experts(writer):
        plain(writer, "llama")
        writer.add_expert_count(8)
        writer.add_expert_used_count(2)
        tensors(writer, byte_pairs(writer))
        for block in range(BLOCKS):
            for name, shape in (("gate", (8, 64, WIDTH)), ("down", (8, WIDTH, 64))):
                writer.add_tensor(f"blk.{block}.ffn_{name}_exps.weight", numpy.ones(shape, numpy.float16))
    yield "experts", "llama", {}, experts


def split():
    def write(writer):
        plain(writer, "llama")
        tensors(writer, sentencepiece(writer))
    yield "split", "llama", {"split_max_tensors": 3}, write
    yield "split-first-small", "qwen2", {"split_max_tensors": 3, "small_first_shard": True}, write


def summary(program, path):
    """Total parameters in our summary, active parameters per token, and other elements."""
    run = subprocess.run([program, "inspect", "--summary", "--json", path], capture_output=True, text=True, check=False)
    found = json.loads(run.stdout)["summary"]
    return found["all"]["parameters"], found["active"], found["others"]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.gguf"):
        old.unlink()
    counts = {}
    for name, arch, options, write in (*models(), *odd(), *split()):
        writer = GGUFWriter(folder / f"{name}.gguf", arch, **options)
        write(writer)
        if not options.get("split_max_tensors"):
            counts[folder / f"{name}.gguf"] = writer.get_total_parameter_count()
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    run = subprocess.run([program, "check", "--json", folder], capture_output=True, text=True, check=False)
    wrong = checked = lints = 0
    for line in run.stdout.splitlines():
        report = json.loads(line)
        if "file" not in report:
            continue
        checked += 1
        others = [f["rule"] for f in report.get("findings", []) if f["rule"] != "KEYS-TEMPLATE"]
        lints += len(others)
        if report.get("verdict") != "valid" or others:
            print(report["file"], report.get("verdict"), others)
        wrong += report.get("verdict") != "valid"
    print(f"files written by gguf-py: {checked}; refused: {wrong}; lints except for templates: {lints}")
    different = 0
    for path, (total, shared, one, experts) in counts.items():
        if total <= 0:
            # For adapters the package counts what they change.
            continue
        parameters, active, others = summary(program, path)
        expected = shared + 2 * one if experts else None
        if (parameters + others, active) != (total, expected):
            print(path, parameters, active, others, "but gguf-py counts", total, expected)
            different += 1
    print(f"parameters of {len(counts)} files counted; different: {different}")
    sys.exit(bool(wrong or different) or checked == 0)


main()
