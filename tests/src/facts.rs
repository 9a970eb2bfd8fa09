//! What is told of a file, as text: every public fact, and nothing of how it is
//! kept.

use crate::survey::{MetaFact, Survey, TensorFact};
use std::fmt::Write;
use weighbridge::Finding;

/// All facts of a survey, a line each.
pub fn told(survey: &Survey) -> String {
    let mut text = String::new();
    if let Some(file) = survey.file {
        let version = file.version().map(|version| version.shown().to_vec());
        let (recorded, order) = (file.recorded_len(), file.endianness());
        line(&mut text, &(file.format().name(), version, recorded, order, file.tensor_count()));
    }
    survey.metadata.iter().for_each(|fact| meta(&mut text, fact));
    survey.tensors.iter().for_each(|fact| tensor(&mut text, fact));
    survey.regions.iter().for_each(|region| line(&mut text, region));
    for finding in &survey.findings {
        line(&mut text, &(short(finding), finding.to_string()));
        line(&mut text, &(finding.expected, finding.found, finding.kind, finding.entry));
    }
    text
}

/// The rule and where it is broken.
pub fn short(finding: &Finding) -> String {
    format!("{}@{}+{}", finding.rule.id(), finding.at, finding.len)
}

fn tensor(text: &mut String, fact: &TensorFact) {
    let t = &fact.tensor;
    line(text, &(t.index, t.at, fact.name.escape_ascii().to_string(), &fact.shape, t.elements));
    line(text, &(t.dtype, t.status, t.layout, t.encoding, t.endianness));
    fact.chunks.iter().for_each(|chunk| line(text, chunk));
    fact.attributes.iter().for_each(|fact| meta(text, fact));
}

fn meta(text: &mut String, fact: &MetaFact) {
    let m = &fact.meta;
    let key = fact.key.escape_ascii().to_string();
    line(text, &(key, m.kind, m.index, m.at, m.tag, m.status, m.stored, fact.value));
}

fn line(text: &mut String, fact: &dyn std::fmt::Debug) {
    writeln!(text, "{fact:?}").expect("a text takes whatever is written");
}
