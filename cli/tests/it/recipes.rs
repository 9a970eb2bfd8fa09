//! Folders as real tools write them: the exit code, and every line that is printed.

use super::*;
use sha2::{Digest as _, Sha256};
use weighbridge_tests::encode::{gguf, npy, safetensors, shards};

/// A folder "m" with these files.
fn recipe(files: &[(&str, &[u8])]) -> Folder {
    let folder = Folder::new();
    for (name, bytes) in files {
        put(&folder, &format!("m/{name}"), bytes);
    }
    folder
}

fn put(folder: &Folder, name: &str, bytes: &[u8]) {
    let parent = folder.path().join(name);
    std::fs::create_dir_all(parent.parent().expect("a folder")).expect("folders");
    folder.write(name, bytes);
}

fn weights(tensors: &[(&str, &[u64])]) -> Vec<u8> {
    let tensors = tensors.iter().map(|(name, shape)| safetensors::Tensor::new(name, "F32", shape));
    safetensors::File { metadata: None, tensors: tensors.collect() }.encode()
}

fn model() -> Vec<u8> {
    let tensors = vec![gguf::Tensor::new("w", 0, &[4])];
    gguf::File { version: 3, big: false, alignment: 32, metadata: vec![], tensors }.encode().bytes
}

const LLAMA: &str = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 10,
    "hidden_size": 4, "num_hidden_layers": 2, "torch_dtype": "float32", "tie_word_embeddings": true}"#;

/// The weights that fit these settings.
fn llama() -> Vec<u8> {
    weights(&[
        ("model.embed_tokens.weight", &[10, 4]),
        ("model.layers.0.mlp.up_proj.weight", &[8, 4]),
        ("model.layers.1.mlp.up_proj.weight", &[8, 4]),
        ("model.norm.weight", &[4]),
    ])
}

const TOKENIZER: [(&str, &[u8]); 4] = [
    ("tokenizer.json", b"{\"version\": \"1.0\", \"model\": {\"type\": \"BPE\"}}"),
    ("tokenizer_config.json", b"{\"chat_template\": \"{{ messages[0].content }}\"}"),
    ("vocab.json", b"{\"a\": 0}"),
    ("merges.txt", b"#version: 0.2\na b\n"),
];

/// The exit code and the lines of a check. Sizes are left out.
fn expect(folder: &Folder, args: &[&str], code: i32, lines: &[&str]) {
    let found = run(folder, &[&["check"], args].concat());
    let without_size = |line: &str| match line.rsplit_once(", ") {
        Some((start, size)) if size.ends_with(" bytes") || size.ends_with("iB)") => {
            start.to_owned()
        }
        _ => line.to_owned(),
    };
    let printed: Vec<_> = found.out.lines().map(without_size).collect();
    assert_eq!((found.code, printed), (code, lines.iter().map(|it| (*it).into()).collect()));
}

#[test]
fn transformers() {
    let llama = llama();
    let mut files: Vec<(&str, &[u8])> = vec![
        ("config.json", LLAMA.as_bytes()),
        ("generation_config.json", b"{\"eos_token_id\": 2}"),
        ("model.safetensors", &llama),
        ("special_tokens_map.json", b"{\"eos_token\": \"</s>\"}"),
        ("README.md", b"---\nlicense: mit\n---\n# Model\n"),
        ("LICENSE", b"MIT"),
        (".gitattributes", b"*.safetensors filter=lfs\n"),
    ];
    files.extend(TOKENIZER);
    expect(
        &recipe(&files),
        &["m"],
        0,
        &[
            "valid     m/model.safetensors  safetensors, 4 tensors",
            "model     m  11 files: 1 safetensors",
            "companion 10 files: settings, texts, tokenizers, media",
        ],
    );
}

