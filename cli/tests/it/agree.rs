//! Settings of a model that contradict its weights.

use super::*;
use weighbridge_tests::encode::safetensors;

/// The tensors of a file: names, types and shapes.
pub(super) type Tensors<'a> = &'a [(&'a str, &'static str, &'a [u64])];

pub(super) fn weights(tensors: Tensors<'_>) -> Vec<u8> {
    let tensor = |it: &(&str, &'static str, &[u64])| safetensors::Tensor::new(it.0, it.1, it.2);
    let tensors = tensors.iter().map(tensor).collect();
    safetensors::File { metadata: None, tensors }.encode()
}

/// A folder with settings and weights, by their names.
fn folder(settings: (&str, &str), file: (&str, Tensors<'_>)) -> Folder {
    let folder = Folder::new();
    folder.write(settings.0, settings.1.as_bytes());
    folder.write(file.0, &weights(file.1));
    folder
}

pub(super) fn model(config: &str, tensors: Tensors<'_>) -> Folder {
    folder(("config.json", config), ("model.safetensors", tensors))
}

pub(super) fn adapter(config: &str, tensors: Tensors<'_>) -> Folder {
    folder(("adapter_config.json", config), ("adapter_model.safetensors", tensors))
}

/// The exit code for a folder, and the rules that its settings break.
pub(super) fn broken(folder: &Folder, args: &[&str]) -> (i32, Vec<String>) {
    let found = run(folder, &[&["check", ".", "--json"], args].concat());
    let lines = found.lines();
    let mut rules = Vec::new();
    for line in lines.iter().filter(|line| !line["rule"].is_null()) {
        assert!(line["file"].as_str().is_some_and(|file| file.ends_with("config.json")), "{line}");
        assert_eq!((&line["class"], &line["kind"]), (&"companion".into(), &"settings".into()));
        rules.extend(line["rule"].as_str().map(str::to_owned));
        let also = line["also"].as_array().into_iter().flatten();
        rules.extend(also.filter_map(Value::as_str).map(str::to_owned));
    }
    (found.code, rules)
}

const LLAMA: Tensors<'static> = &[
    ("model.embed_tokens.weight", "BF16", &[10, 4]),
    ("model.layers.0.mlp.up_proj.weight", "BF16", &[8, 4]),
    ("model.layers.1.mlp.up_proj.weight", "BF16", &[8, 4]),
    ("model.norm.weight", "F32", &[4]),
];
const CONFIG: &str = r#"{"vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 2,
                         "torch_dtype": "bfloat16", "tie_word_embeddings": true}"#;

#[test]
fn settings_that_contradict_the_weights_are_named() {
    for (from, to, code, rule) in [
        ("", "", 0, ""),
        ("\"hidden_size\": 4", "\"hidden_size\": 5", 1, "CONFIG-SHAPE"),
        ("\"vocab_size\": 10", "\"vocab_size\": 11", 1, "CONFIG-SHAPE"),
        ("\"vocab_size\": 10", "\"vocab_size\": 9", 0, "CONFIG-VOCABULARY"),
        ("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", 1, "CONFIG-LAYERS"),
        ("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", 1, "CONFIG-LAYERS"),
        ("\"bfloat16\"", "\"float16\"", 0, "CONFIG-DTYPE"),
        (
            "true}",
            "true, \"quantization_config\": {\"quant_method\": \"gptq\"}}",
            0,
            "CONFIG-QUANTISED",
        ),
    ] {
        let folder = model(&CONFIG.replacen(from, to, 1), LLAMA);
        let rules: Vec<_> = [rule].into_iter().filter(|it| !it.is_empty()).collect();
        assert_eq!(
            broken(&folder, &[]),
            (code, rules.iter().map(|it| (*it).into()).collect()),
            "{to}"
        );
        if rule.is_empty() {
            continue;
        }
        // Violations do not count under the lenient profile; what is denied counts.
        assert_eq!(broken(&folder, &["--lenient"]).0, 0, "{to}");
        assert_eq!(broken(&folder, &["--lenient", "--deny", rule]).0, 1, "{to}");
        assert_eq!(broken(&folder, &["--deny", "lint"]).0, 1, "{to}");
        folder.write("weighbridge.toml", format!("deny = [\"{rule}\"]\n").as_bytes());
        assert_eq!(broken(&folder, &[]).0, 1, "{to}");
        let ignore =
            format!("[[ignore]]\nrule = \"{rule}\"\nreason = \"ours\"\nuntil = 2999-12-31\n");
        folder.write("weighbridge.toml", ignore.as_bytes());
        let ignored = run(&folder, &["check", "."]);
        assert_eq!(ignored.code, 0, "{ignored:?}");
        assert!(ignored.out.contains("; ignored 1 finding"), "{ignored:?}");
    }
}

#[test]
fn a_contradiction_is_told_in_every_output() {
    let config =
        CONFIG.replace("\"hidden_size\": 4", "\"hidden_size\": 5").replace("bfloat16", "float32");
    let folder = model(&config, LLAMA);
    assert_eq!(broken(&folder, &[]), (1, vec!["CONFIG-SHAPE".into(), "CONFIG-DTYPE".into()]));
    let shape = "vocab_size × hidden_size is 10 × 5, but model.embed_tokens.weight is 10 × 4";
    let dtype = "torch_dtype is float32, but the weights are bf16";
    let line = format!("invalid   1 file: settings: ./config.json ({shape}; {dtype})");
    let human = run(&folder, &["check", "."]);
    assert!(human.out.lines().any(|it| it == line), "{human:?}");
    assert!(human.out.contains("2 files: 1 valid, 1 invalid; 2 findings"), "{human:?}");
    for (output, words) in [
        ("sarif", "weighbridge/CONFIG-SHAPE"),
        ("sarif", "weighbridge/CONFIG-DTYPE"),
        ("github", "::error file=./config.json,title=CONFIG-SHAPE::"),
        ("junit", "<failure type=\"invalid\""),
    ] {
        let found = run(&folder, &["check", ".", "--output", output]);
        assert!(found.code == 1 && found.out.contains(words), "{output}: {found:?}");
    }
    let lenient = run(&folder, &["check", ".", "--lenient"]);
    let line = format!("violation 1 file: settings: ./config.json ({shape}; {dtype})");
    assert!(lenient.code == 0 && lenient.out.lines().any(|it| it == line), "{lenient:?}");
    let sarif = run(&folder, &["check", ".", "--lenient", "--output", "sarif"]).json();
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let levels: Vec<_> = results.iter().map(|it| it["level"].as_str()).collect();
    assert_eq!(levels, [Some("warning"), Some("note")]);
    // A lint has a line as well.
    folder.write("config.json", CONFIG.replace("bfloat16", "float32").as_bytes());
    let lint = run(&folder, &["check", "."]);
    let line = format!("lint      1 file: settings: ./config.json ({dtype})");
    assert!(lint.code == 0 && lint.out.lines().any(|it| it == line), "{lint:?}");
}

/// Layouts of real models, which contradict nothing.
#[test]
fn settings_of_real_layouts_agree() {
    let cases: &[(&str, Tensors<'_>)] = &[
        // Fewer dimensions for tokens than for layers.
        (
            r#"{"vocab_size": 10, "hidden_size": 8, "embedding_size": 4, "num_hidden_layers": 12}"#,
            &[("albert.embeddings.word_embeddings.weight", "F32", &[10, 4])],
        ),
        (
            r#"{"vocab_size": 10, "hidden_size": 8, "word_embed_proj_dim": 4}"#,
            &[("model.decoder.embed_tokens.weight", "F32", &[10, 4])],
        ),
        // A language model in another.
        (
            r#"{"text_config": {"vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 1},
                "vision_config": {"hidden_size": 6, "num_hidden_layers": 24}, "hidden_size": 9}"#,
            &[
                ("language_model.model.embed_tokens.weight", "F32", &[10, 4]),
                ("language_model.model.layers.0.up.weight", "F32", &[4, 4]),
                ("vision_tower.encoder.layers.23.up.weight", "F32", &[6, 6]),
            ],
        ),
        // Parts beside the language model, whose settings and tensors are their own.
        (
            r#"{"text_config": {"vocab_size": 10, "d_model": 4, "is_encoder_decoder": true,
                "num_layers": 3}, "qformer_config": {"vocab_size": 7, "hidden_size": 6}}"#,
            &[
                ("language_model.shared.weight", "F32", &[10, 4]),
                ("qformer.embeddings.word_embeddings.weight", "F32", &[7, 6]),
                ("qformer.encoder.layer.0.output.dense.weight", "F32", &[6, 6]),
            ],
        ),
        (
            r#"{"hidden_size": 6, "num_hidden_layers": 6, "text_config": {"vocab_size": 10}}"#,
            &[
                ("text_model.embeddings.word_embeddings.weight", "F32", &[10, 4]),
                ("text_model.encoder.layer.1.output.dense.weight", "F32", &[4, 4]),
            ],
        ),
        // More rows than tokens, as stated.
        (
            r#"{"vocab_size": 10, "embedding_size": 12, "d_model": 4, "n_layers": 1}"#,
            &[
                ("model.transformer.wte.weight", "F32", &[12, 4]),
                ("model.transformer.blocks.0.ff_out.weight", "F32", &[4, 4]),
            ],
        ),
        // Layers that predict further tokens.
        (
            r#"{"vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 1,
                "num_nextn_predict_layers": 1}"#,
            &[
                ("model.embed_tokens.weight", "F32", &[10, 4]),
                ("model.layers.0.mlp.experts.3.up.weight", "F32", &[4, 4]),
                ("model.layers.1.embed_tokens.weight", "F32", &[10, 4]),
            ],
        ),
        // An encoder and a decoder.
        (
            r#"{"vocab_size": 10, "d_model": 4, "num_hidden_layers": 4, "encoder_layers": 4,
                "decoder_layers": 1, "is_encoder_decoder": true}"#,
            &[
                ("model.decoder.embed_tokens.weight", "F32", &[10, 4]),
                ("model.decoder.layers.0.up.weight", "F32", &[4, 4]),
            ],
        ),
        (
            r#"{"vocab_size": 10, "decoder_vocab_size": 7, "d_model": 4, "is_encoder_decoder": true}"#,
            &[("model.decoder.embed_tokens.weight", "F32", &[7, 4])],
        ),
        // Packed embeddings and layers.
        (
            r#"{"vocab_size": 10, "hidden_size": 32, "quantization": {"bits": 4}}"#,
            &[("model.embed_tokens.weight", "U32", &[10, 4])],
        ),
        (
            r#"{"vocab_size": 10, "hidden_size": 4, "torch_dtype": "float16",
                "quantization_config": {"quant_method": "awq"}}"#,
            &[
                ("model.embed_tokens.weight", "F32", &[10, 4]),
                ("model.layers.0.up.qweight", "I32", &[4, 4]),
            ],
        ),
        // An encoder without its head, and one whose names have no prefix.
        (
            r#"{"vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 1}"#,
            &[
                ("embeddings.word_embeddings.weight", "F32", &[10, 4]),
                ("encoder.layer.0.output.dense.weight", "F32", &[4, 4]),
            ],
        ),
        (
            r#"{"vocab_size": 10, "n_embd": 4, "n_layer": 1, "n_head": 2}"#,
            &[("wte.weight", "F32", &[10, 4]), ("h.0.mlp.c_fc.weight", "F32", &[4, 4])],
        ),
        (
            r#"{"vocab_size": 10, "dim": 4, "n_layers": 1}"#,
            &[
                ("distilbert.embeddings.word_embeddings.weight", "F32", &[10, 4]),
                ("distilbert.transformer.layer.0.up.weight", "F32", &[4, 4]),
            ],
        ),
        // Not understood.
        (r#"{"vocab_size": 10, "hidden_size": 4, "num_hidden_layers": 9}"#, &[("w", "F32", &[3])]),
        (
            r#"{"vocab_size": "10", "hidden_size": null, "num_hidden_layers": 1.5, "dtype": 3}"#,
            LLAMA,
        ),
        (r#"{"vocab_size": -1, "hidden_size": 1e300, "num_hidden_layers": NaN}"#, LLAMA),
        ("[]", LLAMA),
        (r#"{"vocab_size": 10, "hidden_size": 4}"#, &[("model.embed_tokens.weight", "F32", &[40])]),
    ];
    for (config, tensors) in cases {
        assert_eq!(broken(&model(config, tensors), &[]), (0, vec![]), "{config}");
    }
}

/// Shards are found through their index, and only the one with the embedding is opened.
#[test]
fn settings_are_compared_with_shards() {
    let (one, two) = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
    let folder = Folder::new();
    folder.write(one, &weights(&LLAMA[..2]));
    folder.write(two, &weights(&LLAMA[2..]));
    let entries: Vec<_> =
        LLAMA.iter().enumerate().map(|(i, it)| (it.0, if i < 2 { one } else { two })).collect();
    let index = weighbridge_tests::encode::shards::Index::of(None, &entries).encode();
    folder.write("model.safetensors.index.json", &index);
    folder.write("config.json", CONFIG.as_bytes());
    assert_eq!(broken(&folder, &[]), (0, vec![]));
    let config = CONFIG.replace("_size\": 4", "_size\": 6").replace("layers\": 2", "layers\": 3");
    folder.write("config.json", config.as_bytes());
    assert_eq!(broken(&folder, &[]), (1, vec!["CONFIG-SHAPE".into(), "CONFIG-LAYERS".into()]));
    // Without the shard, the layers are known from the index alone.
    std::fs::remove_file(folder.path().join(one)).expect("it is there");
    assert_eq!(broken(&folder, &[]), (1, vec!["CONFIG-LAYERS".into()]));
}

#[test]
fn packed_tensors_need_their_settings() {
    let tensors: Tensors<'_> = &[("model.layers.0.up.qweight", "I32", &[4, 4])];
    let folder = model("{\"model_type\": \"llama\"}", tensors);
    assert_eq!(broken(&folder, &[]), (0, vec!["CONFIG-QUANTISED".into()]));
    folder.write("quantize_config.json", b"{\"bits\": 4}");
    assert_eq!(broken(&folder, &[]), (0, vec![]));
}

pub(super) const LORA: Tensors<'static> = &[
    ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "F32", &[8, 16]),
    ("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", "F32", &[16, 8]),
    ("base_model.model.model.embed_tokens.lora_embedding_A", "F32", &[8, 10]),
    ("base_model.model.model.embed_tokens.lora_embedding_B", "F32", &[16, 8]),
];
pub(super) const PEFT: &str = r#"{"peft_type": "LORA", "r": 8, "base_model_name_or_path": "me/base",
                       "rank_pattern": {}, "target_modules": ["q_proj", "embed_tokens", "v_proj"]}"#;

