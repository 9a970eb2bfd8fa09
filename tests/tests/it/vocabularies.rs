//! Long GGUF vocabularies: byte tokens are found wherever they are, however the file arrives.

use weighbridge_core::{Finding, Format};
use weighbridge_tests::encode::gguf::{File, Tensor, Value};
use weighbridge_tests::fixtures::gguf::Model;
use weighbridge_tests::survey::{Access, Host, survey, survey_whole};

const TOKENS: usize = 700;

/// A model with byte tokens in these places; the text of token `odd` is invalid.
fn model(is_byte: impl Fn(usize) -> bool, odd: Option<usize>) -> Vec<u8> {
    let text = |i| match i {
        i if odd == Some(i) => "<0x-1>".to_owned(),
        i if is_byte(i) => format!("<0x{:02x}>", i % 256),
        i => "w".repeat(i % 9),
    };
    let tokens: Vec<_> = (0..TOKENS).map(text).collect();
    let number = |tag, of: &dyn Fn(usize) -> u64| {
        Value::Array(tag, (0..TOKENS).map(|i| Value::Number(tag, of(i))).collect())
    };
    Model::default()
        .set("tokenizer.ggml.tokens", Value::texts(&tokens))
        .set("tokenizer.ggml.scores", number(6, &|_| 0))
        .set("tokenizer.ggml.token_type", number(5, &|i| if is_byte(i) { 6 } else { 1 }))
        .tensors(vec![Tensor::new("token_embd.weight", 24, &[8, TOKENS as u64])])
        .bytes()
}

fn found(bytes: &[u8]) -> Vec<(&'static str, u64)> {
    let whole = survey_whole(bytes, Some(Format::Gguf));
    for access in [Access::Rounded(64), Access::Ahead, Access::Single(512), Access::Least] {
        let other = survey(&mut Host::new(bytes, access), Some(Format::Gguf));
        assert_eq!(other.unwrap(), whole, "{access:?}");
    }
    whole.findings.iter().map(|f: &Finding| (f.rule.id(), f.expected)).collect()
}

#[test]
fn byte_token_is_found_at_any_position() {
    let places: [fn(usize) -> bool; 4] =
        [|_| true, |i| i % 37 == 5, |i| i + 1 == TOKENS, |i| (120..400).contains(&i)];
    for is_byte in places {
        assert_eq!(found(&model(is_byte, None)), []);
        let all: Vec<_> = (0..TOKENS).filter(|i| is_byte(*i)).collect();
        for odd in [all[0], all[all.len() / 2], all[all.len() - 1]] {
            assert_eq!(found(&model(is_byte, Some(odd))), [("KEYS-BYTE-TOKEN", odd as u64)]);
        }
    }
}

/// Types and tokens are far apart: a host with one buffer alternates between them, but not for each
/// token.
#[test]
fn types_and_tokens_are_read_in_batches() {
    let bytes = model(|_| true, None);
    let asked = |bytes: &[u8]| {
        let mut host = Host::new(bytes, Access::Single(4096));
        survey(&mut host, Some(Format::Gguf)).unwrap();
        host.asked.len()
    };
    let none = asked(&model(|_| false, None));
    let all = asked(&bytes);
    assert!(all < none + 4 * TOKENS / 128 + 8, "{none}, {all}");
}

/// A file that ends with its last metadata entry.
fn ends_with_metadata(metadata: &[(&str, Value)]) -> Vec<u8> {
    let metadata = metadata.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.clone()));
    let mut encoded = File { metadata: metadata.collect(), ..File::default() }.encode();
    let padding = encoded.bytes.iter().rev().take_while(|byte| **byte == 0).count();
    // The last value may also end with zeros.
    let end = encoded.values.last().unwrap() + 1;
    encoded.bytes.truncate((encoded.bytes.len() - padding).max(end));
    encoded.bytes
}

#[test]
fn finding_length_is_that_of_the_number() {
    for (key, rule) in [
        ("llama.block_count", "KEYS-BLOCK-COUNT"),
        ("llama.context_length", "KEYS-ZERO"),
        ("llama.attention.head_count", "KEYS-HEAD-COUNT"),
    ] {
        let architecture = ("general.architecture", Value::text("llama"));
        let bytes = ends_with_metadata(&[architecture, (key, Value::Number(0, 0))]);
        let whole = survey_whole(&bytes, Some(Format::Gguf));
        let finding = whole.findings.iter().find(|f| f.rule.id() == rule).expect(rule);
        assert_eq!((finding.offset, finding.len), (bytes.len() as u64 - 1, 1), "{rule}");
    }
}

#[test]
fn byte_token_may_end_the_file() {
    let mut words = vec!["word"; 200];
    words.push("");
    let types = (0..=200).map(|i| Value::Number(5, if i == 200 { 6 } else { 1 })).collect();
    let mut bytes = ends_with_metadata(&[
        ("general.architecture", Value::text("llama")),
        ("tokenizer.ggml.model", Value::text("llama")),
        ("tokenizer.ggml.token_type", Value::Array(5, types)),
        ("tokenizer.ggml.tokens", Value::texts(&words)),
    ]);
    // The length of the empty text.
    while !bytes.ends_with(b"word\0\0\0\0\0\0\0\0") {
        bytes.push(0);
    }
    assert!(found(&bytes).contains(&("KEYS-BYTE-TOKEN", 200)));
}

#[test]
fn first_of_two_tokenizers_counts() {
    let metadata = [
        ("general.architecture", Value::text("llama")),
        ("tokenizer.ggml.model", Value::text("llama")),
        ("tokenizer.ggml.model", Value::text("gpt2")),
        ("tokenizer.ggml.tokens", Value::texts(&["a", "b"])),
    ];
    let rules = |metadata: &[(&str, Value)]| found(&ends_with_metadata(metadata));
    let missing = |rules: Vec<(&str, u64)>| rules.iter().any(|it| it.0 == "KEYS-TOKEN-DEFAULT");
    assert!(missing(rules(&metadata)));
    let [architecture, llama, gpt2, tokens] = metadata;
    assert!(!missing(rules(&[architecture, gpt2, llama, tokens])));
}