#[test]
fn transformers_in_shards() {
    let names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    let one = weights(&[
        ("model.embed_tokens.weight", &[10, 4]),
        ("model.layers.0.mlp.up_proj.weight", &[8, 4]),
    ]);
    let two =
        weights(&[("model.layers.1.mlp.up_proj.weight", &[8, 4]), ("model.norm.weight", &[4])]);
    let index = shards::Index::of(
        None,
        &[
            ("model.embed_tokens.weight", names[0]),
            ("model.layers.0.mlp.up_proj.weight", names[0]),
            ("model.layers.1.mlp.up_proj.weight", names[1]),
            ("model.norm.weight", names[1]),
        ],
    );
    let index = index.encode();
    let folder = recipe(&[
        ("config.json", LLAMA.as_bytes()),
        (names[0], &one),
        (names[1], &two),
        ("model.safetensors.index.json", &index),
    ]);
    expect(
        &folder,
        &["m"],
        0,
        &[
            "valid     m/model.safetensors.index.json  shard index",
            "model     m  4 files: safetensors in 2 shards, complete, with index",
            "companion 1 file: settings, texts, tokenizers, media",
            "3 files: 3 valid; 0 findings",
        ],
    );
}

#[test]
fn sentence_transformers() {
    let weights = weights(&[
        ("embeddings.word_embeddings.weight", &[10, 4]),
        ("encoder.layer.0.output.dense.weight", &[4, 4]),
    ]);
    let modules = br#"[
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]"#;
    let config =
        br#"{"model_type": "bert", "vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 1}"#;
    let files: &[(&str, &[u8])] = &[
        ("config.json", config),
        ("config_sentence_transformers.json", b"{\"__version__\": {}}"),
        ("sentence_bert_config.json", b"{\"max_seq_length\": 256}"),
        ("modules.json", modules),
        ("1_Pooling/config.json", b"{\"word_embedding_dimension\": 4}"),
        ("model.safetensors", &weights),
        ("vocab.txt", b"[PAD]\n[UNK]\n"),
    ];
    let folder = recipe(files);
    expect(
        &folder,
        &["m"],
        0,
        &[
            "valid     m/model.safetensors  safetensors, 2 tensors",
            "model     m  6 files: 1 safetensors",
            "companion 6 files: settings, texts, tokenizers, media",
        ],
    );
    // An older one has the same weights as a pickle, with the settings of the training.
    put(
        &folder,
        "m/training_args.bin",
        b"\x80\x02ctransformers.training_args\nTrainingArguments\n)\x81.",
    );
    assert_eq!(run(&folder, &["check", "m", "--skip-unknown"]).code, 1);
}

#[test]
fn diffusers() {
    let weights = weights(&[("conv_in.weight", &[2, 2, 3, 3])]);
    let index = br#"{"_class_name": "StableDiffusionPipeline", "unet": ["diffusers", "UNet"],
        "vae": ["diffusers", "AutoencoderKL"], "text_encoder": ["transformers", "CLIPTextModel"]}"#;
    let folder = recipe(&[
        ("model_index.json", index),
        ("scheduler/scheduler_config.json", b"{\"_class_name\": \"PNDMScheduler\"}"),
        ("text_encoder/config.json", b"{\"vocab_size\": 49408, \"hidden_size\": 768}"),
        ("text_encoder/model.safetensors", &weights),
        ("tokenizer/merges.txt", b"#version: 0.2\n"),
        ("tokenizer/vocab.json", b"{}"),
        ("unet/config.json", b"{\"sample_size\": 64}"),
        ("unet/diffusion_pytorch_model.safetensors", &weights),
        ("vae/config.json", b"{\"sample_size\": 512}"),
        ("vae/diffusion_pytorch_model.fp16.safetensors", &weights),
    ]);
    expect(
        &folder,
        &["m"],
        0,
        &[
            "valid     m/text_encoder/model.safetensors  safetensors, 1 tensor",
            "valid     m/unet/diffusion_pytorch_model.safetensors  safetensors, 1 tensor",
            "valid     m/vae/diffusion_pytorch_model.fp16.safetensors  safetensors, 1 tensor",
            "model     m/text_encoder  2 files: 1 safetensors",
            "model     m/unet  2 files: 1 safetensors",
            "model     m/vae  2 files: 1 safetensors",
            "companion 7 files: settings, texts, tokenizers, media",
            "3 files: 3 valid; 0 findings",
        ],
    );
    // A pipeline of the author's own is code that loading runs.
    put(&folder, "m/pipe.py", b"import os\n");
    put(&folder, "m/model_index.json", br#"{"_class_name": ["pipe", "Pipe"]}"#);
    assert_eq!(run(&folder, &["check", "m", "--skip-unknown"]).code, 1);
}