#[test]
fn adapters_that_contradict_their_settings_are_named() {
    for (from, to, code, rule) in [
        ("", "", 0, ""),
        ("\"r\": 8", "\"r\": 16", 1, "ADAPTER-RANK"),
        ("[\"q_proj\", ", "[", 0, "ADAPTER-TARGETS"),
        ("\"me/base\"", "null", 0, "ADAPTER-BASE"),
        ("\"me/base\"", "\"/data/models/base\"", 0, "ADAPTER-BASE"),
        ("\"me/base\"", r#""C:\\models\\base""#, 0, "ADAPTER-BASE"),
        // What is not known well enough says nothing.
        ("\"r\": 8, ", "", 0, ""),
        ("\"rank_pattern\": {}", "\"rank_pattern\": {\"q_proj\": 8}, \"r\": 4", 0, ""),
        ("[\"q_proj\", \"embed_tokens\", \"v_proj\"]", "\"all-linear\"", 0, ""),
        ("\"r\": 8", "\"r\": 4, \"target_parameters\": [\"experts.up\"]", 0, ""),
        ("\"LORA\", \"r\": 8", "\"ADALORA\", \"r\": 4", 0, ""),
    ] {
        let folder = adapter(&PEFT.replacen(from, to, 1), LORA);
        let rules: Vec<_> = [rule].into_iter().filter(|it| !it.is_empty()).collect();
        assert_eq!(
            broken(&folder, &[]),
            (code, rules.iter().map(|it| (*it).into()).collect()),
            "{to}"
        );
    }
    let folder = adapter(&PEFT.replace("\"r\": 8", "\"r\": 16"), LORA);
    let words = "r is 16, but base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight is \
                 8 × 16, and 3 more";
    let found = run(&folder, &["check", "."]);
    assert!(found.out.contains(words), "{found:?}");
}

/// A base of the same or another architecture, where its path leads, or beside the adapter.
#[test]
fn adapters_that_do_not_fit_a_base_in_their_folder_are_named() {
    let (fits, narrow): (Tensors<'_>, Tensors<'_>) = (
        &[("model.layers.0.self_attn.q_proj.weight", "F32", &[16, 16])],
        &[("layers.0.self_attn.q_proj.weight", "BF16", &[16, 12])],
    );
    let other: Tensors<'_> = &[("transformer.h.0.attn.c_attn.weight", "F32", &[16, 48])];
    let deep: Tensors<'_> = &[
        ("model.layers.0.self_attn.q_proj.weight", "F32", &[16, 16]),
        ("model.layers.1.self_attn.q_proj.weight", "F32", &[16, 16]),
        ("model.layers.2.self_attn.q_proj.weight", "F32", &[16, 16]),
    ];
    let renamed: Tensors<'_> = &[("decoder.0.self_attn.q_proj.weight", "F32", &[16, 16])];
    let packed: Tensors<'_> = &[("model.layers.0.self_attn.q_proj.qweight", "I32", &[2, 16])];
    let shape = || vec!["ADAPTER-SHAPE".to_owned()];
    for (path, config, base, expected) in [
        ("./base", "base", fits, vec![]),
        ("base", "base", narrow, shape()),
        ("./base/", "base", other, shape()),
        ("me/base", "me/base", narrow, shape()),
        ("./base", "base", packed, vec!["CONFIG-QUANTISED".to_owned()]),
        // The model beside the adapter, if it says that it is the base.
        ("me/base", ".", narrow, shape()),
        ("me/other", ".", narrow, vec![]),
        (".", ".", narrow, shape()),
        // Not in the folder.
        ("../base", "base", narrow, vec!["ADAPTER-BASE".to_owned()]),
        ("base/../base", "base", narrow, vec![]),
    ] {
        let folder = adapter(&PEFT.replace("me/base", path), &LORA[..2]);
        std::fs::create_dir_all(folder.path().join(config)).expect("a folder");
        folder.write(&format!("{config}/config.json"), br#"{"_name_or_path": "me/base"}"#);
        folder.write(&format!("{config}/model.safetensors"), &weights(base));
        let code = i32::from(expected == shape());
        assert_eq!(broken(&folder, &[]), (code, expected), "{path} {config}");
    }
    let folder = adapter(&PEFT.replace("me/base", "base"), LORA);
    std::fs::create_dir(folder.path().join("base")).expect("a folder");
    folder.write("base/config.json", b"{}");
    folder.write("base/model.safetensors", &weights(narrow));
    for (base, words) in [
        (
            narrow,
            "q_proj.lora_A.weight is 8 × 16, but layers.0.self_attn.q_proj of the base is 16 × 12",
        ),
        (other, "the base has no module model.layers.0.self_attn.q_proj, and 3 more"),
    ] {
        folder.write("base/model.safetensors", &weights(base));
        let found = run(&folder, &["check", "."]);
        assert!(found.out.contains(words), "{found:?}");
    }
    // Of a larger model of the same family. What a wrapper renames says nothing.
    let deeper: Tensors<'_> = &[
        ("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "F32", &[8, 16]),
        ("base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight", "F32", &[8, 16]),
        ("base_model.model.model.layers.2.self_attn.q_proj.lora_A.weight", "F32", &[8, 16]),
    ];
    for (base, is_whole) in [(fits, false), (deep, true), (renamed, true)] {
        let folder = adapter(&PEFT.replace("me/base", "base"), deeper);
        std::fs::create_dir(folder.path().join("base")).expect("a folder");
        folder.write("base/config.json", b"{}");
        folder.write("base/model.safetensors", &weights(base));
        let found = run(&folder, &["check", "."]);
        let words = "the base has 1 layer, and so no model.layers.1.self_attn.q_proj, and 1 more";
        assert_eq!(found.code, i32::from(!is_whole), "{found:?}");
        assert_eq!(found.out.contains(words), !is_whole, "{found:?}");
    }
    // GPT-2 stores the input of a module first.
    let gpt2: Tensors<'_> = &[("h.0.attn.c_attn.weight", "F32", &[16, 48])];
    let lora: Tensors<'_> = &[
        ("base_model.model.transformer.h.0.attn.c_attn.lora_A.weight", "F32", &[8, 16]),
        ("base_model.model.transformer.h.0.attn.c_attn.lora_B.weight", "F32", &[48, 8]),
    ];
    folder.write("base/model.safetensors", &weights(gpt2));
    folder.write("adapter_model.safetensors", &weights(lora));
    let config = PEFT.replace("me/base", "base").replace("q_proj", "c_attn");
    folder.write("adapter_config.json", config.as_bytes());
    assert_eq!(broken(&folder, &[]), (0, vec![]));
}

