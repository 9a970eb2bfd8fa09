//! Every public fact about a file as text, independent of its internal representation.

use crate::survey::{MetaFact, Survey, TensorFact};
use std::fmt::{Debug, Write};
use weighbridge_core::format::{gguf, ztensor};
use weighbridge_core::{File, Finding, Format, Severity, Source, Tensor, Value};

/// Formats of which a reader of mapped flash leaves some rules to hosts, and says so.
pub const IN_PART: [&str; 2] = ["executorch", "tflite"];

/// Whether a reader of mapped flash leaves this rule of a format [`IN_PART`] to hosts: lints but that
/// of alignment, whatever compares parts or names, and what a runtime on a board does not read.
pub fn is_left_out(finding: &Finding) -> bool {
    const LEFT: [&str; 14] = [
        "D-SETTING",
        "F-OVERLAP",
        "K-NAME",
        "M-TWICE",
        "N-TWICE",
        "O-CYCLE",
        "O-LARGE-BOTH",
        "O-LARGE-OFFSET",
        "Q-BLOCK",
        "Q-CUSTOM",
        "Q-SELF",
        "Q-SHAPE",
        "Q-TENSOR",
        "Q-TYPE",
    ];
    let id = finding.rule.id();
    let family = ["E-", "X-", "Z-"].iter().any(|family| id.starts_with(family));
    let lint = finding.severity() <= Severity::Lint && id != "B-ALIGN";
    lint || LEFT.contains(&id) || (family && id != "E-BOTH")
}

/// Whether such a reader may report a finding of a host, or may not: the axis is that of scales in
/// the tensor itself, or of those in another; the number of values is below that of any operator, or
/// of this one; an extent of a signature is below -1, or another than in the shape; the name is that
/// of metadata, or of an operator; and only opened files are audited.
pub fn is_uncertain(finding: &Finding) -> bool {
    ["I-COUNT", "M-NAME-UTF8", "Q-AXIS", "T-SIGNATURE-DIM"].contains(&finding.rule.id())
}

/// Whether such a reader refuses to open a file in which a host finds this, or opens one that a host
/// refuses: it finds segments by addition only if all are inside, and the values of unions in its audit.
pub fn opens_otherwise(finding: &Finding) -> bool {
    const OTHERWISE: [&str; 5] = ["F-UNION-VALUE", "H-BASE", "H-DATA", "H-INSIDE", "S-RANGE"];
    finding.severity() == Severity::Fatal
        && finding.rule.format() == Some(Format::ExecuTorch)
        && OTHERWISE.contains(&finding.rule.id())
}

/// All facts about a file, one per line.
pub fn facts(bytes: &[u8], survey: &Survey) -> String {
    let mut text = String::new();
    let source = Source::whole(bytes);
    if let Some(file) = survey.file {
        let version = file.version().map(|version| version.shown().to_vec());
        let (recorded, order) = (file.recorded_len(), file.endianness());
        line(&mut text, &(file.format().name(), version, recorded, order, file.tensor_count()));
        header(&mut text, &file);
        for fact in survey.metadata.iter().chain(survey.tensors.iter().flat_map(|t| &t.attributes))
        {
            meta(&mut text, &source, &file, fact);
        }
        for fact in &survey.tensors {
            tensor(&mut text, fact);
            line(&mut text, &file.checksum(&source, &fact.tensor));
            particular(&mut text, &source, &file, &fact.tensor);
        }
    }
    survey.regions.iter().for_each(|region| line(&mut text, region));
    for finding in &survey.findings {
        line(&mut text, &(short(finding), finding.to_string()));
        line(&mut text, &(finding.expected, finding.found, finding.kind, finding.entry));
    }
    text
}

/// The rule and the range that breaks it.
pub fn short(finding: &Finding) -> String {
    format!("{}@{}+{}", finding.rule.id(), finding.offset, finding.len)
}

