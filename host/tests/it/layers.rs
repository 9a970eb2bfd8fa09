//! The cache of models with several kinds of layers, compared with numbers worked out by hand.

use weighbridge::weighbridge_core::DType;
use weighbridge::{Cache, ModelSummary, Summariser, Value};

/// Settings of a config.json; names of nested objects are joined by dots.
pub(crate) fn config(settings: &[(&str, Value)]) -> Summariser {
    let mut summariser = Summariser::default();
    settings.iter().for_each(|(key, value)| summariser.config(key, value));
    summariser
}

/// Metadata of a GGUF file of this architecture.
pub(crate) fn metadata(architecture: &str, settings: &[(&str, Value)]) -> Summariser {
    let mut summariser = Summariser::default();
    summariser.metadata("general.architecture", &Value::from(architecture));
    for (key, value) in settings {
        summariser.metadata(&format!("{architecture}.{key}"), value);
    }
    summariser
}

pub(crate) fn texts(items: &[&str]) -> Value {
    items.iter().map(|item| Value::from(*item)).collect()
}

fn numbers(items: &[i128]) -> Value {
    items.iter().map(|item| Value::Int(*item)).collect()
}

pub(crate) fn with<'a>(
    base: &[(&'a str, Value)],
    more: &[(&'a str, Value)],
) -> Vec<(&'a str, Value)> {
    let kept = base.iter().filter(|(key, _)| more.iter().all(|(other, _)| key != other));
    kept.chain(more).cloned().collect()
}

/// Bytes of keys and values for 1000 positions in f16, and layers and bytes of states.
pub(crate) type Taken = (f64, Option<(u64, Option<u64>)>);

pub(crate) fn taken(summary: &ModelSummary) -> Option<Taken> {
    let cache: &Cache = summary.cache.as_ref()?;
    let state = cache.state.map(|state| (state.layers, state.bytes()));
    Some((cache.bytes(1000, DType::F16)?, state))
}

pub(crate) fn of_config(settings: &[(&str, Value)]) -> Option<Taken> {
    taken(&config(settings).finish())
}

/// The reason why the cache is unknown.
pub(crate) fn refused(settings: &[(&str, Value)]) -> String {
    let found = config(settings).finish();
    assert_eq!(found.cache, None);
    found.no_cache.expect("a reason")
}

fn number(summary: &ModelSummary, name: &str) -> Option<i128> {
    summary.fact(name).and_then(Value::as_int)
}

/// 8 KV heads of 128 elements in 32 layers, of which `count` keep keys and values.
fn keys(count: u32) -> f64 {
    f64::from(count * 8 * (128 + 128) * 1000 * 2)
}

pub(crate) const INT: fn(i128) -> Value = Value::Int;

fn jamba() -> Vec<(&'static str, Value)> {
    vec![
        ("model_type", Value::from("jamba")),
        ("num_hidden_layers", INT(32)),
        ("hidden_size", INT(4096)),
        ("num_attention_heads", INT(32)),
        ("num_key_value_heads", INT(8)),
        ("attn_layer_period", INT(8)),
        ("attn_layer_offset", INT(4)),
        ("expert_layer_period", INT(2)),
        ("expert_layer_offset", INT(1)),
        ("num_experts", INT(16)),
        ("mamba_d_state", INT(16)),
        ("mamba_d_conv", INT(4)),
        ("mamba_expand", INT(2)),
    ]
}

#[test]
fn jamba_has_attention_in_one_layer_of_a_period() {
    // Layers 4, 12, 20 and 28 attend. The others keep 4 - 1 columns of the convolution and 16 of
    // the state, each of 2 × 4096 elements, in f32.
    let state = 28 * (4 - 1 + 16) * 2 * 4096 * 4;
    let found = config(&jamba()).finish();
    assert_eq!(taken(&found), Some((keys(4), Some((28, Some(state))))));
    assert_eq!(number(&found, "attention_layer_count"), Some(4));
    assert_eq!(number(&found, "state_layer_count"), Some(28));
    assert_eq!(number(&found, "expert_layer_count"), Some(16));
    assert_eq!(found.notes, [""; 0]);
    // The last period is incomplete: of 13 layers, 4 and 12 attend, of 12 only 4.
    let cut = |layers| with(&jamba(), &[("num_hidden_layers", INT(layers))]);
    assert_eq!(of_config(&cut(13)).map(|it| it.0), Some(keys(2)));
    assert_eq!(of_config(&cut(12)).map(|it| it.0), Some(keys(1)));
    // All layers attend, then none.
    let all = with(&jamba(), &[("attn_layer_period", INT(1)), ("attn_layer_offset", INT(0))]);
    assert_eq!(of_config(&all), Some((keys(32), None)));
    let far = with(&jamba(), &[("attn_layer_period", INT(64)), ("attn_layer_offset", INT(63))]);
    assert_eq!(of_config(&far).map(|it| it.0), Some(0.0));
}

#[test]
fn periods_without_sense_claim_nothing() {
    for (period, offset) in [
        (INT(0), INT(0)),
        (INT(8), INT(8)),
        (INT(8), INT(i128::from(u64::MAX))),
        (INT(-8), INT(4)),
        (INT(8), INT(-1)),
        (INT(i128::MAX), INT(4)),
        (Value::Float(8.0), INT(4)),
        (Value::from("8"), INT(4)),
    ] {
        let more = [("attn_layer_period", period.clone()), ("attn_layer_offset", offset.clone())];
        let why = refused(&with(&jamba(), &more));
        assert!(why.starts_with("attn_layer_period is "), "{why}");
        let more = [("expert_layer_period", period), ("expert_layer_offset", offset)];
        let found = config(&with(&jamba(), &more)).finish();
        assert_eq!(found.fact("expert_layer_count"), None);
        assert!(found.notes[0].contains("which layers have experts is unknown"));
        assert!(found.cache.is_some());
    }
    let mut without = jamba();
    without.retain(|(key, _)| !key.starts_with("attn_layer"));
    assert!(refused(&without).contains("which ones is not specified"));
    without.push(("attn_layer_period", INT(8)));
    assert!(refused(&without).contains("which ones is not specified"));
    let huge = INT(i128::from(u64::MAX));
    assert!(
        refused(&with(&jamba(), &[("num_hidden_layers", huge.clone())])).contains("implausible")
    );
    // Sizes that overflow are unknown; the rest is not affected.
    let wide = with(&jamba(), &[("mamba_expand", huge), ("mamba_d_conv", INT(0))]);
    assert_eq!(of_config(&wide), Some((keys(4), Some((28, None)))));
}

fn nemotron() -> Vec<(&'static str, Value)> {
    vec![
        ("model_type", Value::from("nemotron_h")),
        ("num_hidden_layers", INT(6)),
        ("hidden_size", INT(4096)),
        ("num_attention_heads", INT(32)),
        ("num_key_value_heads", INT(8)),
        ("head_dim", INT(128)),
        ("hybrid_override_pattern", Value::from("M-M*-E")),
        ("mamba_num_heads", INT(128)),
        ("mamba_head_dim", INT(64)),
        ("n_groups", INT(8)),
        ("ssm_state_size", INT(128)),
        ("conv_kernel", INT(4)),
    ]
}

#[test]
fn nemotron_h_has_a_letter_for_each_layer() {
    // Two layers of Mamba 2: three columns of 128 × 64 + 2 × 8 × 128 elements, and 128 of 128 × 64.
    let state = 2 * (3 * (8192 + 2 * 8 * 128) + 128 * 8192) * 4;
    let found = config(&nemotron()).finish();
    assert_eq!(taken(&found), Some((keys(1), Some((2, Some(state))))));
    assert_eq!(found.fact("layer_types").and_then(Value::as_str), Some("M-M*-E"));
    assert_eq!(number(&found, "attention_layer_count"), Some(1));
    // The same as a list, with old and new type names.
    for names in [
        ["mamba", "mlp", "mamba", "attention", "mlp", "moe"],
        ["linear_attention", "mlp", "linear_attention", "full_attention", "mlp", "moe"],
    ] {
        let mut listed = nemotron();
        listed.retain(|(key, _)| *key != "hybrid_override_pattern");
        listed.push(("layers_block_type", texts(&names)));
        assert_eq!(of_config(&listed), taken(&found));
    }
    for pattern in ["", "M-M*-", "M-M*-EE", "M-M*-Ä", "M-M*|-", &"*".repeat(100_000)] {
        let more = [("hybrid_override_pattern", Value::from(pattern))];
        let why = refused(&with(&nemotron(), &more));
        assert!(
            why.contains("items, but there are 6 layers") || why.contains("of the type"),
            "{why}"
        );
    }
    let more = [("hybrid_override_pattern", INT(6))];
    assert!(refused(&with(&nemotron(), &more)).contains("which ones is not specified"));
}

#[test]
fn nemotron_h_in_gguf_has_zeros_instead() {
    // Layers 0 and 2 have neither KV heads nor a feed-forward part: they keep a state.
    let settings = [
        ("block_count", INT(5)),
        ("embedding_length", INT(4096)),
        ("attention.head_count", numbers(&[0, 0, 0, 32, 0])),
        ("attention.head_count_kv", numbers(&[0, 0, 0, 8, 0])),
        ("attention.key_length", INT(128)),
        ("attention.value_length", INT(128)),
        ("feed_forward_length", numbers(&[0, 21_504, 0, 0, 21_504])),
        ("ssm.conv_kernel", INT(4)),
        ("ssm.inner_size", INT(8192)),
        ("ssm.state_size", INT(128)),
        ("ssm.group_count", INT(8)),
    ];
    let state = 2 * (3 * (8192 + 2 * 8 * 128) + 128 * 8192) * 4;
    let found = metadata("nemotron_h", &settings).finish();
    assert_eq!(taken(&found), Some((keys(1), Some((2, Some(state))))));
    // In other architectures every layer has a feed-forward part.
    let found = metadata("jamba", &settings).finish();
    assert_eq!(taken(&found).map(|it| it.1), Some(Some((4, Some(state * 2)))));
    let short = with(&settings, &[("feed_forward_length", numbers(&[0, 1]))]);
    assert_eq!(metadata("nemotron_h", &short).finish().cache, None);
    let long = with(&settings, &[("attention.head_count_kv", numbers(&[8; 6]))]);
    assert_eq!(metadata("jamba", &long).finish().cache, None);
}

fn granite() -> Vec<(&'static str, Value)> {
    vec![
        ("model_type", Value::from("granitemoehybrid")),
        ("num_hidden_layers", INT(4)),
        ("hidden_size", INT(1536)),
        ("num_attention_heads", INT(12)),
        ("num_key_value_heads", INT(4)),
        ("layer_types", texts(&["mamba", "mamba", "attention", "mamba"])),
        ("mamba_n_heads", INT(48)),
        ("mamba_d_head", INT(64)),
        ("mamba_n_groups", INT(1)),
        ("mamba_d_state", INT(128)),
        ("mamba_d_conv", INT(4)),
        ("mamba_expand", INT(2)),
    ]
}

#[test]
fn granite_and_bamba_list_layers() {
    // One layer of 4 heads of 1536 / 12 elements; three of 48 × 64 with one group of 128.
    let state = 3 * (3 * (48 * 64 + 2 * 128) + 128 * 48 * 64) * 4;
    let expected = Some((f64::from(4 * 2 * 128 * 1000 * 2), Some((3, Some(state)))));
    let found = config(&granite()).finish();
    assert_eq!(taken(&found), expected);
    assert_eq!(found.fact("sliding_window_pattern"), None);
    let automatic = with(&granite(), &[("mamba_d_head", Value::from("auto"))]);
    assert_eq!(of_config(&automatic), expected);
    let bamba = |indices: Value| {
        let mut settings = granite();
        settings.retain(|(key, _)| *key != "layer_types");
        settings.push(("attn_layer_indices", indices));
        settings
    };
    assert_eq!(of_config(&bamba(numbers(&[2]))), expected);
    assert_eq!(of_config(&bamba(numbers(&[2, 2]))), expected);
    for strange in [numbers(&[4]), numbers(&[-1]), numbers(&[i128::MAX]), texts(&["2"])] {
        assert!(refused(&bamba(strange)).contains("there are 4 layers"));
    }
    assert!(refused(&bamba(Value::Null)).contains("which ones is not specified"));
    // Attention only, as in the small models of the family.
    let dense = with(&granite(), &[("layer_types", texts(&["attention"; 4]))]);
    assert_eq!(of_config(&dense), Some((f64::from(4 * 4 * 2 * 128 * 1000 * 2), None)));
    for types in
        [&["mamba"; 3][..], &["attention"; 5], &[], &["mamba", "attention", "mamba", "zeta"]]
    {
        let why = refused(&with(&granite(), &[("layer_types", texts(types))]));
        assert!(why.contains("items, but there are 4") || why.contains("\"zeta\""), "{why}");
    }
}

#[test]
fn intervals_and_flags_say_which_layers_attend() {
    let base = |more: &[(&'static str, Value)]| {
        let settings = [
            ("block_count", INT(9)),
            ("embedding_length", INT(2048)),
            ("attention.head_count", INT(16)),
            ("attention.head_count_kv", INT(8)),
            ("attention.key_length", INT(128)),
            ("attention.value_length", INT(128)),
            ("ssm.conv_kernel", INT(4)),
            ("ssm.inner_size", INT(4096)),
            ("ssm.state_size", INT(128)),
            ("ssm.group_count", INT(16)),
        ];
        metadata("qwen3next", &with(&settings, more)).finish()
    };
    let one = (3 * (4096 + 2 * 16 * 128) + 128 * 4096) * 4;
    // Of 9 layers, 3 and 7 attend.
    let found = base(&[("full_attention_interval", INT(4))]);
    assert_eq!(taken(&found), Some((keys(2), Some((7, Some(7 * one))))));
    // The last of 9 blocks predicts further tokens.
    let ahead = ("nextn_predict_layers", INT(1));
    let found = base(&[("full_attention_interval", INT(4)), ahead.clone()]);
    assert_eq!(taken(&found), Some((keys(2), Some((6, Some(6 * one))))));
    let flags = |len: usize| (0..len).map(|layer| Value::Bool(layer % 2 == 0)).collect();
    let found = base(&[("attention.recurrent_layers", flags(9)), ahead.clone()]);
    assert_eq!(taken(&found), Some((keys(4), Some((4, Some(4 * one))))));
    assert_eq!(base(&[("attention.recurrent_layers", flags(7)), ahead]).cache, None);
    assert_eq!(base(&[("full_attention_interval", INT(0))]).cache, None);
    assert_eq!(base(&[]).cache, None);
}

#[test]
fn models_of_states_alone_have_no_keys() {
    let mamba = [
        ("block_count", INT(48)),
        ("embedding_length", INT(1536)),
        ("attention.head_count", INT(0)),
        ("ssm.conv_kernel", INT(4)),
        ("ssm.inner_size", INT(3072)),
        ("ssm.state_size", INT(16)),
    ];
    let found = metadata("mamba", &mamba).finish();
    assert_eq!(taken(&found), Some((0.0, Some((48, Some(48 * 19 * 3072 * 4))))));
    let found = metadata(
        "falcon-h1",
        &with(
            &mamba,
            &[
                ("attention.head_count", INT(8)),
                ("attention.head_count_kv", INT(2)),
                ("attention.key_length", INT(64)),
                ("attention.value_length", INT(64)),
            ],
        ),
    );
    // Every layer has both.
    let keys = f64::from(48 * 2 * 128 * 1000 * 2);
    assert_eq!(taken(&found.finish()), Some((keys, Some((48, Some(48 * 19 * 3072 * 4))))));
}

#[test]
fn encoders_keep_no_keys() {
    let sized = [
        ("num_hidden_layers", Value::Int(12)),
        ("hidden_size", Value::Int(512)),
        ("num_attention_heads", Value::Int(8)),
    ];
    let of = |more: &[(&str, Value)]| config(&with(&sized, more)).finish();
    for name in ["clip_text_model", "xlm-roberta", "modernbert", "siglip_vision_model", "vit"] {
        let found = of(&[("model_type", Value::from(name))]);
        assert_eq!(found.cache, None, "{name}");
        let why = found.no_cache.unwrap();
        assert!(why.contains("is an encoder, which reads all of its input at once"), "{why}");
    }
    // A decoder of the same family, and other models.
    assert!(
        of(&[("model_type", Value::from("bert")), ("is_decoder", Value::Bool(true))])
            .cache
            .is_some()
    );
    assert!(of(&[("model_type", Value::from("llama"))]).cache.is_some());
}
