//! Summaries of models, compared with numbers worked out by hand.

use weighbridge::weighbridge_core::DType;
use weighbridge::{Model, ModelPart, ModelSummary, Origin, Summariser, Value};
use weighbridge_tests::encode::gguf::{self, Tensor};
use weighbridge_tests::encode::safetensors;

const F32: u32 = 0;
const Q8_0: u32 = 8;

fn summary(bytes: &[u8]) -> ModelSummary {
    let model = Model::from_bytes(bytes).expect("a sound file");
    model.summary().expect("all is in memory")
}

fn gguf(metadata: &[(&str, gguf::Value)], tensors: Vec<Tensor>) -> Vec<u8> {
    let metadata =
        metadata.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.clone())).collect();
    gguf::File { metadata, tensors, ..gguf::File::default() }.encode().bytes
}

fn number(value: u32) -> gguf::Value {
    gguf::Value::u32(value)
}

fn float(value: f32) -> gguf::Value {
    gguf::Value::Number(6, value.to_bits().into())
}

/// Two blocks of width 64 with 8 heads, and 2 KV heads.
fn llama() -> Vec<Tensor> {
    let mut all = vec![
        Tensor::new("token_embd.weight", Q8_0, &[64, 100]),
        Tensor::new("output.weight", Q8_0, &[64, 100]),
        Tensor::new("output_norm.weight", F32, &[64]),
        Tensor::new("rope_freqs.weight", F32, &[4]),
    ];
    for block in 0..2 {
        for (name, ty, dims) in [
            ("attn_norm", F32, &[64][..]),
            ("attn_q", Q8_0, &[64, 64]),
            ("attn_k", Q8_0, &[64, 16]),
            ("attn_v", Q8_0, &[64, 16]),
            ("attn_output", Q8_0, &[64, 64]),
            ("ffn_norm", F32, &[64]),
            ("ffn_gate", Q8_0, &[64, 128]),
            ("ffn_up", Q8_0, &[64, 128]),
            ("ffn_down", Q8_0, &[128, 64]),
        ] {
            all.push(Tensor::new(&format!("blk.{block}.{name}.weight"), ty, dims));
        }
    }
    all
}

fn settings() -> Vec<(&'static str, gguf::Value)> {
    vec![
        ("general.architecture", gguf::Value::text("llama")),
        ("general.name", gguf::Value::text("tiny")),
        ("general.file_type", number(7)),
        ("llama.block_count", number(2)),
        ("llama.context_length", number(4096)),
        ("llama.embedding_length", number(64)),
        ("llama.attention.head_count", number(8)),
        ("llama.attention.head_count_kv", number(2)),
        ("llama.rope.freq_base", float(10_000.0)),
        ("tokenizer.ggml.tokens", gguf::Value::texts(&vec!["t"; 100])),
    ]
}

#[test]
fn small_llama_is_summarised() {
    let found = summary(&gguf(&settings(), llama()));
    // Norms 2 × 64, attention 2 × 64 × 64 + 2 × 64 × 16, feed-forward 3 × 64 × 128.
    let block = 128 + 10_240 + 24_576;
    assert_eq!(found.all.parameters, 2 * block + 2 * 6_400 + 64);
    assert_eq!((found.others, found.all.tensors), (4, 22));
    let (norms, others) = (5 * 64, 2 * block + 12_864 - 5 * 64);
    assert_eq!(found.all.bytes, norms * 4 + others * 34 / 32 + 4 * 4);
    let parts: Vec<_> = found.parts.iter().map(|(part, share)| (*part, share.parameters)).collect();
    assert_eq!(
        parts,
        [
            (ModelPart::Embedding, 6_400),
            (ModelPart::Attention, 20_480),
            (ModelPart::FeedForward, 49_152),
            (ModelPart::Norm, 320),
            (ModelPart::Output, 6_400),
            (ModelPart::Other, 0),
        ]
    );
    assert_eq!(found.dtypes[0].0, "q8_0");
    assert_eq!(found.dtypes[0].1.bits_per_weight(), Some(8.5));
    let blocks: Vec<_> = found.blocks.iter().map(|it| (it.number, it.share.parameters)).collect();
    assert_eq!(blocks, [(0, block), (1, block)]);
    assert_eq!(found.fact("file_type").and_then(Value::as_str), Some("Q8_0"));
    assert_eq!(found.fact("vocab_size").and_then(Value::as_int), Some(100));
    assert_eq!(found.fact("key_length").and_then(Value::as_int), Some(8));
    let cache = found.cache.expect("all is said");
    // Layers × heads × (key + value) × positions × bytes.
    assert_eq!(cache.bytes(4096, DType::F16), Some(f64::from(2 * 2 * 16 * 4096 * 2)));
    assert_eq!(cache.bytes(4096, DType::Q8_0), Some(f64::from(2 * 2 * 16 * 4096 / 32 * 34)));
    assert_eq!(found.notes, [""; 0]);
}

