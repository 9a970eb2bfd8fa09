//! Payloads: rules that need the data itself.
//!
//! Elements that are stored as they are need no memory. What is encoded, has a
//! checksum or is sparse goes through a [`Scratch`], once from its first
//! stored byte to its last.

#[cfg(feature = "idv")]
mod blocks;
mod raw;
mod sparse;
mod stream;

pub(crate) use sparse::Fault as SparseFault;
pub use stream::{Paused, Scratch};

use super::{Audit, Pause};
use crate::codec::frame::Walk;
use crate::finding::Kind;
use crate::index::Slot;
use crate::read::{Halt, Reader};
use crate::rule::general;
use crate::tensor::{Chunks, Encoding, Layout, Status, Tensor};

/// How far the payload of the current tensor is checked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// The tensor, kept because its entry need not be resident together with
    /// its data.
    pub(super) tensor: Option<Tensor>,
    /// Bytes of its data that were looked at.
    done: u64,
    /// Its raw elements were looked at.
    plain: bool,
    /// How far its frames were followed, if it is in frames.
    walk: Walk,
    frames: Frames,
    /// A scratch has begun with it.
    streaming: bool,
    /// Slots that it lacked.
    slots: u32,
    #[cfg(feature = "idv")]
    blocks: blocks::Progress,
}

/// The structure of the frames that a tensor's data is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frames {
    #[default]
    Unknown,
    Sound,
    Faulty,
}

/// Checks the data of a tensor that is more than raw elements, if it can.
pub(super) type Streams<'s> =
    dyn FnMut(&mut Audit, &mut Reader<'_, '_>, &mut [Slot], &Tensor) -> Result<bool, Pause> + 's;

/// The last stage as a value: see [`Audit`].
pub(super) type Payloads =
    fn(&mut Audit, &mut Reader<'_, '_>, &mut [Slot], &mut Streams<'_>) -> Result<(), Pause>;

impl Audit {
    /// The tensor that is being looked at, or the next one.
    pub(super) fn at_hand(&mut self, r: &mut Reader<'_, '_>) -> Result<Option<Tensor>, Halt> {
        if self.payload.tensor.is_none() {
            r.mute();
            let tensor = self.file.tensor(r, &mut self.cursor);
            r.unmute();
            self.payload.tensor = tensor?;
            if let Some(Tensor { chunks: Chunks::One(span), .. }) = self.payload.tensor {
                r.charge(span.len);
            }
        }
        Ok(self.payload.tensor)
    }

    /// Looks at the data of every tensor.
    pub(super) fn payloads(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        streams: &mut Streams<'_>,
    ) -> Result<(), Pause> {
        while let Some(tensor) = self.at_hand(r)?.filter(|_| !r.is_spent()) {
            r.about(Kind::Tensor, tensor.index);
            match tensor.status {
                Status::Unsupported => r.flag(general::DATA_UNCHECKED, tensor.at, 0, 0, 0),
                Status::Broken => {}
                Status::Sound => {
                    if !self.payload.plain {
                        if let Some(span) = tensor.raw() {
                            self.values_of(r, &tensor, span)?;
                        }
                        self.payload.plain = true;
                    }
                    if self.payload.frames == Frames::Unknown {
                        self.payload.frames = self.frames_of(r, &tensor)?;
                    }
                    if self.streams(&tensor) && !streams(self, r, slots, &tensor)? {
                        self.unstreamed(r, &tensor)?;
                    }
                }
            }
            self.payload = Progress::default();
        }
        Ok(())
    }

    /// Follows the frames of compressed elements, without decoding them.
    fn frames_of(&mut self, r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<Frames, Pause> {
        // No other format has frames: a build without it is spared their reader.
        let frames = cfg!(feature = "ztensor") && tensor.encoding == Encoding::Zstd;
        let (true, Chunks::One(span), Some(rule)) =
            (frames, tensor.chunks, self.file.policy().frame)
        else {
            return Ok(Frames::Sound);
        };
        let elements = tensor.bytes().filter(|_| tensor.layout == Layout::RowMajor);
        // No bytes are no frame, which the format judges.
        let sound = !span.is_empty() && self.payload.walk.run(r, span, elements, rule)?;
        Ok(if sound { Frames::Sound } else { Frames::Faulty })
    }

    /// Whether the data is more than raw elements, or may have a checksum.
    fn streams(&self, tensor: &Tensor) -> bool {
        let sparse = matches!(tensor.layout, Layout::Coo | Layout::Csr);
        let encoded = tensor.encoding != Encoding::Raw;
        let checked = self.file.policy().checksum.is_some();
        // A column without rows may have annotations.
        tensor.layout == Layout::Blocks
            || tensor.chunks.count() > 0 && (sparse || encoded || checked)
    }

    /// Without memory to work in, what is more than raw elements stays
    /// unchecked.
    fn unstreamed(&mut self, r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<(), Pause> {
        if tensor.chunks.count() == 0 {
            return Ok(());
        }
        let plain = tensor.raw().is_some() && tensor.layout == Layout::RowMajor;
        if !plain && self.payload.frames == Frames::Sound {
            r.flag(general::PAYLOAD_UNCHECKED, tensor.at, 0, 0, 0);
        } else if self.file.policy().checksum.is_some() {
            let found = self.file.checksum(r.source(), tensor);
            if let Some(checksum) = found.map_err(|absent| r.lack(absent))? {
                r.flag(general::CHECKSUM_UNCHECKED, tensor.at, 0, checksum.head(), 0);
            }
        }
        Ok(())
    }

    /// Gives up the current tensor for lack of slots.
    pub(super) fn skip_payload(&mut self, r: &mut Reader<'_, '_>) {
        if let Some(tensor) = self.payload.tensor {
            r.about(Kind::Tensor, tensor.index);
            if tensor.layout == Layout::Blocks {
                r.flag(general::PAYLOAD_UNCHECKED, tensor.at, 0, 0, 0);
                self.payload = Progress::default();
                return;
            }
            let slots = u64::from(self.payload.slots);
            r.flag(general::COORDINATES_UNCHECKED, tensor.at, 0, slots, 0);
        }
        self.payload = Progress::default();
    }
}