#[test]
fn lora_adapter_with_its_training() {
    let weights = weights(&[
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", &[8, 16]),
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", &[16, 8]),
    ]);
    let config = br#"{"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"],
        "base_model_name_or_path": "me/base", "task_type": "CAUSAL_LM"}"#;
    let folder = recipe(&[
        ("README.md", b"---\nlibrary_name: peft\n---\n"),
        ("adapter_config.json", config),
        ("adapter_model.safetensors", &weights),
    ]);
    expect(
        &folder,
        &["m"],
        0,
        &[
            "valid     m/adapter_model.safetensors  safetensors, 2 tensors",
            "model     m  3 files: 1 safetensors",
            "companion 2 files: settings, texts, tokenizers, media",
        ],
    );
    // What a trainer leaves in a checkpoint.
    put(&folder, "m/trainer_state.json", b"{\"epoch\": 1.0, \"loss\": NaN}");
    put(&folder, "m/scheduler.pt", b"\x80\x02}q\0.");
    expect(
        &folder,
        &["m"],
        3,
        &[
            "valid     m/adapter_model.safetensors  safetensors, 2 tensors",
            "model     m  5 files: 1 safetensors",
            "unsupported 1 file: code: pickle: m/scheduler.pt",
            "companion 3 files: settings, texts, tokenizers, media",
            "2 files: 1 valid, 1 in unsupported formats; 0 findings",
        ],
    );
}

#[test]
fn gguf_repository_with_projector() {
    let model = model();
    let folder = recipe(&[
        ("README.md", b"# GGUF\n"),
        ("mmproj-model-f16.gguf", &model),
        ("model-Q4_K_M.gguf", &model),
        ("model-Q8_0.gguf", &model),
    ]);
    expect(
        &folder,
        &["m"],
        0,
        &[
            "valid     m/mmproj-model-f16.gguf  GGUF 3, 1 tensor",
            "valid     m/model-Q4_K_M.gguf  GGUF 3, 1 tensor",
            "valid     m/model-Q8_0.gguf  GGUF 3, 1 tensor",
            "model     m  4 files: 3 GGUF",
            "companion 1 file: settings, texts, tokenizers, media",
            "3 files: 3 valid; 0 findings",
        ],
    );
    // An importance matrix is of no format that is known.
    put(&folder, "m/imatrix.dat", b"\x01\0\0\0\xFF");
    assert_eq!(run(&folder, &["check", "m"]).code, 3);
    assert_eq!(run(&folder, &["check", "m", "--skip-unknown"]).code, 0);
}

