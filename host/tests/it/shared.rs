//! KV heads that heads or layers share, and layers that a pass skips, compared with numbers
//! worked out by hand.

use crate::layers::{INT, config, metadata, of_config, refused, taken, texts, with};
use weighbridge::weighbridge_core::DType;
use weighbridge::{Summariser, Value};

#[test]
fn multi_query_flag_means_one_key_head() {
    let falcon = |more: &[(&'static str, Value)]| {
        let settings = [
            ("model_type", Value::from("falcon")),
            ("num_hidden_layers", INT(32)),
            ("hidden_size", INT(4544)),
            ("num_attention_heads", INT(71)),
        ];
        with(&settings, more)
    };
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    // Heads have 4544 / 71 = 64 elements, and there is one KV head, whatever other number is
    // stated.
    let layer = |heads: u32| Some((f64::from(32 * heads * 2 * 64 * 1000 * 2), None));
    for more in [
        vec![("multi_query", yes.clone())],
        vec![("multi_query", yes.clone()), ("num_kv_heads", INT(71))],
        vec![("multi_query", yes.clone()), ("new_decoder_architecture", no.clone())],
        vec![("multi_query", INT(1))],
    ] {
        assert_eq!(of_config(&falcon(&more)), layer(1));
    }
    let newer = ("new_decoder_architecture", yes.clone());
    let grouped = [("multi_query", yes.clone()), newer.clone(), ("num_kv_heads", INT(8))];
    assert_eq!(of_config(&falcon(&grouped)), layer(8));
    assert_eq!(of_config(&falcon(&[("n_head_kv", INT(8))])), layer(8));
    assert_eq!(of_config(&falcon(&[("multi_query", no.clone())])), layer(71));
    for more in [vec![], vec![newer], vec![("multi_query", Value::from("yes"))]] {
        assert!(refused(&falcon(&more)).contains("number of heads is not specified"));
    }
    let code = [
        ("model_type", Value::from("gpt_bigcode")),
        ("n_layer", INT(40)),
        ("n_embd", INT(6144)),
        ("n_head", INT(48)),
        ("multi_query", yes.clone()),
    ];
    assert_eq!(of_config(&code), Some((f64::from(40 * 2 * 128 * 1000 * 2), None)));
    // ChatGLM states the number of groups.
    let glm = [
        ("num_layers", INT(28)),
        ("hidden_size", INT(4096)),
        ("num_attention_heads", INT(32)),
        ("multi_query_attention", yes),
        ("multi_query_group_num", INT(2)),
    ];
    assert_eq!(of_config(&glm), Some((f64::from(28 * 2 * 2 * 128 * 1000 * 2), None)));
    refused(&glm[..4]);
    // Metadata has a key of its own for it.
    let mut both = metadata(
        "falcon",
        &[
            ("block_count", INT(2)),
            ("embedding_length", INT(128)),
            ("attention.head_count", INT(2)),
            ("attention.head_count_kv", INT(2)),
        ],
    );
    both.config("multi_query", &Value::Bool(true));
    assert_eq!(taken(&both.finish()), Some((f64::from(2 * 2 * 2 * 64 * 1000 * 2), None)));
}

#[test]
fn last_layers_may_share_the_cache_of_earlier_layers() {
    let types: Vec<&str> = (1..=10)
        .map(|layer| if layer % 5 == 0 { "full_attention" } else { "sliding_attention" })
        .collect();
    let gemma = |shared: Value| {
        vec![
            ("text_config.num_hidden_layers", INT(10)),
            ("text_config.hidden_size", INT(2048)),
            ("text_config.num_attention_heads", INT(8)),
            ("text_config.num_key_value_heads", INT(2)),
            ("text_config.head_dim", INT(256)),
            ("text_config.sliding_window", INT(512)),
            ("text_config.layer_types", texts(&types)),
            ("text_config.num_kv_shared_layers", shared),
        ]
    };
    // Of layers 0 to 6, one keeps 1000 positions and six keep 512.
    let expected = f64::from(2 * (256 + 256) * (1000 + 6 * 512) * 2);
    assert_eq!(of_config(&gemma(INT(3))), Some((expected, None)));
    assert_eq!(of_config(&gemma(INT(9))), Some((f64::from(2 * 512 * 512 * 2), None)));
    // Gemma 4: global layers have heads of 512 elements, and another number of them with this
    // flag.
    let mut longer = gemma(INT(3));
    longer.push(("text_config.global_head_dim", INT(512)));
    longer.push(("text_config.num_global_key_value_heads", INT(1)));
    let near = 6 * 2 * (256 + 256) * 512;
    let expected_of = |heads: u32| f64::from((heads * (512 + 512) * 1000 + near) * 2);
    assert_eq!(of_config(&longer), Some((expected_of(2), None)));
    longer.push(("text_config.attention_k_eq_v", Value::Bool(true)));
    assert_eq!(of_config(&longer), Some((expected_of(1), None)));
    // The same with GGUF keys.
    let flags = types.iter().map(|kind| Value::Bool(*kind == "sliding_attention")).collect();
    let settings = [
        ("block_count", INT(10)),
        ("embedding_length", INT(2048)),
        ("attention.head_count", INT(8)),
        ("attention.head_count_kv", INT(2)),
        ("attention.key_length", INT(256)),
        ("attention.value_length", INT(256)),
        ("attention.sliding_window", INT(512)),
        ("attention.sliding_window_pattern", flags),
        ("attention.shared_kv_layers", INT(3)),
    ];
    assert_eq!(taken(&metadata("gemma3n", &settings).finish()), Some((expected, None)));
    for strange in [10, 11, -1, i128::from(u64::MAX), i128::MAX] {
        refused(&gemma(INT(strange)));
        let more = [("attention.shared_kv_layers", INT(strange))];
        assert_eq!(metadata("gemma3n", &with(&settings, &more)).finish().cache, None);
    }
    let mut without = gemma(INT(3));
    without.retain(|(key, _)| !key.ends_with("sliding_window"));
    assert!(refused(&without).contains("window length is not specified"));
}

/// Blocks with experts of 4 × 100 parameters and 50 others.
fn blocks(summariser: &mut Summariser, stack: &str, numbers: core::ops::Range<u64>) {
    for block in numbers {
        let mut add = |name: &str, shape: &[u64]| {
            let bytes = shape.iter().product::<u64>() * 2;
            summariser.tensor(&format!("{stack}{block}.{name}"), DType::BF16, shape, bytes);
        };
        add("mlp.experts.gate_up_proj", &[4, 10, 10]);
        add("self_attn.o_proj.weight", &[5, 10]);
    }
}

#[test]
fn multi_token_layers_do_not_count_in_a_pass() {
    let settings = |layers: &'static str, ahead: &'static str, count: i128| {
        vec![
            (layers, INT(count)),
            (ahead, INT(1)),
            ("hidden_size", INT(64)),
            ("num_attention_heads", INT(8)),
            ("num_key_value_heads", INT(2)),
            ("num_experts_per_tok", INT(1)),
            ("n_routed_experts", INT(4)),
        ]
    };
    // A config.json counts 3 layers; a fourth is in the file. Each keeps 2 heads of 64 / 8.
    let expected = Some((f64::from(3 * 2 * 2 * 8 * 1000 * 2), None));
    let mut summariser = config(&settings("num_hidden_layers", "num_nextn_predict_layers", 3));
    blocks(&mut summariser, "model.layers.", 0..4);
    let found = summariser.finish();
    assert_eq!(found.notes, [""; 0]);
    assert_eq!(taken(&found), expected);
    assert_eq!(found.all.parameters, 4 * 450);
    // A token uses three blocks, with one of four experts.
    assert_eq!(found.active, Some(3 * (50 + 100)));
    // The same if those layers are in a stack of their own.
    let mut summariser = config(&settings("num_hidden_layers", "mtp_num_hidden_layers", 3));
    blocks(&mut summariser, "model.layers.", 0..3);
    blocks(&mut summariser, "mtp.layers.", 0..1);
    let found = summariser.finish();
    assert_eq!((taken(&found), found.active), (expected, Some(3 * (50 + 100))));
    // GGUF metadata counts all four.
    let mut summariser = metadata(
        "glm4moe",
        &[
            ("block_count", INT(4)),
            ("nextn_predict_layers", INT(1)),
            ("embedding_length", INT(64)),
            ("attention.head_count", INT(8)),
            ("attention.head_count_kv", INT(2)),
            ("expert_count", INT(4)),
            ("expert_used_count", INT(1)),
        ],
    );
    blocks(&mut summariser, "blk.", 0..4);
    let found = summariser.finish();
    assert_eq!((taken(&found), found.active), (expected, Some(3 * (50 + 100))));
    assert_eq!(found.notes, [""; 0]);
    for strange in [3, 4, -1, i128::MAX] {
        let mut settings = settings("num_hidden_layers", "num_nextn_predict_layers", 3);
        settings[1].1 = INT(strange);
        assert!(refused(&settings).contains("nextn_layer_count"));
    }
    // More blocks than both together are a contradiction.
    let mut summariser = config(&settings("num_hidden_layers", "num_nextn_predict_layers", 3));
    blocks(&mut summariser, "model.layers.", 0..5);
    assert!(summariser.finish().notes[0].contains("block_count is 3, but the tensors form 5"));
}
