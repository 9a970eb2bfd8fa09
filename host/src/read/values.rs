//! A tensor's elements, rows or entries, one by one.

use crate::base::error::Error;
use crate::base::value::{Value, elements};
use crate::check::access::Access;
use crate::read::data::{self, Order};
#[cfg(feature = "npy")]
use crate::read::items;
#[cfg(feature = "idv")]
use crate::read::rows::{self, RowView};
use weighbridge_core::{DType, Element, Encoding, File, Format, Layout, Status, Tensor};

/// An element, an entry or a row of a tensor.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Shown<'a> {
    /// An element.
    Element(Element),
    /// An element that is no number: text, a date or a record of a NumPy array.
    Item(&'a Value),
    /// An entry of a sparse tensor: its coordinates and its value.
    Entry(&'a [u64], Element),
    /// A row of a column.
    #[cfg(feature = "idv")]
    Row(RowView<'a>),
}

impl Shown<'_> {
    /// Converts it to a value.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// let mut texts = Vec::new();
    /// emb.values(3, |shown| {
    ///     texts.push(shown.to_value().to_string());
    ///     Ok::<(), weighbridge::Error>(())
    /// })?;
    /// assert_eq!(texts, ["0.0", "1.0", "2.0"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn to_value(&self) -> Value {
        match self {
            Shown::Element(element) => Value::from(*element),
            Shown::Item(value) => (*value).clone(),
            Shown::Entry(index, element) => {
                let index = index.iter().map(|index| Value::Int((*index).into())).collect();
                let value = Value::from(*element);
                Value::Map([("index".into(), index), ("value".into(), value)].into())
            }
            #[cfg(feature = "idv")]
            Shown::Row(row) => row.to_value(),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            #[cfg(feature = "idv")]
            Shown::Row(row) => row.serialize(to),
            shown => shown.to_value().serialize(to),
        }
    }
}

/// A Boolean byte that is neither 0 nor 1, as readers of the format interpret it: true in
/// zTensor. For other formats the stored number is shown.
fn truth(file: &File, dtype: DType, element: Element) -> Element {
    match (file.format(), dtype, element) {
        (Format::ZTensor, DType::Bool, Element::Uint(byte)) => Element::Bool(byte != 0),
        _ => element,
    }
}

/// Whether a tensor's elements, rows or entries can be shown. Encoded data is decoded to find
/// out, as far as `limit` elements need it.
pub(crate) fn can_show(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    limit: u64,
) -> Result<bool, Error> {
    if is_empty(tensor) {
        return Ok(true);
    }
    #[cfg(feature = "idv")]
    if let File::Idv(header) = file {
        return rows::can_show(access, header, tensor, limit);
    }
    #[cfg(feature = "npy")]
    if items::is_shown_as_item(tensor.dtype) {
        let item = access.ask(|source| items::of(source, file, tensor))?;
        let is_read = data::is_sequential(tensor) && data::order(access, tensor)? != Order::Unknown;
        if !is_read || !item.is_some_and(|item| item.is_shown()) {
            return Ok(false);
        }
        return decodes(access, file, tensor, limit);
    }
    let read = if !data::is_plain(tensor) {
        data::entries(access, file, tensor, limit, |_, _| Ok::<(), Error>(()))
    } else if data::order(access, tensor)? == Order::Unknown {
        Ok(false)
    } else {
        return decodes(access, file, tensor, limit);
    };
    decoded(read)
}

/// Whether the first `limit` elements can be decoded.
fn decodes(access: &Access<'_>, file: &File, tensor: &Tensor, limit: u64) -> Result<bool, Error> {
    if tensor.encoding == Encoding::Raw {
        return Ok(true);
    }
    let count = tensor.elements.min(limit);
    let read = data::elements(access, file, tensor, count, |_, _| Ok::<(), Error>(()));
    decoded(read.map(|()| true))
}

fn decoded(read: Result<bool, Error>) -> Result<bool, Error> {
    match read {
        // The audit reports the rule.
        Err(Error::Undecodable(_)) => Ok(false),
        read => read,
    }
}

/// Calls `take` with the first `limit` elements of a tensor that [can be shown](can_show), in
/// row-major order, or with its rows, or with its entries in file order.
pub(crate) fn first<E: From<Error>>(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    limit: u64,
    take: &mut dyn FnMut(&Shown<'_>) -> Result<(), E>,
) -> Result<(), E> {
    #[cfg(feature = "idv")]
    if let File::Idv(header) = file {
        return rows::first(access, header, tensor, limit, &mut |row| take(&Shown::Row(row)));
    }
    if is_empty(tensor) {
        return Ok(());
    }
    #[cfg(feature = "npy")]
    if items::is_shown_as_item(tensor.dtype) {
        let item = access.ask(|source| items::of(source, file, tensor)).map_err(E::from)?;
        let Some(item) = item else { return Ok(()) };
        let width = tensor.unit().map_or(0, |(_, width)| width as usize);
        let count = tensor.elements.min(limit);
        if width == 0 {
            let value = item.value(&[]);
            return (0..count).try_for_each(|_| take(&Shown::Item(&value)));
        }
        return data::ordered(access, file, tensor, count, |bytes, count| {
            let mut each = bytes.chunks(width).take(count as usize);
            each.try_for_each(|bytes| take(&Shown::Item(&item.value(bytes))))
        });
    }
    if !data::is_plain(tensor) {
        let entry = |index: &[u64], element: Element| take(&Shown::Entry(index, element));
        return data::entries(access, file, tensor, limit, entry).map(|_| ());
    }
    let (dtype, endianness) = (tensor.dtype, tensor.endianness);
    let count = tensor.elements.min(limit);
    data::ordered(access, file, tensor, count, |bytes, count| {
        elements(dtype, bytes, count, endianness)
            .try_for_each(|element| take(&Shown::Element(truth(file, dtype, element))))
    })
}

fn is_empty(tensor: &Tensor) -> bool {
    tensor.elements == 0
        && tensor.status == Status::Sound
        && tensor.dtype != DType::Unknown
        && tensor.layout != Layout::Blocks
}
