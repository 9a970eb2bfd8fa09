//! The GGUF names of tensors from Hugging Face libraries.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Names outside layers, without `.weight` or `.bias`.
const OUTSIDE: &[(&str, &str)] = &[
    ("embed_in", "token_embd"),
    ("embed_out", "output"),
    ("embed_tokens", "token_embd"),
    ("embeddings.LayerNorm", "token_embd_norm"),
    ("embeddings.position_embeddings", "position_embd"),
    ("embeddings.token_type_embeddings", "token_types"),
    ("embeddings.word_embeddings", "token_embd"),
    ("final_layer_norm", "output_norm"),
    ("final_layernorm", "output_norm"),
    ("ln_f", "output_norm"),
    ("lm_head", "output"),
    ("norm", "output_norm"),
    ("norm_f", "output_norm"),
    ("tok_embeddings", "token_embd"),
    ("word_embeddings", "token_embd"),
    ("word_embeddings_layernorm", "token_embd_norm"),
    ("wpe", "position_embd"),
    ("wte", "token_embd"),
];

/// Names within a layer, without `.weight` or `.bias`. A name with several rows has a different
/// translation in some architectures.
const WITHIN: &[(&str, &str)] = &[
    ("attention.dense", "attn_output"),
    ("attention.output.LayerNorm", "attn_output_norm"),
    ("attention.output.dense", "attn_output"),
    ("attention.query_key_value", "attn_qkv"),
    ("attention.self.key", "attn_k"),
    ("attention.self.query", "attn_q"),
    ("attention.self.value", "attn_v"),
    ("attention.wk", "attn_k"),
    ("attention.wo", "attn_output"),
    ("attention.wq", "attn_q"),
    ("attention.wv", "attn_v"),
    ("attention_norm", "attn_norm"),
    ("attn.Wqkv", "attn_qkv"),
    ("attn.c_attn", "attn_qkv"),
    ("attn.c_proj", "attn_output"),
    ("attn.k_proj", "attn_k"),
    ("attn.out_proj", "attn_output"),
    ("attn.q_proj", "attn_q"),
    ("attn.v_proj", "attn_v"),
    ("block_sparse_moe.gate", "ffn_gate_inp"),
    ("feed_forward.w1", "ffn_gate"),
    ("feed_forward.w2", "ffn_down"),
    ("feed_forward.w3", "ffn_up"),
    ("ffn_norm", "ffn_norm"),
    ("input_layernorm", "attn_norm"),
    ("intermediate.dense", "ffn_up"),
    ("ln_1", "attn_norm"),
    ("ln_2", "ffn_norm"),
    ("ln_attn", "attn_norm_2"),
    ("ln_mlp", "attn_norm"),
    ("mixer.D", "ssm_d"),
    ("mixer.conv1d", "ssm_conv1d"),
    ("mixer.dt_proj", "ssm_dt"),
    ("mixer.in_proj", "ssm_in"),
    ("mixer.out_proj", "ssm_out"),
    ("mixer.x_proj", "ssm_x"),
    ("mlp.c_fc", "ffn_up"),
    ("mlp.c_proj", "ffn_down"),
    ("mlp.dense_4h_to_h", "ffn_down"),
    ("mlp.dense_h_to_4h", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("mlp.fc1", "ffn_up"),
    ("mlp.fc2", "ffn_down"),
    ("mlp.gate", "ffn_gate_inp"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.gate_up_proj", "ffn_up"),
    ("mlp.shared_expert.down_proj", "ffn_down_shexp"),
    ("mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
    ("mlp.shared_expert.up_proj", "ffn_up_shexp"),
    ("mlp.shared_experts.down_proj", "ffn_down_shexp"),
    ("mlp.shared_experts.gate_proj", "ffn_gate_shexp"),
    ("mlp.shared_experts.up_proj", "ffn_up_shexp"),
    ("mlp.up_proj", "ffn_up"),
    ("norm", "attn_norm"),
    ("output.LayerNorm", "layer_output_norm"),
    ("output.dense", "ffn_down"),
    // If there is a separate norm before the feed-forward block; otherwise it is that norm.
    ("post_attention_layernorm", "post_attention_norm"),
    ("post_attention_layernorm", "ffn_norm"),
    ("post_feedforward_layernorm", "post_ffw_norm"),
    ("post_mlp_layernorm", "post_ffw_norm"),
    ("post_self_attn_layernorm", "post_attention_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"),
    ("self_attention.dense", "attn_output"),
    ("self_attention.query_key_value", "attn_qkv"),
    ("self_attn.dense", "attn_output"),
    ("self_attn.k_layernorm", "attn_k_norm"),
    ("self_attn.k_norm", "attn_k_norm"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.kv_a_layernorm", "attn_kv_a_norm"),
    ("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
    ("self_attn.kv_b_proj", "attn_kv_b"),
    ("self_attn.o_proj", "attn_output"),
    ("self_attn.q_a_layernorm", "attn_q_a_norm"),
    ("self_attn.q_a_proj", "attn_q_a"),
    ("self_attn.q_b_proj", "attn_q_b"),
    ("self_attn.q_layernorm", "attn_q_norm"),
    ("self_attn.q_norm", "attn_q_norm"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.qkv_proj", "attn_qkv"),
    ("self_attn.query_key_value", "attn_qkv"),
    ("self_attn.v_proj", "attn_v"),
];

/// Prefixes of names outside layers.
const WRAPPERS: [&str; 6] =
    ["backbone.", "bert.", "gpt_neox.", "language_model.", "model.", "transformer."];

/// Prefixes of name components that belong to image and audio encoders.
const ENCODERS: [&str; 3] = ["audio", "visi", "visu"];

/// The names that llama.cpp's converter may give a tensor of `transformers`, likeliest first;
/// empty for an unknown name. The converter may change the values too: it transposes GPT-2's
/// projections.
///
/// ```
/// use weighbridge::gguf_names;
///
/// let names = gguf_names("model.layers.7.self_attn.q_proj.weight");
/// assert_eq!(names, ["blk.7.attn_q.weight"]);
/// assert_eq!(gguf_names("lm_head.weight"), ["output.weight"]);
/// assert!(gguf_names("encoder.weight").is_empty());
/// ```
pub fn gguf_names(name: &str) -> Vec<String> {
    let suffix = [".weight", ".bias"].into_iter().find(|suffix| name.ends_with(suffix));
    let suffix = suffix.unwrap_or_default();
    let name = name.strip_suffix(suffix).unwrap_or(name);
    let rows = |table: &'static [(&str, &str)], name: &str| {
        let name = String::from(name);
        table.iter().filter(move |(theirs, _)| *theirs == name).map(|(_, gguf)| *gguf)
    };
    let mut at = 0;
    for part in name.split('.') {
        let end = at + part.len();
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            // Image and audio encoders have layers too, which are in other GGUF files.
            let mut before = name.get(..at).unwrap_or_default().split('.');
            if before.any(|it| ENCODERS.iter().any(|start| it.starts_with(start))) {
                return Vec::new();
            }
            let within = name.get(end + 1..).unwrap_or_default();
            return rows(WITHIN, within).map(|gguf| format!("blk.{part}.{gguf}{suffix}")).collect();
        }
        at = end + 1;
    }
    let mut outside = name;
    while let Some(rest) = WRAPPERS.iter().find_map(|wrapper| outside.strip_prefix(wrapper)) {
        outside = rest;
    }
    rows(OUTSIDE, outside).map(|gguf| format!("{gguf}{suffix}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_common_architectures() {
        for (theirs, gguf) in [
            ("model.embed_tokens.weight", &["token_embd.weight"][..]),
            ("language_model.model.norm.weight", &["output_norm.weight"]),
            ("model.language_model.layers.12.mlp.up_proj.weight", &["blk.12.ffn_up.weight"]),
            ("transformer.h.0.attn.c_attn.bias", &["blk.0.attn_qkv.bias"]),
            ("bert.encoder.layer.3.output.LayerNorm.bias", &["blk.3.layer_output_norm.bias"]),
            ("gpt_neox.layers.1.mlp.dense_4h_to_h.weight", &["blk.1.ffn_down.weight"]),
            ("backbone.layers.2.mixer.A_log", &[]),
            ("model.visual.blocks.0.mlp.gate_proj.weight", &[]),
            (
                "model.layers.0.post_attention_layernorm.weight",
                &["blk.0.post_attention_norm.weight", "blk.0.ffn_norm.weight"],
            ),
            ("model.layers.0.mlp.experts.5.up_proj.weight", &[]),
            ("model.layers.0", &[]),
            ("model.", &[]),
            ("", &[]),
        ] {
            assert_eq!(gguf_names(theirs), gguf, "{theirs}");
        }
    }
}
