//! Derives a tensor's purpose and block from its name.

use alloc::string::String;
use weighbridge_core::DType;

/// A part of a model, by the purpose of its tensors.
///
/// ```
/// use weighbridge::ModelPart;
///
/// assert_eq!(ModelPart::of("blk.0.attn_q.weight"), ModelPart::Attention);
/// assert_eq!(ModelPart::of("model.layers.7.mlp.experts.3.up_proj.weight"), ModelPart::Experts);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ModelPart {
    /// Maps tokens and positions to vectors.
    Embedding,
    /// Attention, including its projections.
    Attention,
    /// Feed-forward layers, routers, and experts that every token uses.
    FeedForward,
    /// Experts of which each token uses some.
    Experts,
    /// Layers that keep a state instead of keys and values.
    StateSpace,
    /// Norms.
    Norm,
    /// Maps vectors to tokens.
    Output,
    /// Not identified by the name.
    Other,
}

impl ModelPart {
    /// All parts, in display order.
    pub(crate) const ALL: [ModelPart; 8] = [
        ModelPart::Embedding,
        ModelPart::Attention,
        ModelPart::FeedForward,
        ModelPart::Experts,
        ModelPart::StateSpace,
        ModelPart::Norm,
        ModelPart::Output,
        ModelPart::Other,
    ];

