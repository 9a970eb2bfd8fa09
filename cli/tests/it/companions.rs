//! Settings that decide what a library does with the files beside them.

use super::agree::{LORA, PEFT, Tensors, broken, model, weights};
use super::*;
use weighbridge_tests::encode::safetensors;

fn rules(rule: &str) -> Vec<String> {
    [rule].into_iter().filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

const LLAMA: Tensors<'static> = &[
    ("model.embed_tokens.weight", "BF16", &[10, 4]),
    ("model.layers.0.self_attn.output.weight", "BF16", &[4, 4]),
];

/// transformers makes random numbers of an output that is neither stored nor tied.
#[test]
fn a_model_without_a_matrix_for_its_output_is_invalid() {
    let config = r#"{"architectures": ["LlamaForCausalLM"], "tie_word_embeddings": false}"#;
    let head = [LLAMA, &[("lm_head.weight", "BF16", &[10, 4])]].concat();
    for (from, to, tensors, rule) in [
        ("", "", LLAMA, "CONFIG-HEAD"),
        ("", "", &head, ""),
        ("false", "true", LLAMA, ""),
        // Classes have different defaults, and others have no such output.
        (", \"tie_word_embeddings\": false", "", LLAMA, ""),
        ("ForCausalLM", "Model", LLAMA, ""),
        ("{", "{\"text_config\": {\"tie_word_embeddings\": true}, ", LLAMA, ""),
        ("{", "{\"text_config\": {\"tie_word_embeddings\": false}, ", LLAMA, "CONFIG-HEAD"),
    ] {
        let folder = model(&config.replacen(from, to, 1), tensors);
        assert_eq!(broken(&folder, &[]), (i32::from(!rule.is_empty()), rules(rule)), "{to}");
    }
    let said = run(&model(config, LLAMA), &["check", "."]).out;
    let words = "tie_word_embeddings is false, but LlamaForCausalLM has no matrix for its output beside \
                 model.embed_tokens.weight";
    assert!(said.contains(words), "{said}");
}

/// Whether releases of transformers agree on what such a model answers.
#[test]
fn a_tied_output_with_other_values_is_a_lint() {
    let config = r#"{"tie_word_embeddings": true}"#;
    let of = |head: &'static str, shape: &[u64], change: bool| {
        let mut tensors = vec![
            safetensors::Tensor::new("model.embed_tokens.weight", "F32", &[10, 4]),
            safetensors::Tensor::new(head, "F32", shape),
        ];
        // Written after the other one, so that only its values differ.
        let value = if change { 9 } else { tensors[0].data[159] };
        tensors[1].data = tensors[0].data.clone();
        tensors[1].data.truncate(shape.iter().product::<u64>() as usize * 4);
        if let Some(last) = tensors[1].data.last_mut().filter(|_| shape == [10, 4]) {
            *last = value;
        }
        safetensors::File { metadata: None, tensors }.encode()
    };
    for (config, head, shape, change, rule) in [
        (config, "lm_head.weight", &[10, 4], true, "CONFIG-TIED"),
        (config, "model.lm_head.weight", &[10, 4], true, "CONFIG-TIED"),
        (config, "lm_head.weight", &[9, 4], false, "CONFIG-TIED"),
        (config, "lm_head.weight", &[10, 4], false, ""),
        (config, "other.weight", &[10, 4], true, ""),
        ("{}", "lm_head.weight", &[10, 4], true, ""),
    ] {
        let folder = model(config, &[]);
        folder.write("model.safetensors", &of(head, shape, change));
        assert_eq!(broken(&folder, &[]), (0, rules(rule)), "{head} {shape:?} {change}");
    }
}

#[test]
fn methods_of_quantisation_need_tensors_of_their_own() {
    let with = |name: &'static str| [LLAMA, &[(name, "F32", &[1])]].concat();
    for (method, tensor) in [
        ("fp8", "model.layers.0.mlp.up_proj.weight_scale_inv"),
        ("mxfp4", "model.layers.0.mlp.experts.gate_up_proj_blocks"),
        ("bitsandbytes", "model.layers.0.mlp.up_proj.SCB"),
        ("bitsandbytes", "m.up_proj.weight.quant_state.bitsandbytes__nf4"),
        ("compressed-tensors", "model.layers.0.mlp.up_proj.weight_packed"),
        ("gptq", "model.layers.0.mlp.up_proj.qweight"),
        ("unheard-of", "model.layers.0.x"),
    ] {
        let config = format!("{{\"quantization_config\": {{\"quant_method\": \"{method}\"}}}}");
        assert_eq!(broken(&model(&config, &with(tensor)), &[]), (0, vec![]), "{method}");
        let rule = if method == "unheard-of" { "" } else { "CONFIG-QUANTISED" };
        assert_eq!(broken(&model(&config, LLAMA), &[]), (0, rules(rule)), "{method}");
    }
}

