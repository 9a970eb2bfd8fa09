//! The tensors of a file, as `inspect` shows them.

use crate::json::Object;
use crate::particulars::Particulars;
use crate::report::{ask_or_end, within};
use crate::session::{Session, Stopped};
use crate::text::Text;
use serde::Serialize;
use weighbridge_core::{Cursor, DimEncoding, File, Layout, Source, Span, Status, Stop, Tensor};

/// What the entry for a chunk takes in a file that has a table of them.
const ENTRY: u64 = 16;

/// A tensor, and what is known of it. Its chunks, its metadata and its elements may
/// be many, and are not in it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tensor: Tensor,
    pub(crate) name: Text,
    /// The extents; `None` for one that varies or is not in the file.
    pub(crate) shape: Vec<Option<u64>>,
    pub(crate) particulars: Particulars,
}

/// Where a piece of a tensor's data lies.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ChunkView {
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    pub(crate) decoded: Option<u64>,
}

/// What the chunks of a tensor come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chunked {
    pub(crate) count: u64,
    pub(crate) stored: u64,
    pub(crate) first: Option<ChunkView>,
}

impl Chunked {
    pub(crate) fn add(&mut self, chunk: &ChunkView) {
        self.count += 1;
        self.stored = self.stored.saturating_add(chunk.stored);
        self.first.get_or_insert(*chunk);
    }
}

/// Calls `take` with each tensor in the order of the index.
pub(crate) fn each(
    session: &mut Session<'_>,
    file: &File,
    take: &mut dyn FnMut(&mut Session<'_>, &Entry) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let mut cursor = Cursor::default();
    let (most, mut shown) = (session.room(), 0_u64);
    let quantized = matches!(file, File::Oinf(_));
    loop {
        let found = ask_or_end(session, |source| {
            let mut after = cursor;
            let next = file.next_tensor(source, &mut after, &mut |_| {})?;
            let Some(mut tensor) = next.map(|entry| entry.tensor) else {
                return Ok(None);
            };
            if quantized && shown > most {
                tensor.extra = Span::default();
            }
            let entry = Entry::new(source, file, tensor)?;
            cursor = after;
            Ok(Some(entry))
        })?;
        let Some(entry) = found else { return Ok(()) };
        if quantized {
            shown = shown.saturating_add(entry.tensor.extra.len);
            session.show(entry.tensor.extra.len);
        }
        take(session, &entry)?;
    }
}

impl Entry {
    fn new(source: &Source<'_>, file: &File, tensor: Tensor) -> Result<Self, Stop> {
        Ok(Entry {
            tensor,
            name: name(source, &tensor)?,
            shape: shape(source, &tensor)?,
            particulars: Particulars::of(source, file, &tensor)?,
        })
    }

    /// The name of the element type.
    pub(crate) fn dtype(&self) -> &str {
        self.particulars.dtype.as_deref().unwrap_or(self.tensor.dtype.name())
    }

    /// Writes what is known of it as members of an object, but for its metadata and
    /// its elements, which follow.
    pub(crate) fn write(
        &self,
        session: &mut Session<'_>,
        file: &File,
        object: &mut Object<'_>,
    ) -> Result<(), Stopped> {
        let Entry { tensor, particulars, .. } = self;
        object.member("name", &self.name.lossy())?;
        object.optional("name_hex", self.name.hex())?;
        object.optional("id", particulars.id)?;
        object.member("dtype", self.dtype())?;
        object.optional("dtype_raw", particulars.dtype_raw.as_ref())?;
        object.member("shape", &self.shape)?;
        object.optional("shape_table_index", particulars.shape_table_index)?;
        object.member("layout", tensor.layout.name())?;
        object.member("encoding", tensor.encoding.name())?;
        object.member("endianness", tensor.endianness.name())?;
        object.optional("codec", particulars.codec.as_ref())?;
        let mut list = object.list("chunks")?;
        chunks(session, file, tensor, &mut |chunk| Ok(list.item(chunk)?))?;
        list.end()?;
        object.member("checksum", &particulars.checksum)?;
        object.member("quantization", &particulars.quantization)?;
        Ok(())
    }
}

/// The name of a tensor; empty where it cannot be read.
pub(crate) fn name(source: &Source<'_>, tensor: &Tensor) -> Result<Text, Stop> {
    if within(source, tensor.name.span()) {
        Ok(Text::from(tensor.name(source)?))
    } else {
        Ok(Text::default())
    }
}

/// The extents; `None` for one that varies or is not in the file.
pub(crate) fn shape(source: &Source<'_>, tensor: &Tensor) -> Result<Vec<Option<u64>>, Stop> {
    let dims = &tensor.dims;
    if dims.encoding == DimEncoding::External {
        // Formats that do so have one byte for the rank.
        return Ok((0..dims.rank().min(255)).map(|_| None).collect());
    }
    let stored = Span::new(dims.offset, u64::from(dims.len));
    if !within(source, stored) {
        return Ok(Vec::new());
    }
    let extents = tensor.dims(source)?;
    // A column has a number of rows, then the extents of one row, of which 0
    // stands for one that varies.
    let rows = if tensor.layout == Layout::Blocks { 1 } else { usize::MAX };
    Ok(extents.enumerate().map(|(i, n)| (i < rows || n > 0).then_some(n)).collect())
}

/// Calls `take` with each chunk of a tensor.
pub(crate) fn chunks(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    take: &mut dyn FnMut(&ChunkView) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let most = session.room() / ENTRY;
    let mut count = 0;
    while count <= most
        && let Some(chunk) = ask_or_end(session, |source| file.chunk(source, tensor, count))?
    {
        take(&ChunkView {
            offset: chunk.stored.offset,
            stored: chunk.stored.len,
            decoded: chunk.decoded,
        })?;
        count += 1;
    }
    session.show(count * ENTRY);
    Ok(())
}

/// Why a tensor cannot be used, if so.
pub(crate) fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Sound => None,
        Status::Unsupported => Some("unsupported"),
        Status::Broken => Some("broken"),
    }
}
