//! Reads files from standard input, each preceded by its format (`y` NPY, `z` NPZ) and a four-byte
//! length, and answers each with a line: the worst severity, the broken rules, and for each tensor
//! its name, type, byte order, element order, shape, and the CRC-32 of its elements, or a hyphen.

use std::io::{Read, Write};
use weighbridge_core::codec::Decoder;
use weighbridge_core::codec::checksum::{Algorithm, Hasher};
use weighbridge_core::{Chunk, Encoding, Format, Severity, Source, Status};
use weighbridge_tests::survey::{TensorFact, survey_whole};

fn main() -> std::io::Result<()> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut head = [0; 5];
    while input.read_exact(&mut head).is_ok() {
        let [format, len @ ..] = head;
        let mut file = vec![0; u32::from_le_bytes(len) as usize];
        input.read_exact(&mut file)?;
        let format = if format == b'z' { Format::Npz } else { Format::Npy };
        let survey = survey_whole(&file, Some(format));
        let worst = match survey.findings.iter().map(|finding| finding.severity()).max() {
            None => "sound",
            Some(Severity::Unchecked) => "unchecked",
            Some(severity) => severity.name(),
        };
        let mut rules: Vec<_> = survey.findings.iter().map(|finding| finding.rule.id()).collect();
        rules.sort_unstable();
        rules.dedup();
        write!(output, "{worst}\t{}", rules.join(" "))?;
        for fact in &survey.tensors {
            write!(output, "\t{}", line(&file, fact))?;
        }
        writeln!(output)?;
        output.flush()?;
    }
    Ok(())
}

fn line(file: &[u8], fact: &TensorFact) -> String {
    let tensor = &fact.tensor;
    let name: String = fact.name.iter().map(|byte| format!("{byte:02x}")).collect();
    let sound = (tensor.status != Status::Broken).then_some(fact.chunks.first()).flatten();
    let sum = sound.and_then(|chunk| elements(file, chunk)).and_then(|bytes| {
        let mut hasher = Hasher::new(Algorithm::Crc32)?;
        hasher.update(&bytes);
        Some(hasher.finish().to_string())
    });
    format!(
        "{name}|{}|{}|{}|{:?}|{}",
        tensor.dtype.name(),
        tensor.endianness.name(),
        tensor.layout.name(),
        fact.shape,
        sum.unwrap_or_else(|| "-".to_owned())
    )
}

/// The decoded elements of a chunk.
fn elements(file: &[u8], chunk: &Chunk) -> Option<Vec<u8>> {
    if chunk.encoding == Encoding::Raw {
        return Source::whole(file).get(chunk.stored).ok().map(<[u8]>::to_vec);
    }
    let len = usize::try_from(chunk.decoded?.checked_add(chunk.lead)?).ok()?;
    let mut buffer = vec![0; len.min(64 << 20)];
    let mut decoder = Decoder::new();
    decoder.start_chunk(chunk).ok()?;
    decoder.fill(&Source::whole(file), &mut buffer).ok().map(<[u8]>::to_vec)
}