#[test]
fn a_pipeline_has_each_part_that_it_names() {
    let folder = model("{}", LLAMA);
    let index = r#"{"_class_name": "Pipe", "_version": ["a", "b"], "vae": ["diffusers", "Vae"],
                    "safety_checker": [null, null], "unet": ["diffusers", "Unet"], "scale": [1, 2],
                    "../x": ["diffusers", "B"], "force_zeros": true}"#;
    folder.write("model_index.json", index.as_bytes());
    let said = |words: &str| {
        let found = run(&folder, &["check", "."]);
        assert!(found.code == 1 && found.out.contains(words), "{words}: {found:?}");
        assert_eq!(run(&folder, &["check", ".", "--lenient"]).code, 0);
        let lines = run(&folder, &["check", ".", "--json"]).lines();
        let line = lines.iter().find(|it| it["file"] == "./model_index.json").expect("a line");
        assert_eq!(line["rule"], "PIPELINE-PART");
    };
    said("the folder has no part vae, unet)");
    std::fs::create_dir(folder.path().join("vae")).expect("a folder");
    folder.write("unet", b"a file is no folder");
    said("the folder has no part unet)");
    std::fs::remove_file(folder.path().join("unet")).expect("it is there");
    std::fs::create_dir(folder.path().join("unet")).expect("a folder");
    assert_eq!(run(&folder, &["check", "."]).code, 0);
}

/// A base in a folder beside that of the adapter, by its name, and in the cache of huggingface_hub.
#[test]
fn adapters_are_compared_with_a_base_in_a_folder_beside_theirs() {
    let narrow: Tensors<'_> = &[("model.layers.0.self_attn.q_proj.weight", "F32", &[16, 12])];
    let fits: Tensors<'_> = &[("model.layers.0.self_attn.q_proj.weight", "F32", &[16, 16])];
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let snapshot = format!("models--me--base/snapshots/{commit}");
    for (adapter, base, path, is_compared) in [
        ("lora", "base", "me/base", true),
        ("lora", "base", "../base", true),
        ("lora", "base", "/data/models/base/", true),
        ("you/lora", "me/base", "me/base", true),
        ("models--you--lora/snapshots/89", &*snapshot, "me/base", true),
        ("lora", "base2", "me/base", false),
        ("lora", "base", "me/other", false),
        ("you/lora", "them/base", "me/base", false),
    ] {
        for (tensors, fits) in [(narrow, false), (fits, true)] {
            let folder = Folder::new();
            for name in [adapter, base] {
                std::fs::create_dir_all(folder.path().join("all").join(name)).expect("folders");
            }
            if base == snapshot {
                let refs = folder.path().join("all/models--me--base/refs");
                std::fs::create_dir(refs).expect("a folder");
                folder.write("all/models--me--base/refs/main", commit.as_bytes());
            }
            folder.write(&format!("all/{base}/config.json"), b"{}");
            folder.write(&format!("all/{base}/model.safetensors"), &weights(tensors));
            let config = PEFT.replace("me/base", path);
            folder.write(&format!("all/{adapter}/adapter_config.json"), config.as_bytes());
            folder.write(&format!("all/{adapter}/adapter_model.safetensors"), &weights(&LORA[..2]));
            let code = i32::from(is_compared && !fits);
            for checked in ["all", &format!("all/{adapter}")] {
                let found = run(&folder, &["check", checked]);
                assert_eq!(found.code, code, "{adapter} {path} {checked}: {found:?}");
                let words = "q_proj of the base is 16 × 12";
                assert_eq!(found.out.contains(words), code == 1, "{found:?}");
            }
            // A name with dots leads nowhere.
            let config = PEFT.replace("me/base", "me/..");
            folder.write(&format!("all/{adapter}/adapter_config.json"), config.as_bytes());
            assert_eq!(run(&folder, &["check", "all"]).code, 0);
        }
    }
}
