//! Full validation of safetensors and GGUF headers: every rule, unique names, disjoint payloads,
//! and for GGUF every string of a vocabulary.
//!
//! The baseline for safetensors is `read_metadata` of the safetensors crate, which parses and
//! checks that the tensors tile the buffer; for GGUF it is a byte sum over the header.

mod turns;

use safetensors::SafeTensors;
use std::hint::black_box;
use turns::{Table, Unit, measures};
use weighbridge_core::{Audit, File, Format, Severity, Slot, Source, Stop};
use weighbridge_tests::encode::{gguf, safetensors as st};

/// Names as in real models, in block order or shuffled.
fn names(count: usize, shuffled: bool) -> Vec<String> {
    let name = |i: usize| format!("model.layers.{}.mlp.experts.{}.weight", i / 64, i % 64);
    let mut names: Vec<_> = (0..count).map(name).collect();
    if shuffled {
        // The step is coprime to the count, so it visits every position.
        names = (0..count).map(|i| names[i * 7919 % count].clone()).collect();
    }
    names
}

fn safetensors(names: &[String]) -> Vec<u8> {
    let tensors = names.iter().map(|name| st::Tensor::new(name, "BF16", &[4, 2])).collect();
    st::File { metadata: None, tensors }.encode()
}

/// The same tensors, plus a vocabulary with scores.
fn gguf(names: &[String], tokens: usize) -> Vec<u8> {
    let texts: Vec<_> = (0..tokens).map(|i| format!("tok{}", i * 7919 % tokens)).collect();
    let scores = (0..tokens).map(|i| gguf::Value::Number(6, i as u64)).collect();
    let metadata = vec![
        (b"tokenizer.ggml.tokens".to_vec(), gguf::Value::texts(&texts)),
        (b"tokenizer.ggml.scores".to_vec(), gguf::Value::Array(6, scores)),
    ];
    let tensors = names.iter().map(|name| gguf::Tensor::new(name, 30, &[4, 2])).collect();
    gguf::File { metadata, tensors, ..gguf::File::default() }.encode().bytes
}

/// The whole structural audit, including the allocation of its slots.
fn weighbridge(format: Format, bytes: &[u8]) -> u64 {
    let source = Source::whole(bytes);
    let mut worst = Severity::Unchecked;
    let mut sink = |finding: weighbridge_core::Finding| worst = worst.max(finding.severity());
    let file = File::open_as(format, &source, &mut sink).unwrap();
    let mut audit = Audit::new(file).structure_only();
    let mut slots = Vec::new();
    while let Err(Stop::NeedSlots { needed }) = audit.step(&source, &mut slots, &mut sink) {
        slots.resize(needed as usize, Slot::EMPTY);
    }
    assert!(worst <= Severity::Lint, "{worst:?}");
    file.tensor_count()
}

/// The lower bound: reading every byte once.
fn byte_sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}

fn main() {
    let sizes = if measures() { [10_000, 100_000] } else { [100, 1000] };
    let mut table = Table::new("headers", 41);
    for count in sizes {
        for (order, shuffled) in [("in order", false), ("shuffled", true)] {
            let file = safetensors(&names(count, shuffled));
            table.race(
                &format!("safetensors, {count} tensors {order}"),
                Unit::Whole,
                ["`safetensors` 0.8"],
                &mut || _ = black_box(weighbridge(Format::Safetensors, black_box(&file))),
                [&mut || _ = black_box(SafeTensors::read_metadata(black_box(&file)).unwrap())],
            );
        }
    }
    let tokens = sizes[0] * 15;
    let file = gguf(&names(sizes[0], true), tokens);
    table.race(
        &format!("GGUF, {} tensors and {tokens} tokens", sizes[0]),
        Unit::Whole,
        ["sum of all bytes"],
        &mut || _ = black_box(weighbridge(Format::Gguf, black_box(&file))),
        [&mut || _ = black_box(byte_sum(black_box(&file)))],
    );
}
