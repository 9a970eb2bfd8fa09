//! The tensors of a file, as `inspect` shows them.

use crate::metadata::{self, MetaView};
use crate::particulars::Particulars;
use crate::report::{ask_or_end, within};
use crate::session::{Halt, Session};
use crate::stats::StatsView;
use crate::text::Text;
use serde::Serialize;
use serde_json::Value;
use weighbridge::{Cursor, DimEncoding, File, Layout, Source, Span, Status, Stop, Tensor};

/// What the entry for a chunk takes in a file that has a table of them.
const ENTRY: u64 = 16;

/// A tensor, and what is known of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tensor: Tensor,
    pub(crate) name: Text,
    /// The extents; `None` for one that varies or is not in the file.
    pub(crate) shape: Vec<Option<u64>>,
    pub(crate) chunks: Vec<ChunkView>,
    pub(crate) particulars: Particulars,
    pub(crate) metadata: Vec<MetaView>,
    /// The first elements, if they were asked for and could be read.
    pub(crate) values: Option<Vec<Value>>,
    /// What its elements are like, if that was asked for and they could be read.
    pub(crate) stats: Option<StatsView>,
}

/// Where a piece of a tensor's data lies.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ChunkView {
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    pub(crate) decoded: Option<u64>,
}

/// All tensors in the order of the index, without values.
pub(crate) fn all(session: &mut Session<'_>, file: &File) -> Result<Vec<Entry>, Halt> {
    let mut entries = Vec::new();
    let mut cursor = Cursor::default();
    let (most, mut shown) = (session.room(), 0_u64);
    ask_or_end(session, |source| {
        loop {
            let mut after = cursor;
            let Some(mut tensor) = file.next_tensor(source, &mut after, &mut |_| {})? else {
                return Ok(());
            };
            let quantized = matches!(file, File::Oinf(_));
            if quantized && shown > most {
                tensor.extra = Span::default();
            }
            entries.push(Entry::new(source, file, tensor)?);
            shown = shown.saturating_add(if quantized { tensor.extra.len } else { 0 });
            cursor = after;
        }
    })?;
    session.show(shown);
    // One after the other: a tensor can have millions of chunks.
    for entry in &mut entries {
        entry.chunks = chunks(session, file, &entry.tensor)?;
        entry.metadata = metadata::of_tensor(session, file, &entry.tensor)?;
    }
    Ok(entries)
}

impl Entry {
    fn new(source: &Source<'_>, file: &File, tensor: Tensor) -> Result<Self, Stop> {
        Ok(Entry {
            tensor,
            name: name(source, &tensor)?,
            shape: shape(source, &tensor)?,
            chunks: Vec::new(),
            particulars: Particulars::of(source, file, &tensor)?,
            metadata: Vec::new(),
            values: None,
            stats: None,
        })
    }

    /// The name of the element type.
    pub(crate) fn dtype(&self) -> &str {
        self.particulars.dtype.as_deref().unwrap_or(self.tensor.dtype.name())
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
    let stored = Span::new(dims.at, u64::from(dims.len));
    if !within(source, stored) {
        return Ok(Vec::new());
    }
    let extents = tensor.dims(source)?;
    // A column has a number of rows, then the extents of one row, of which 0
    // stands for one that varies.
    let rows = if tensor.layout == Layout::Blocks { 1 } else { usize::MAX };
    Ok(extents.enumerate().map(|(i, n)| (i < rows || n > 0).then_some(n)).collect())
}

fn chunks(session: &mut Session<'_>, file: &File, tensor: &Tensor) -> Result<Vec<ChunkView>, Halt> {
    let mut chunks = Vec::new();
    let most = session.room() / ENTRY;
    ask_or_end(session, |source| {
        while chunks.len() as u64 <= most
            && let Some(chunk) = file.chunk(source, tensor, chunks.len() as u64)?
        {
            chunks.push(ChunkView {
                offset: chunk.stored.at,
                stored: chunk.stored.len,
                decoded: chunk.decoded,
            });
        }
        Ok(())
    })?;
    session.show(chunks.len() as u64 * ENTRY);
    Ok(chunks)
}

/// A tensor as a JSON object.
#[derive(Serialize)]
pub(crate) struct TensorView<'a> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    dtype: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype_raw: Option<&'a Value>,
    shape: &'a [Option<u64>],
    #[serde(skip_serializing_if = "Option::is_none")]
    shape_table_index: Option<u32>,
    layout: &'static str,
    encoding: &'static str,
    endianness: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    codec: Option<&'a str>,
    chunks: &'a [ChunkView],
    checksum: Option<&'a str>,
    quantization: Option<&'a Value>,
    metadata: &'a [MetaView],
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<&'a [Value]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a StatsView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
}

impl<'a> TensorView<'a> {
    pub(crate) fn new(entry: &'a Entry) -> Self {
        let Entry { tensor, particulars, .. } = entry;
        TensorView {
            name: entry.name.lossy(),
            name_hex: entry.name.hex(),
            id: particulars.id,
            dtype: entry.dtype(),
            dtype_raw: particulars.dtype_raw.as_ref(),
            shape: &entry.shape,
            shape_table_index: particulars.shape_table_index,
            layout: tensor.layout.name(),
            encoding: tensor.encoding.name(),
            endianness: tensor.endianness.name(),
            codec: particulars.codec.as_deref(),
            chunks: &entry.chunks,
            checksum: particulars.checksum.as_deref(),
            quantization: particulars.quantization.as_ref(),
            metadata: &entry.metadata,
            values: entry.values.as_deref(),
            stats: entry.stats.as_ref(),
            status: status(tensor.status),
        }
    }
}

/// Why a tensor cannot be used, if so.
pub(crate) fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Sound => None,
        Status::Unsupported => Some("unsupported"),
        Status::Broken => Some("broken"),
    }
}