/// A file outside of the folder is not read for the comparison.
#[cfg(unix)]
#[test]
fn weights_behind_a_link_that_leaves_the_folder_are_not_compared() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("m")).expect("a folder");
    folder.write("other.safetensors", &weights(LLAMA));
    folder.write("m/config.json", CONFIG.replace("layers\": 2", "layers\": 3").as_bytes());
    let link = folder.path().join("m/model.safetensors");
    std::os::unix::fs::symlink("../other.safetensors", link).expect("a link");
    assert_eq!(broken(&folder, &["m"]).1, Vec::<String>::new());
}

/// What an adversary writes takes time and room in proportion: comparing each with each would take
/// minutes.
#[test]
fn hostile_settings_take_time_in_proportion() {
    let names: Vec<_> = (0..20_000).map(|i| format!("m{i}.lora_A.weight")).collect();
    let mut tensors: Vec<_> = names.iter().map(|name| (&**name, "U8", &[1, 1][..])).collect();
    let long = format!("{}lora_A.weight", "a.".repeat(200_000));
    tensors.push((&*long, "U8", &[1, 1]));
    let ranks: Vec<_> = (2..20_000).map(|i| format!("\"r{i}\": {i}")).collect();
    let targets: Vec<_> = (0..20_000).map(|i| format!("\"t{i}\"")).collect();
    let config = format!(
        "{{\"peft_type\": \"LORA\", \"r\": 0, \"base_model_name_or_path\": \"/{}\",
           \"rank_pattern\": {{{}}}, \"target_modules\": [{}]}}",
        "x".repeat(100_000),
        ranks.join(","),
        targets.join(",")
    );
    let folder = adapter(&config, &tensors);
    let rules = ["ADAPTER-RANK", "ADAPTER-BASE", "ADAPTER-TARGETS"].map(str::to_owned).to_vec();
    assert_eq!(broken(&folder, &[]), (1, rules));
    assert!(run(&folder, &["check", "."]).out.len() < 10_000);
}
