//! Sparse tensors with indices in parts of their own, which are decoded one after the other.

use super::{Progress, ScratchIn, Stage};
use crate::audit::resumable::Audit;
use crate::audit::resumable::payload::indices::Indices;
use crate::audit::resumable::payload::work::Known;
use crate::audit::resumable::payload::{Pause, Work, report};
use crate::codec::{Decoder, Fault};
use crate::file::Slot;
use crate::model::{Chunk, Encoding, Tensor};
use crate::parse::Reader;
use crate::rule::general;
use core::ops::DerefMut;

impl<B: DerefMut<Target = [u8]>> ScratchIn<B> {
    /// Decodes the parts of a sparse tensor, one after the other.
    pub(super) fn parts(
        &mut self,
        audit: &Audit,
        (p, work): (&mut Progress, &mut Work),
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        tensor: &Tensor,
    ) -> Result<(), Pause> {
        while let Some(chunk) = p.indices.and_then(|indices| indices.chunk()) {
            if p.over {
                let needed = p.indices.map_or(0, |indices| indices.slots());
                let needed = u32::try_from(needed).unwrap_or(u32::MAX);
                if slots.len() < usize::try_from(needed).unwrap_or(usize::MAX) {
                    return Err(Pause::Room(needed));
                }
                let dims = tensor.dims.read(r.source()).map_err(|absent| r.lack(absent))?;
                if let Some(indices) = &p.indices {
                    indices.place(dims, slots);
                }
                (p.chunk, p.read, p.over, p.faulty) = (chunk, 0, false, false);
                p.decodes = chunk.encoding != Encoding::Raw;
                p.again = p.again.wrapping_add(1);
                self.start(p, work, r, tensor);
            }
            self.bytes(audit, (p, work), r, slots)?;
            let (chunk, fault) = (p.chunk, p.fault.take());
            let Some(indices) = &mut p.indices else { break };
            if indices.is_measured() && !indices.is_over() && chunk.encoding != Encoding::Raw {
                let fault = fault.filter(|(fault, _)| !is_length(*fault) && *fault != Fault::Work);
                let chunk = Chunk { decoded: None, ..chunk };
                self.results.remember(&chunk, Known::new(&chunk, fault, None));
            }
            if p.faulty {
                indices.stop();
            }
            indices.finish(slots, &mut |fault, offset, expected, found| {
                report::index(audit, r, fault, report::place(&chunk, offset, 0), expected, found);
            });
        }
        Ok(())
    }
}

/// Starts on a sparse tensor with indices in parts of their own; `None` if they need not be
/// decoded.
pub(super) fn begin(
    audit: &Audit,
    r: &mut Reader<'_, '_>,
    tensor: &Tensor,
) -> Result<Option<Progress>, Pause> {
    let Some(parts) = audit.file.parted(r, tensor)? else { return Ok(None) };
    if !Decoder::decodes(Encoding::Zstd) {
        r.flag(general::PAYLOAD_UNCHECKED, tensor.offset, 0, 0, 0);
        return Ok(None);
    }
    let dims = tensor.dims.read(r.source()).map_err(|absent| r.lack(absent))?;
    let indices = Indices::new(parts, tensor, dims);
    let start = Progress { stage: Stage::Bytes, indices, ..Progress::default() };
    Ok(indices.map(|_| Progress { measured: true, over: true, ..start }))
}

/// Whether a stream is sound, but of another length than the rest of the file makes it.
pub(in super::super) fn is_length(fault: Fault) -> bool {
    matches!(fault, Fault::Short | Fault::Long)
}