#[test]
fn summary_without_metadata_uses_names_and_shapes() {
    let found = summary(&gguf(&[], llama()));
    let from = |name| {
        let fact = found.facts.iter().find(|fact| fact.name == name)?;
        Some((fact.value.as_int()?, fact.from))
    };
    assert_eq!(from("block_count"), Some((2, Origin::Names)));
    assert_eq!(from("vocab_size"), Some((100, Origin::Shapes)));
    assert_eq!(from("embedding_length"), Some((64, Origin::Shapes)));
    assert_eq!(from("feed_forward_length"), Some((128, Origin::Shapes)));
    // Shapes do not give the number of heads, but the number of key and value rows.
    assert_eq!((from("head_count"), found.fact("architecture")), (None, None));
    let cache = found.cache.expect("rows are enough");
    assert_eq!(cache.bytes(4096, DType::F16), Some(f64::from(2 * (16 + 16) * 4096 * 2)));
    let found = summary(&gguf(&[], Vec::new()));
    assert_eq!((found.all.parameters, found.facts.len()), (0, 0));
    assert!(found.cache.is_none() && found.no_cache.is_some());
}

#[test]
fn experts_and_active_experts_are_counted() {
    let mut tensors = llama();
    tensors.retain(|tensor| !String::from_utf8_lossy(&tensor.name).contains("ffn_gate"));
    for block in 0..2 {
        for name in ["ffn_gate_exps", "ffn_up_exps"] {
            let name = format!("blk.{block}.{name}.weight");
            tensors.push(Tensor::new(&name, Q8_0, &[64, 32, 4]));
        }
        tensors.push(Tensor::new(&format!("blk.{block}.ffn_gate_inp.weight"), F32, &[64, 4]));
    }
    let mut settings = settings();
    settings.push(("llama.expert_used_count", number(1)));
    let found = summary(&gguf(&settings, tensors));
    assert_eq!(found.fact("expert_count").and_then(Value::as_int), Some(4));
    let experts = 2 * 2 * 64 * 32 * 4;
    let share = found.parts.iter().find(|(part, _)| *part == ModelPart::Experts);
    assert_eq!(share.map(|(_, share)| share.parameters), Some(experts));
    assert_eq!(found.active, Some(found.all.parameters - experts + experts / 4));
    let named = [0, 1, 7].map(|expert| {
        let name = format!("model.layers.0.mlp.experts.{expert}.up_proj.weight");
        safetensors::Tensor::new(&name, "BF16", &[8, 4])
    });
    let found = summary(&safetensors::File { metadata: None, tensors: named.into() }.encode());
    assert_eq!(found.fact("expert_count").and_then(Value::as_int), Some(3));
}

type Tensors = Vec<(String, Vec<u64>)>;

/// The matrices of four experts, each a tensor of its own. `N` stands for the layer, `E` for the
/// expert and `M` for the matrix.
fn numbered(name: &str, matrices: &[&str]) -> Tensors {
    let named = |expert: u64, matrix: &str| {
        (name.replace('E', &expert.to_string()).replace('M', matrix), vec![8, 4])
    };
    (0..4).flat_map(|expert| matrices.iter().map(move |it| named(expert, it))).collect()
}

