//! GGUF: what loaders rely on, in long vocabularies and through small windows.

use weighbridge::{Format, Goal, Options, Poll, Report, Session, check, check_path, check_with};
use weighbridge_core::Finding;
use weighbridge_tests::encode::gguf::{File, Tensor, Value};
use weighbridge_tests::fixtures::{self, gguf::Model};

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

/// All findings of a report.
fn all(report: &Report) -> Vec<Finding> {
    report.findings().iter().map(|found| *found.finding()).collect()
}

/// The findings of a file in memory, which are the same through windows.
fn checked(bytes: &[u8]) -> Vec<Finding> {
    let whole = all(&check(bytes).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, bytes).unwrap();
    for (granule, kept) in [(16, 64), (64, 512), (4096, 8192)] {
        let report = check_path(&path, &Options::new().granule(granule).kept(kept)).unwrap();
        assert_eq!(all(&report), whole, "{granule} {kept}");
    }
    whole
}

fn found(bytes: &[u8]) -> Vec<(&'static str, u64)> {
    checked(bytes).iter().map(|finding| (finding.rule.id(), finding.expected)).collect()
}

#[test]
fn gguf_fixture_of_loaders_breaks_its_rule() {
    for fixture in fixtures::gguf::loaded() {
        let found = checked(&fixture.bytes);
        let mut ids: Vec<_> = found.iter().map(|finding| finding.rule.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut breaks = fixture.breaks.to_vec();
        breaks.sort_unstable();
        assert_eq!(ids, breaks, "{}", fixture.name);
    }
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

/// Types and tokens are far apart: a host with little memory alternates between them, but not for
/// each token.
#[test]
fn types_and_tokens_are_read_in_batches() {
    let asked = |bytes: &[u8]| {
        let mut session = Session::new(bytes.len() as u64, Options::new().granule(16).kept(4096));
        let mut asked = 0;
        while let Poll::Need(ranges) = session.poll(Goal::Structure).unwrap() {
            for range in ranges {
                let (from, len) = (range.offset as usize, range.len as usize);
                session.supply(range.offset, &bytes[from..from + len]);
                asked += 1;
            }
        }
        asked
    };
    let none = asked(&model(|_| false, None));
    let all = asked(&model(|_| true, None));
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
        let whole = checked(&bytes);
        let finding = whole.iter().find(|f| f.rule.id() == rule).expect(rule);
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

/// Models with a few bytes changed, by a fixed sequence.
#[test]
fn damaged_model_is_judged_the_same_through_windows() {
    let (mut with, mut state) = (0, 1_u64);
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below.max(1)
    };
    for fixture in fixtures::gguf::loaded() {
        for round in 0..if cfg!(feature = "deep") { 200 } else { 10 } {
            let mut bytes = fixture.bytes.clone();
            let at = next(bytes.len());
            bytes[at] = [next(256) as u8, bytes[at] ^ 1, 0, 0xFF][next(4)];
            let options = Options::new().format(Format::Gguf).seed(1);
            let whole = all(&check_with(&bytes, &options).unwrap());
            let mut session = Session::new(bytes.len() as u64, options.granule(16).kept(512));
            while let Poll::Need(ranges) = session.poll(Goal::Payloads).unwrap() {
                for range in ranges {
                    let (from, len) = (range.offset as usize, range.len as usize);
                    session.supply(range.offset, &bytes[from..from + len]);
                }
            }
            assert_eq!(all(&session.report()), whole, "{} {round} {at}", fixture.name);
            with += usize::from(whole.iter().any(|it| it.rule.id().starts_with("KEYS-")));
        }
    }
    assert!(with > 300, "{with}");
}
