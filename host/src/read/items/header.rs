//! The header of an array, which says what its elements are.

use super::literal;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::codec::{Decoder, Size};
use weighbridge_core::{Absent, Chunk, File, Source, Stop, Tensor, limits};

/// The text of an array's `descr`; `None` if the file has none.
pub(crate) fn descr(
    source: &Source<'_>,
    file: &File,
    tensor: &Tensor,
) -> Result<Option<String>, Stop> {
    match file {
        File::Npy(header) => {
            let text = header.descr(source, tensor)?;
            let major = file.version().map_or(1, |version| version.parts()[0]);
            Ok(Some(literal::decoded(text, major)))
        }
        #[cfg(feature = "npz")]
        File::Npz(header) => {
            if let Some(bytes) = header.header(source, tensor)? {
                return Ok(literal::descr(bytes));
            }
            let Some(chunk) = file.chunk(source, tensor, 0)? else { return Ok(None) };
            Ok(lead(source, &chunk)?.and_then(|bytes| literal::descr(&bytes)))
        }
        _ => Ok(None),
    }
}

/// The decoded bytes before the elements; `None` if the stream does not have them where the core
/// found them.
#[cfg(feature = "npz")]
fn lead(source: &Source<'_>, chunk: &Chunk) -> Result<Option<Vec<u8>>, Absent> {
    let Ok(len) = usize::try_from(chunk.decoded_lead().min(limits::NPZ_HEADER as u64)) else {
        return Ok(None);
    };
    let most = chunk.stored.len.min(limits::NPZ_STREAM);
    let run = source.run(chunk.stored.offset);
    let run = &run[..run.len().min(most as usize)];
    let mut decoder = Box::new(Decoder::new());
    decoder.start(chunk.encoding, chunk.stored, Size::AtMost(len as u64));
    let (mut out, mut rest) = (vec![0; len], run);
    while decoder.written() < len as u64 {
        let Ok(step) = decoder.step(rest, &mut out) else { return Ok(None) };
        rest = rest.get(step.read..).unwrap_or_default();
        if step.done && decoder.written() < len as u64 {
            return Ok(None);
        }
        if step.read == 0 && step.written.is_empty() && !step.done {
            let have = run.len() as u64;
            if have >= most {
                return Ok(None);
            }
            let need = (have * 2).max(1024).min(most);
            return Err(Absent { offset: chunk.stored.offset, need, want: need });
        }
    }
    Ok(Some(out))
}