/// The same, with the experts stacked in one tensor.
fn stacked(name: &str, matrices: &[&str]) -> Tensors {
    matrices.iter().map(|matrix| (name.replace('M', matrix), vec![4, 8, 4])).collect()
}

#[test]
fn experts_are_counted_in_the_namings_of_published_models() {
    let projections = ["gate_proj", "up_proj", "down_proj"];
    let namings: [(Tensors, &[&str]); 7] = [
        // Qwen, DeepSeek, OLMoE, GLM.
        (
            numbered("model.layers.N.mlp.experts.E.M.weight", &projections),
            &["model.layers.N.mlp.gate.weight", "model.layers.N.mlp.shared_experts.up_proj.weight"],
        ),
        // Mixtral, Phi.
        (
            numbered("model.layers.N.block_sparse_moe.experts.E.M.weight", &["w1", "w2", "w3"]),
            &["model.layers.N.block_sparse_moe.gate.weight"],
        ),
        // Switch, NLLB.
        (
            numbered("encoder.block.N.layer.1.mlp.experts.expert_E.M.weight", &["wi", "wo"]),
            &["encoder.block.N.layer.1.mlp.router.classifier.weight"],
        ),
        // Llama 4, without `weight` at the end.
        (
            stacked("model.layers.N.feed_forward.experts.M", &["gate_up_proj", "down_proj"]),
            &["model.layers.N.feed_forward.router.weight"],
        ),
        // Granite.
        (
            stacked("model.layers.N.block_sparse_moe.M.weight", &["input_linear", "output_linear"]),
            &["model.layers.N.block_sparse_moe.router.layer.weight"],
        ),
        // llama.cpp, today and in its first files of Mixtral.
        (
            stacked("blk.N.ffn_M_exps.weight", &["gate", "up", "down"]),
            &["blk.N.ffn_gate_inp.weight", "blk.N.ffn_up_shexp.weight"],
        ),
        (numbered("blk.N.ffn_M.E.weight", &["gate", "up", "down"]), &["blk.N.ffn_gate_inp.weight"]),
    ];
    for (experts, others) in namings {
        let mut summariser = Summariser::default();
        let all = others.iter().map(|name| (name.to_string(), vec![4, 4]));
        for (name, shape) in experts.iter().cloned().chain(all) {
            for layer in ["0", "1"] {
                let bytes = 2 * shape.iter().product::<u64>();
                summariser.tensor(&name.replace('N', layer), DType::BF16, &shape, bytes);
            }
        }
        summariser.config("num_experts_per_tok", &Value::Int(1));
        let found = summariser.finish();
        let name = &experts[0].0;
        let share = |part| {
            let found = found.parts.iter().find(|(other, _)| *other == part);
            found.map(|(_, share)| share.parameters)
        };
        let of_experts =
            2 * experts.iter().map(|(_, shape)| shape.iter().product::<u64>()).sum::<u64>();
        assert_eq!(share(ModelPart::Experts), Some(of_experts), "{name}");
        assert_eq!(share(ModelPart::FeedForward), Some(32 * others.len() as u64), "{name}");
        assert_eq!(found.fact("expert_count").and_then(Value::as_int), Some(4), "{name}");
        assert_eq!(found.active, Some(found.all.parameters - of_experts / 4 * 3), "{name}");
        assert_eq!(found.blocks.len(), 2, "{name}");
    }
}

#[test]
fn packed_experts_are_counted() {
    let mut summariser = Summariser::default();
    for expert in 0..3 {
        let name = format!("model.layers.0.mlp.experts.{expert}.up_proj");
        summariser.tensor(&format!("{name}.qweight"), DType::I32, &[4, 8], 128);
        summariser.tensor(&format!("{name}.g_idx"), DType::I32, &[32], 128);
        summariser.tensor(&format!("{name}.scales"), DType::F16, &[1, 8], 16);
    }
    let found = summariser.finish();
    assert_eq!(found.fact("expert_count").and_then(Value::as_int), Some(3));
    assert_eq!(found.all.parameters, 3 * 32 * 8);
}