/// As huggingface_hub writes it: blobs, and snapshots of links to them.
#[cfg(unix)]
#[test]
fn cache_of_the_hub() {
    let (folder, root) = (Folder::new(), "m/models--me--x");
    let hub = folder.path().join(root);
    put(&folder, &format!("{root}/refs/main"), b"0123");
    put(&folder, &format!("{root}/.no_exist/0123/adapter_config.json"), b"");
    put(&folder, "m/.locks/models--me--x/0.lock", b"");
    put(&folder, "m/version.txt", b"1");
    std::fs::create_dir_all(hub.join("blobs")).expect("a folder");
    std::fs::create_dir_all(hub.join("snapshots/0123")).expect("a folder");
    for (name, bytes) in [("config.json", LLAMA.as_bytes()), ("model.safetensors", &llama())] {
        let digest = weighbridge::text::hex(&Sha256::digest(bytes));
        folder.write(&format!("{root}/blobs/{digest}"), bytes);
        let link = hub.join("snapshots/0123").join(name);
        std::os::unix::fs::symlink(format!("../../blobs/{digest}"), link).expect("a link");
    }
    // A blob is checked once, under the name that the snapshot gives.
    expect(
        &folder,
        &["m"],
        0,
        &[
            &format!("valid     {root}/snapshots/0123/model.safetensors  safetensors, 4 tensors"),
            "store     cache of huggingface_hub, 1 download: me/x",
            &format!("model     {root}/snapshots/0123  2 files: 1 safetensors"),
            "companion 5 files: settings, texts, tokenizers, media",
            "1 file: 1 valid; 0 findings; checked 2 blobs by the names that snapshots give",
        ],
    );
    // The settings of a snapshot are compared with its weights, through the links.
    let other = LLAMA.replace("_layers\": 2", "_layers\": 3");
    let digest = weighbridge::text::hex(&Sha256::digest(other.as_bytes()));
    folder.write(&format!("{root}/blobs/{digest}"), other.as_bytes());
    let link = hub.join("snapshots/0123/config.json");
    std::fs::remove_file(&link).expect("it is there");
    std::os::unix::fs::symlink(format!("../../blobs/{digest}"), link).expect("a link");
    let found = run(&folder, &["check", "m"]);
    assert!(found.code == 1 && found.out.contains("num_hidden_layers is 3"), "{found:?}");
}

#[test]
fn git_checkout_without_large_files() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    let folder = recipe(&[
        (".git/HEAD", b"ref: refs/heads/main\n"),
        (".git/hooks/pre-commit.sample", b"#!/bin/sh\n"),
        (".gitattributes", b"*.safetensors filter=lfs\n"),
        ("config.json", LLAMA.as_bytes()),
        ("tokenizer.model", pointer),
    ]);
    expect(
        &folder,
        &["m"],
        1,
        &[
            "store     checkout of Git: 1 pointer of Git LFS, not fetched",
            "invalid   1 file: Git LFS pointer: m/tokenizer.model (`git lfs pull` fetches the file that it \
         stands for)",
            "companion 2 files: settings, texts, tokenizers, media",
            "1 file: 1 invalid; 0 findings; left out 1 folder (.git)",
        ],
    );
    put(&folder, "m/model.safetensors", pointer);
    let found = run(&folder, &["check", "m"]);
    assert!(found.code == 1 && found.out.contains("Git LFS pointer"), "{found:?}");
}

#[test]
fn ollama_store() {
    let (folder, model) = (Folder::new(), model());
    let mut layers = Vec::new();
    for bytes in [&model[..], b"{{ .Prompt }}", b"{\"stop\": [\"x\"]}"] {
        let digest = weighbridge::text::hex(&Sha256::digest(bytes));
        put(&folder, &format!("m/blobs/sha256-{digest}"), bytes);
        layers.push(format!("{{\"digest\": \"sha256:{digest}\"}}"));
    }
    let manifest = format!("{{\"layers\": [{}]}}", layers.join(","));
    put(&folder, "m/manifests/registry.ollama.ai/library/x/latest", manifest.as_bytes());
    let digest = weighbridge::text::hex(&Sha256::digest(&model));
    expect(
        &folder,
        &["m"],
        0,
        &[
            &format!("valid     m/blobs/sha256-{digest}  GGUF 3, 1 tensor"),
            "model     m/blobs  3 files: 1 GGUF",
            "companion 3 files: settings, texts, tokenizers, media",
        ],
    );
}