/// Header facts that only one format has.
fn header(text: &mut String, file: &File) {
    match file {
        File::BinTensors(h) => line(text, &(h.data_at(), h.has_metadata(), h.metadata_count())),
        File::ExecuTorch(h) => {
            line(text, &(h.is_program(), h.methods(), h.operators(), h.delegates()));
            line(text, &(h.named_data(), h.segments()));
        }
        File::Gguf(h) => line(text, &(h.endianness(), h.alignment(), h.data_at())),
        File::Idv(h) => line(text, &h.rows()),
        File::Onnx(h) => {
            line(text, &(h.opset(), h.nodes(), h.graphs(), h.functions()));
            line(text, &(h.custom(), h.unknown_fields()));
        }
        File::Safetensors(h) => line(text, &h.data_at()),
        File::Shards(h) => line(text, &h.total_size()),
        File::Stb(h) => line(text, &h.data_offset()),
        File::Tflite(h) => {
            line(text, &(h.subgraphs(), h.operators(), h.custom_codes(), h.signatures()));
        }
        File::ZTensor(h) => line(text, &h.index()),
        _ => {}
    }
}

/// Tensor facts that only one format has.
fn particular(text: &mut String, source: &Source<'_>, file: &File, tensor: &Tensor) {
    let (s, t) = (source, tensor);
    match file {
        File::BinTensors(h) => line(text, &h.dtype_code(s, t)),
        File::Gguf(h) => line(text, &h.dtype_code(s, t)),
        File::Idv(h) => {
            let spelling =
                h.spelling(s, t).map(|name| (name.to_string(), name.loadname().to_string()));
            line(text, &(h.codec(s, t), spelling));
        }
        File::Oinf(h) => line(text, &(h.dtype_code(s, t), h.quantization(s, t))),
        File::Safetensors(h) => line(text, &h.dtype_text(s, t).map(|name| name.to_string())),
        File::Stb(h) => line(text, &(h.id(s, t), h.dtype_code(s, t), h.shape_table_index(s, t))),
        File::Tflite(h) => line(text, &h.quantization(s, t)),
        File::ZTensor(h) => {
            for field in ["name", "dtype", "encoding", "layout", "data_endianness", "checksum"] {
                line(text, &h.text(s, t, field).map(|text| text.map(|text| text.to_string())));
            }
        }
        _ => {}
    }
}

fn tensor(text: &mut String, fact: &TensorFact) {
    let t = &fact.tensor;
    line(text, &(t.index, t.offset, fact.name.escape_ascii().to_string(), &fact.shape, t.elements));
    line(text, &(t.dtype, t.status, t.layout, t.encoding, t.endianness));
    fact.chunks.iter().for_each(|chunk| line(text, chunk));
}

fn meta(text: &mut String, source: &Source<'_>, file: &File, fact: &MetaFact) {
    let m = &fact.meta;
    let key = fact.key.escape_ascii().to_string();
    line(text, &(key, m.kind, m.index, m.offset, m.tag, m.status, m.stored, fact.value));
    match fact.value {
        Some(Value::List { stored, .. }) => {
            let bytes = source.get(stored).unwrap_or_default();
            items(text, gguf::Items::new(bytes, file.endianness()));
        }
        Some(Value::Cbor(stored)) => {
            let items = ztensor::Items::new(source.get(stored).unwrap_or_default());
            items.for_each(|item| line(text, &item));
        }
        _ => {}
    }
    if let File::Idv(h) = file {
        line(text, &h.annotation_payload(source, m));
    }
}

fn items(text: &mut String, list: gguf::Items<'_>) {
    line(text, &(list.left(), list.dtype()));
    for item in list {
        match item {
            gguf::Item::Text(item) => line(text, &item.to_string()),
            gguf::Item::Number(number) => line(text, &number),
            gguf::Item::List(list) => items(text, list),
        }
    }
}

fn line(text: &mut String, fact: &dyn Debug) {
    // Most formats have no bytes before the elements, so a lead of 0 is left out.
    let fact = format!("{fact:?}").replace(", lead: 0 }", " }");
    writeln!(text, "{fact}").expect("a text takes whatever is written");
}
