//! The names of facts, with their keys in settings.

/// A fact, its keys in GGUF after the architecture, and its keys in a `config.json`.
pub(super) type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

pub(super) const ROWS: &[Row] = &[
    (
        "context_length",
        &["context_length"],
        &["max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"],
    ),
    ("block_count", &["block_count"], &["num_hidden_layers", "n_layer", "num_layers", "n_layers"]),
    ("embedding_length", &["embedding_length"], &["hidden_size", "n_embd", "d_model", "dim"]),
    (
        "feed_forward_length",
        &["feed_forward_length"],
        &["intermediate_size", "n_inner", "ffn_dim", "d_ff"],
    ),
    ("head_count", &["attention.head_count"], &["num_attention_heads", "n_head", "num_heads"]),
    (
        "head_count_kv",
        &["attention.head_count_kv"],
        &["num_key_value_heads", "num_kv_heads", "n_head_kv"],
    ),
    ("key_length", &["attention.key_length"], &["head_dim"]),
    ("value_length", &["attention.value_length"], &["v_head_dim", "head_dim"]),
    ("kv_lora_rank", &["attention.kv_lora_rank"], &["kv_lora_rank"]),
    ("q_lora_rank", &["attention.q_lora_rank"], &["q_lora_rank"]),
    ("sliding_window", &["attention.sliding_window"], &["sliding_window"]),
    ("sliding_window_pattern", &["attention.sliding_window_pattern"], &["sliding_window_pattern"]),
    ("layer_types", &[], &["layer_types", "layers_block_type", "hybrid_override_pattern"]),
    ("attention_layer_count", &[], &[]),
    ("state_layer_count", &[], &[]),
    ("kv_shared_layer_count", &["attention.shared_kv_layers"], &["num_kv_shared_layers"]),
    (
        "nextn_layer_count",
        &["nextn_predict_layers"],
        &["num_nextn_predict_layers", "mtp_num_hidden_layers"],
    ),
    ("expert_count", &["expert_count"], &["num_local_experts", "num_experts", "n_routed_experts"]),
    (
        "expert_used_count",
        &["expert_used_count"],
        &["num_experts_per_tok", "num_experts_per_token", "top_k_experts"],
    ),
    ("expert_layer_count", &[], &[]),
    ("expert_shared_count", &["expert_shared_count"], &["n_shared_experts"]),
    ("expert_feed_forward_length", &["expert_feed_forward_length"], &["moe_intermediate_size"]),
    (
        "rope_base",
        &["rope.freq_base"],
        &["rope_theta", "rope_parameters.rope_theta", "rotary_emb_base"],
    ),
    ("rope_dimension_count", &["rope.dimension_count"], &["qk_rope_head_dim", "rotary_dim"]),
    (
        "rope_scaling_type",
        &["rope.scaling.type"],
        &["rope_scaling.rope_type", "rope_scaling.type", "rope_parameters.rope_type"],
    ),
    (
        "rope_scaling_factor",
        &["rope.scaling.factor", "rope.scale_linear"],
        &["rope_scaling.factor", "rope_parameters.factor"],
    ),
    (
        "rope_original_context_length",
        &["rope.scaling.original_context_length"],
        &[
            "rope_scaling.original_max_position_embeddings",
            "rope_parameters.original_max_position_embeddings",
            "original_max_position_embeddings",
        ],
    ),
    (
        "norm_epsilon",
        &["attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"],
        &["rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps"],
    ),
    ("vocab_size", &["vocab_size"], &["vocab_size"]),
];

/// Metadata keys that are the same in all architectures.
pub(super) const GENERAL: &[(&str, &[&str], &[&str])] = &[
    ("name", &["general.name", "modelspec.title", "ss_output_name"], &["_name_or_path"]),
    (
        "architecture",
        &["general.architecture", "modelspec.architecture"],
        &["architectures", "model_type"],
    ),
    ("size_label", &["general.size_label"], &[]),
    ("file_type", &["general.file_type"], &["quantization_config.quant_method"]),
];

/// llama.cpp's name for a file in which most tensors have a certain type.
pub(super) fn file_type(code: i128) -> Option<&'static str> {
    const NAMES: [&str; 39] = [
        "F32",
        "F16",
        "Q4_0",
        "Q4_1",
        "",
        "",
        "",
        "Q8_0",
        "Q5_0",
        "Q5_1",
        "Q2_K",
        "Q3_K_S",
        "Q3_K_M",
        "Q3_K_L",
        "Q4_K_S",
        "Q4_K_M",
        "Q5_K_S",
        "Q5_K_M",
        "Q6_K",
        "IQ2_XXS",
        "IQ2_XS",
        "Q2_K_S",
        "IQ3_XS",
        "IQ3_XXS",
        "IQ1_S",
        "IQ4_NL",
        "IQ3_S",
        "IQ3_M",
        "IQ2_S",
        "IQ2_M",
        "IQ4_XS",
        "IQ1_M",
        "BF16",
        "",
        "",
        "",
        "TQ1_0",
        "TQ2_0",
        "MXFP4_MOE",
    ];
    let code = usize::try_from(code).ok()?;
    NAMES.get(code).copied().filter(|name| !name.is_empty())
}