#[test]
fn sliding_windows_and_head_lists_are_read() {
    let with = |more: &[(&'static str, gguf::Value)]| {
        let mut settings = settings();
        settings.extend(more.iter().cloned());
        summary(&gguf(&settings, llama()))
    };
    let window = ("llama.attention.sliding_window", number(1024));
    let pattern = gguf::Value::Array(7, vec![gguf::Value::Number(7, 1), gguf::Value::Number(7, 0)]);
    let key = "llama.attention.sliding_window_pattern";
    let found = with(&[window.clone(), (key, pattern)]);
    let bytes = |found: &ModelSummary| found.cache.as_ref()?.bytes(4096, DType::F16);
    assert_eq!(bytes(&found), Some(f64::from(2 * 16 * (4096 + 1024) * 2)));
    // Without the pattern, it is unknown which layers have a window.
    let found = with(&[window]);
    assert_eq!(bytes(&found), Some(f64::from(2 * 2 * 16 * 4096 * 2)));
    assert!(found.cache.expect("at most").assumes.iter().any(|it| it.contains("an upper bound")));
    let mut lists = settings();
    lists[7].1 = gguf::Value::Array(4, vec![number(0), number(2)]);
    let found = summary(&gguf(&lists, llama()));
    assert_eq!(bytes(&found), Some(f64::from(2 * 16 * 4096 * 2)));
    let found = with(&[
        ("llama.attention.kv_lora_rank", number(32)),
        ("llama.rope.dimension_count", number(8)),
    ]);
    assert_eq!(bytes(&found), Some(f64::from(2 * 40 * 4096 * 2)));
    let found = with(&[("llama.ssm.state_size", number(16))]);
    assert!(found.cache.is_none(), "which layers have a state is not said");
}

#[test]
fn hostile_settings_are_noted_and_yield_no_facts() {
    let mut settings = settings();
    settings[3].1 = number(u32::MAX);
    settings[6].1 = number(0);
    settings[8].1 = float(f32::NAN);
    settings[9].1 = gguf::Value::texts(&["t"; 3]);
    let found = summary(&gguf(&settings, llama()));
    assert!(found.cache.is_none());
    assert_eq!(
        found.notes,
        [
            "block_count is 4294967295, but the tensors form 2 blocks; the others may be in other files",
            "the tokenizer has 3 tokens, but the embedding has 100 rows",
            "head_count is 0",
            "rope_base is \"NaN\", not a finite number",
        ]
    );
    let mut summariser = Summariser::default();
    for block in [u64::MAX, 7, 3] {
        let name = format!("blk.{block}.ffn_up_exps.weight");
        summariser.tensor(&name, DType::F32, &[u64::MAX, u64::MAX, 2], u64::MAX);
    }
    let found = summariser.finish();
    assert_eq!(found.all.parameters, u64::MAX);
    assert_eq!(found.blocks.len(), 3);
}

#[test]
fn packed_elements_are_taken_apart() {
    let parameters = |config: &[(&str, Value)], tensors: &[(&str, DType, &[u64])]| {
        let mut summariser = Summariser::default();
        config.iter().for_each(|(key, value)| summariser.config(key, value));
        for (name, dtype, shape) in tensors {
            summariser.tensor(name, *dtype, shape, 1);
        }
        let found = summariser.finish();
        (found.all.parameters, found.others, found.notes.len())
    };
    // 4-bit GPTQ: 64 × 32 parameters.
    let gptq: &[(&str, DType, &[u64])] = &[
        ("m.qweight", DType::I32, &[8, 32]),
        ("m.qzeros", DType::I32, &[1, 4]),
        ("m.scales", DType::F16, &[1, 32]),
        ("m.g_idx", DType::I32, &[64]),
    ];
    assert_eq!(parameters(&[], gptq), (64 * 32, 4 + 32 + 64, 0));
    let awq: &[(&str, DType, &[u64])] = &[
        ("m.qweight", DType::I32, &[64, 4]),
        ("m.qzeros", DType::I32, &[1, 4]),
        ("m.scales", DType::F16, &[1, 32]),
    ];
    assert_eq!(parameters(&[], awq), (64 * 32, 4 + 32, 0));
    let bits = ("quantization.bits", Value::Int(4));
    let mlx: &[(&str, DType, &[u64])] = &[
        ("m.weight", DType::U32, &[32, 8]),
        ("m.scales", DType::BF16, &[32, 1]),
        ("m.biases", DType::BF16, &[32, 1]),
    ];
    assert_eq!(parameters(&[bits], mlx), (64 * 32, 64, 0));
    assert_eq!(parameters(&[], mlx), (8 * 32, 64, 1), "how many bits is not said");
    let pairs: &[(&str, DType, &[u64])] = &[
        ("m.weight", DType::U8, &[1024, 1]),
        ("m.weight.absmax", DType::U8, &[32]),
        ("m.weight.quant_map", DType::F32, &[16]),
        ("e_blocks", DType::U8, &[2, 4, 2, 16]),
        ("e_scales", DType::U8, &[2, 4, 2]),
    ];
    assert_eq!(parameters(&[], pairs), (2048 + 512, 32 + 16 + 16, 0));
    let alone: &[(&str, DType, &[u64])] = &[("m.scales", DType::F32, &[7])];
    assert_eq!(parameters(&[], alone), (7, 0, 0));
}

#[test]
fn config_gives_facts_beyond_shapes() {
    let names = ["q_proj", "k_proj", "v_proj"];
    let tensors: Vec<_> = names
        .iter()
        .zip([64, 16, 16])
        .map(|(name, rows)| {
            let name = format!("model.layers.0.self_attn.{name}.weight");
            safetensors::Tensor::new(&name, "BF16", &[rows, 64])
        })
        .collect();
    let bytes = safetensors::File { metadata: None, tensors: tensors.clone() }.encode();
    let found = summary(&bytes);
    assert_eq!(found.fact("head_count"), None);
    let cache = found.cache.expect("rows are enough");
    assert_eq!(cache.bytes(1000, DType::BF16), Some(64_000.0));
    let mut with_norm = tensors;
    let norm = "model.layers.0.self_attn.q_norm.weight";
    with_norm.push(safetensors::Tensor::new(norm, "BF16", &[8]));
    let found = summary(&safetensors::File { metadata: None, tensors: with_norm }.encode());
    assert_eq!(found.fact("head_count").and_then(Value::as_int), Some(8));
    assert_eq!(found.fact("head_count_kv").and_then(Value::as_int), Some(2));
    let mut summariser = Summariser::default();
    for (key, value) in [
        ("architectures", [Value::from("LlamaForCausalLM")].into_iter().collect()),
        ("text_config.num_hidden_layers", Value::Int(3)),
        ("text_config.hidden_size", Value::Int(64)),
        ("text_config.num_attention_heads", Value::Int(8)),
        ("sliding_window", Value::Null),
    ] {
        summariser.config(key, &value);
    }
    let found = summariser.finish();
    let architecture = &found.facts[0];
    assert_eq!((architecture.key.as_str(), architecture.from), ("architectures", Origin::Config));
    assert_eq!(architecture.value.as_str(), Some("LlamaForCausalLM"));
    let cache = found.cache.expect("all is said");
    assert_eq!(cache.bytes(10, DType::F16), Some(f64::from(3 * 8 * 16 * 10 * 2)));
}

#[test]
fn summary_counts_no_parameters_without_data() {
    let mut summariser = Summariser::default();
    summariser.tensor("dense/kernel", DType::F32, &[4, 3], 48);
    summariser.tensor("input", DType::F32, &[1, 3], 0);
    summariser.tensor("output", DType::I8, &[1, 4], 0);
    summariser.tensor("empty", DType::F32, &[0, 4], 0);
    let found = summariser.finish();
    assert_eq!((found.all.tensors, found.all.parameters, found.all.bytes), (2, 12, 48));
    assert_eq!(found.all.bits_per_weight(), Some(32.0));
    let without = found.without_data;
    assert_eq!((without.tensors, without.parameters, without.bytes), (2, 7, 16));
}