    /// The name in JSON and in tables.
    ///
    /// ```
    /// assert_eq!(weighbridge::ModelPart::FeedForward.name(), "feed-forward");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            ModelPart::Embedding => "embedding",
            ModelPart::Attention => "attention",
            ModelPart::FeedForward => "feed-forward",
            ModelPart::Experts => "experts",
            ModelPart::StateSpace => "state space",
            ModelPart::Norm => "norm",
            ModelPart::Output => "output",
            ModelPart::Other => "other",
        }
    }

    /// Derives the part from a tensor name of GGUF or of Python libraries.
    ///
    /// ```
    /// use weighbridge::ModelPart;
    ///
    /// assert_eq!(ModelPart::of("lm_head.weight"), ModelPart::Output);
    /// assert_eq!(ModelPart::of("x"), ModelPart::Other);
    /// ```
    pub fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let within = block_of(&name).is_some();
        let word = |test: &dyn Fn(&str) -> bool| {
            name.split(|c: char| !c.is_ascii_alphanumeric()).any(test)
        };
        let segment = |known: &[&str]| name.split('.').any(|it| known.contains(&it));
        if word(&|it| it.contains("norm") || it == "ln" || it == "bn") {
            ModelPart::Norm
        } else if segment(&["experts"]) || word(&|it| it == "exps") || is_expert(&name) {
            ModelPart::Experts
        } else if word(&|it| matches!(it, "ssm" | "mamba" | "mamba2" | "mixer" | "rwkv"))
            || ["time_mix", "linear_attn", "deltanet"].iter().any(|part| name.contains(part))
        {
            ModelPart::StateSpace
        } else if !within && segment(OUTPUT) {
            ModelPart::Output
        } else if word(&|it| it.contains("attn") || it.contains("attention"))
            || segment(PROJECTIONS)
        {
            ModelPart::Attention
        } else if word(&|it| FEED_FORWARD.contains(&it))
            || ["feed_forward", "channel_mix"].iter().any(|part| name.contains(part))
        {
            ModelPart::FeedForward
        } else if within && segment(&["output"]) {
            // BERT, whose attention has an output of its own.
            ModelPart::FeedForward
        } else if word(&|it| EMBEDDING.contains(&it)) || name.starts_with("token_types") {
            ModelPart::Embedding
        } else {
            ModelPart::Other
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ModelPart {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// Name parts outside of blocks for tensors that turn vectors into tokens or classes.
const OUTPUT: &[&str] =
    &["output", "lm_head", "embed_out", "output_proj", "score", "classifier", "head", "cls"];
/// Attention projections whose names do not mention attention.
const PROJECTIONS: &[&str] = &[
    "q_proj", "k_proj", "v_proj", "o_proj", "qkv", "qkv_proj", "to_q", "to_k", "to_v", "to_out",
    "wq", "wk", "wv", "wo",
];
const FEED_FORWARD: &[&str] =
    &["ffn", "mlp", "ff", "fc1", "fc2", "intermediate", "densereludense", "moe", "router", "4h"];
const EMBEDDING: &[&str] =
    &["embd", "embed", "embedding", "embeddings", "emb", "wte", "wpe", "embedder"];

/// The stack of blocks that contains a tensor, and the number of its block: the part of the
/// name before its first number between two dots, and that number.
pub(super) fn block_of(name: &str) -> Option<(&str, u64)> {
    let mut at = 0;
    for part in name.split('.') {
        let end = at + part.len();
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if digits && at > 0 && end < name.len() {
            return Some((name.get(..at - 1)?, part.parse().ok()?));
        }
        at = end + 1;
    }
    None
}

/// Whether a tensor predicts further tokens in a stack of its own: `mtp.layers.0.…`.
pub(super) fn predicts_ahead(name: &str) -> bool {
    name.split('.').any(|part| part == "mtp" || part.starts_with("mtp_"))
}

/// The number of an expert: `experts.3`, `experts.expert_3`, and `ffn_up.3` in early files of
/// llama.cpp.
pub(super) fn expert_of(name: &str) -> Option<u64> {
    pairs(name).find_map(|(before, number)| match before {
        "experts" => number.strip_prefix("expert_").unwrap_or(number).parse().ok(),
        "ffn_gate" | "ffn_up" | "ffn_down" => number.parse().ok(),
        _ => None,
    })
}

/// Whether a name that does not mention experts is that of one, or of all of a layer (Granite).
fn is_expert(name: &str) -> bool {
    let stacked = |pair| matches!(pair, ("block_sparse_moe", "input_linear" | "output_linear"));
    expert_of(name).is_some() || pairs(name).any(stacked)
}

/// Each part of a name, with the next one.
fn pairs(name: &str) -> impl Iterator<Item = (&str, &str)> {
    name.split('.').zip(name.split('.').skip(1))
}

/// Whether a tensor holds no parameters, but values computed from settings or counted during
/// training: frequencies, masks, positions.
pub(super) fn is_table(name: &str, shape: &[u64]) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let whole = name.strip_suffix(".weight").unwrap_or(name);
    let mask = matches!(shape, [1, 1, n, m] if n == m) && name.ends_with("attn.bias");
    mask || TABLES.contains(&last)
        || ["rope_freqs", "rope_factors_long", "rope_factors_short"].iter().any(|it| {
            whole.strip_suffix(it).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

const TABLES: &[&str] = &[
    "inv_freq",
    "masked_bias",
    "num_batches_tracked",
    "position_ids",
    "running_mean",
    "running_var",
];

/// Whether the name of a tensor identifies it as the scales of others.
pub(super) fn is_scale(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    SCALES.contains(&last) || last.starts_with("bitsandbytes__") || name.contains(".quant_state.")
}

const SCALES: &[&str] = &[
    "SCB",
    "absmax",
    "input_scale",
    "k_scale",
    "nested_absmax",
    "nested_quant_map",
    "quant_map",
    "v_scale",
    "weight_g_idx",
    "weight_global_scale",
    "weight_scale",
    "weight_scale_2",
    "weight_scale_inv",
    "weight_shape",
    "weight_zero_point",
];

/// A tensor that may pack several parameters per element, or belong to one that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packed {
    /// `qweight` of GPTQ and AWQ, with scales in `scales`.
    Words,
    /// Pairs of 4 bits per byte, according to the names (`_blocks`, `weight_packed`).
    Pairs,
    /// `weight_packed` of compressed-tensors, packed into words.
    Compressed,
    /// A `weight` of integers: bytes in bitsandbytes, words in MLX.
    Integers,
    /// `scales`, `qzeros`, `biases`, `g_idx`, `_scales`: scales if a packed tensor exists.
    Beside,
}

/// How a tensor may be packed, and the name that it shares with its scales.
pub(super) fn packed(name: &str, dtype: DType) -> Option<(Packed, String)> {
    let base = |suffix: &str| name.strip_suffix(suffix).map(String::from);
    let integer = matches!(dtype, DType::I8 | DType::U8 | DType::I32 | DType::U32);
    if let Some(base) = base(".weight_packed").filter(|_| integer) {
        let bytes = dtype == DType::U8 || dtype == DType::I8;
        return Some((if bytes { Packed::Pairs } else { Packed::Compressed }, base));
    }
    if let Some(base) = base("_blocks").filter(|_| dtype == DType::U8) {
        return Some((Packed::Pairs, base));
    }
    if let Some(base) = base(".qweight").filter(|_| dtype == DType::I32) {
        return Some((Packed::Words, base));
    }
    if let Some(base) = base(".weight").filter(|_| integer) {
        return Some((Packed::Integers, base));
    }
    [".scales", ".qzeros", ".g_idx", ".biases", "_scales"]
        .into_iter()
        .find_map(base)
        .map(|base| (Packed::Beside, base))
}

/// A tensor whose shape reveals a property of the whole model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Embedding,
    Query,
    Key,
    Value,
    /// The compressed keys and values of latent attention.
    Latent,
    QueryNorm,
    Up,
}

/// The role of the tensor with this name, if any.
pub(super) fn role_of(name: &str) -> Option<Role> {
    if name.contains("cross") || name.contains("encoder_attn") {
        return None;
    }
    let name = name.strip_suffix(".weight")?;
    let ends = |known: &&str| {
        name.strip_suffix(*known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    ROLES.iter().find(|(_, known)| known.iter().any(&ends)).map(|(role, _)| *role)
}

const ROLES: &[(Role, &[&str])] = &[
    (Role::Embedding, &["token_embd", "embed_tokens", "tok_embeddings", "word_embeddings", "wte"]),
    (Role::Query, &["attn_q", "self_attn.q_proj", "attention.wq"]),
    (Role::Key, &["attn_k", "self_attn.k_proj", "attention.wk"]),
    (Role::Value, &["attn_v", "self_attn.v_proj", "attention.wv"]),
    (Role::Latent, &["attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"]),
    (Role::QueryNorm, &["attn_q_norm", "self_attn.q_norm"]),
    (Role::Up, &["ffn_up", "mlp.up_proj", "feed_forward.w3"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_common_architectures() {
        use ModelPart as P;
        for (name, part) in [
            ("token_embd.weight", P::Embedding),
            ("token_embd_norm.weight", P::Norm),
            ("output.weight", P::Output),
            ("output_norm.weight", P::Norm),
            ("blk.3.attn_norm.weight", P::Norm),
            ("blk.3.attn_kv_a_mqa.weight", P::Attention),
            ("blk.3.ffn_gate_inp.weight", P::FeedForward),
            ("blk.3.ffn_gate_exps.weight", P::Experts),
            ("blk.3.ffn_up_shexp.weight", P::FeedForward),
            ("blk.3.ssm_in.weight", P::StateSpace),
            ("model.embed_tokens.weight", P::Embedding),
            ("model.layers.0.self_attn.q_proj.weight", P::Attention),
            ("model.layers.0.self_attn.q_norm.weight", P::Norm),
            ("model.layers.0.mlp.gate_proj.weight", P::FeedForward),
            ("model.layers.0.mlp.experts.gate_up_proj", P::Experts),
            ("model.layers.0.mlp.shared_experts.up_proj.weight", P::FeedForward),
            ("model.layers.0.block_sparse_moe.gate.weight", P::FeedForward),
            ("model.layers.0.linear_attn.in_proj.weight", P::StateSpace),
            ("transformer.h.0.ln_1.weight", P::Norm),
            ("transformer.h.0.mlp.c_fc.weight", P::FeedForward),
            ("transformer.wte.weight", P::Embedding),
            ("encoder.layer.3.attention.output.dense.weight", P::Attention),
            ("encoder.layer.3.output.dense.weight", P::FeedForward),
            ("lm_head.weight", P::Output),
            ("embed_out.weight", P::Output),
            ("backbone.layers.0.mixer.in_proj.weight", P::StateSpace),
            ("model.diffusion_model.input_blocks.1.1.proj_in.weight", P::Other),
            ("", P::Other),
        ] {
            assert_eq!(ModelPart::of(name), part, "{name}");
        }
    }

    #[test]
    fn blocks_by_the_first_number() {
        assert_eq!(block_of("blk.12.attn_q.weight"), Some(("blk", 12)));
        assert_eq!(block_of("a.h.0.b.1.c"), Some(("a.h", 0)));
        assert_eq!(block_of("0.weight"), None);
        assert_eq!(block_of("layers.7"), None);
        assert_eq!(block_of("layers.99999999999999999999.x"), None);
        assert_eq!(block_of("layers..x"), None);
    }

    #[test]
    fn scales_are_not_parameters() {
        assert!(is_table("rope_freqs.weight", &[64]));
        assert!(is_table("model.layers.0.self_attn.rotary_emb.inv_freq", &[64]));
        assert!(is_table("h.0.attn.bias", &[1, 1, 1024, 1024]));
        assert!(!is_table("h.0.attn.bias", &[2304]));
        assert!(is_scale("model.layers.0.mlp.up_proj.weight_scale_inv"));
        assert!(is_scale("x.weight.quant_state.bitsandbytes__nf4"));
        assert!(!is_scale("model.layers.0.mlp.up_proj.weight"));
    }

    #[test]
    fn role_needs_whole_name() {
        assert_eq!(role_of("blk.0.attn_k.weight"), Some(Role::Key));
        assert_eq!(role_of("model.layers.0.self_attn.k_proj.weight"), Some(Role::Key));
        assert_eq!(role_of("blk.0.my_attn_k.weight"), None);
        assert_eq!(role_of("blk.0.attn_k.bias"), None);
        assert_eq!(role_of("decoder.layers.0.encoder_attn.k_proj.weight"), None);
    }
}