#[test]
fn models_folder_of_comfyui() {
    let (weights, model) = (llama(), model());
    let folder = recipe(&[
        ("checkpoints/put_checkpoints_here", b""),
        ("checkpoints/x.safetensors", &weights),
        ("configs/v1-inference.yaml", b"model:\n  target: ldm\n"),
        ("loras/put_loras_here", b""),
        ("unet/x-Q4_0.gguf", &model),
        ("upscale_models/x.pth", b"\x80\x02}q\0."),
    ]);
    expect(
        &folder,
        &["m"],
        3,
        &[
            "valid     m/checkpoints/x.safetensors  safetensors, 4 tensors",
            "valid     m/unet/x-Q4_0.gguf  GGUF 3, 1 tensor",
            "store     models of ComfyUI by purpose, 1 folder: m",
            "model     m/checkpoints  2 files: 1 safetensors",
            "unsupported 1 file: code: pickle: m/upscale_models/x.pth",
            "companion 3 files: settings, texts, tokenizers, media",
            "3 files: 2 valid, 1 in unsupported formats; 0 findings",
        ],
    );
}

#[test]
fn timm() {
    let weights = weights(&[("conv1.weight", &[2, 3, 3, 3]), ("fc.weight", &[4, 2])]);
    let config = br#"{"architecture": "resnet18", "num_classes": 4, "num_features": 2,
        "pretrained_cfg": {"input_size": [3, 224, 224], "mean": [0.485, 0.456, 0.406]}}"#;
    let folder = recipe(&[
        ("README.md", b"# resnet18\n"),
        ("config.json", config),
        ("model.safetensors", &weights),
    ]);
    expect(
        &folder,
        &["m"],
        0,
        &[
            "valid     m/model.safetensors  safetensors, 2 tensors",
            "model     m  3 files: 1 safetensors",
            "companion 2 files: settings, texts, tokenizers, media",
        ],
    );
    put(&folder, "m/pytorch_model.bin", &policy::zip(&[("archive/data.pkl", b"\x80\x02}q\0.")]));
    assert_eq!(run(&folder, &["check", "m"]).code, 3);
    assert_eq!(run(&folder, &["check", "m", "--deny", "pickle"]).code, 1);
}

/// As many files as an environment of Python with a few packages has, of the same kinds.
#[test]
fn python_environment_takes_at_most_30_lines() {
    let folder = Folder::new();
    let array = npy::Npy::new("'<f4'", 4, &[2]).encode();
    let kinds: [(&str, &[u8]); 9] = [
        ("mod.py", b"import os\n"),
        ("__pycache__/mod.pyc", b"\xA7\r\r\n\0\0\0\0\0\0\0\0\0\0\0\0"),
        ("mod.so", b"\x7FELF\x02\x01\x01"),
        ("METADATA", b"Name: x\n"),
        ("data.npy", &array),
        ("cut.npy", &array[..130]),
        ("py.typed", b""),
        ("state.pkl", b"\x80\x02}q\0."),
        ("table.bin", b"\x01\xFF\0"),
    ];
    for i in 0..3_424 {
        // Most files are modules, in many packages.
        let (name, bytes) = match i % 40 {
            0..9 => kinds[i % 40],
            _ => kinds[i % 2],
        };
        // Few files of a format are broken.
        let bytes = if name == "cut.npy" && i > 200 { &array[..] } else { bytes };
        put(&folder, &format!("m/site-packages/p{}/n{i}/{name}", i % 60), bytes);
    }
    let found = run(&folder, &["check", "m"]);
    let lines: Vec<_> = found.out.lines().collect();
    let last = lines.last().expect("a summary");
    assert!(found.code == 1 && lines.len() <= 30, "{} lines, {last}", lines.len());
    assert!(last.starts_with("3,252 files: ") && last.contains(" invalid"), "{last}");
    let json = run(&folder, &["check", "m", "--json"]).lines();
    assert_eq!(json.len(), 3_424);
}
