//! The bytes of a safetensors file before its data: which tensor lies where.

use super::types;
use crate::base::error::Error;
use crate::base::text::quote;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::DType;

/// Readers refuse longer headers.
const LONGEST: usize = 100_000_000;

/// A tensor of a file to be written.
///
/// ```
/// use weighbridge::{DType, save::Item};
///
/// let item = Item { name: "w".into(), dtype: DType::F16, shape: vec![2, 3] };
/// assert_eq!(item.len(), Some(12));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The name.
    pub name: String,
    /// The type of its elements.
    pub dtype: DType,
    /// The extents, in row-major order.
    pub shape: Vec<u64>,
}

impl Item {
    /// The length of its data in bytes; `None` if that overflows, or if its elements do not fill
    /// whole bytes.
    ///
    /// ```
    /// use weighbridge::{DType, save::Item};
    ///
    /// let odd = Item { name: "w".into(), dtype: DType::F4, shape: vec![3] };
    /// assert_eq!(odd.len(), None);
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "the length of the data in bytes")]
    pub fn len(&self) -> Option<u64> {
        let elements = self.shape.iter().try_fold(1_u64, |n, extent| n.checked_mul(*extent))?;
        let bits = elements.checked_mul(self.dtype.bits().into())?;
        (bits % 8 == 0).then_some(bits / 8)
    }
}

/// A safetensors file to be written: its first bytes, and the order of the data that follows.
///
/// Tensors are in the order of the `safetensors` library, so that each is aligned to its
/// elements: by type, the widest first, then by name. The header is padded to 8 bytes.
///
/// ```
/// use weighbridge::{DType, Model, save::{Item, Layout}};
///
/// let item = |name: &str, dtype| Item { name: name.into(), dtype, shape: vec![2] };
/// let items = [item("a", DType::U8), item("b", DType::F32)];
/// let layout = Layout::new(&items, &Default::default())?;
/// assert_eq!(layout.order(), [1, 0]); // of `items`
/// let mut file = layout.header().to_vec();
/// file.extend([0; 8]); // the data of "b"
/// file.extend([7, 9]); // the data of "a"
/// assert_eq!(file.len() as u64, layout.len());
/// assert_eq!(Model::from_bytes(&file)?.tensor("a")?.to_vec::<u8>()?, [7, 9]);
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    header: Vec<u8>,
    order: Vec<usize>,
    data: u64,
}

impl Layout {
    /// Lays out tensors with different names, and metadata.
    ///
    /// ```
    /// use weighbridge::save::Layout;
    ///
    /// let empty = Layout::new(&[], &Default::default())?;
    /// assert_eq!(empty.header().len() % 8, 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a type that safetensors does not have, for data that does not
    /// fill whole bytes, and for a header that is longer than readers accept.
    pub fn new(items: &[Item], metadata: &BTreeMap<String, String>) -> Result<Self, Error> {
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&items[*a], &items[*b]);
            types::rank(b.dtype).cmp(&types::rank(a.dtype)).then_with(|| a.name.cmp(&b.name))
        });
        let mut json = String::from("{");
        if !metadata.is_empty() {
            json.push_str("\"__metadata__\":{");
            for (i, (key, value)) in metadata.iter().enumerate() {
                json.push_str(if i == 0 { "" } else { "," });
                quote(key, &mut json);
                json.push(':');
                quote(value, &mut json);
            }
            json.push('}');
        }
        let mut at = 0_u64;
        for item in order.iter().map(|i| &items[*i]) {
            let dtype = types::name(item.dtype).ok_or_else(|| {
                Error::Unsupported(format!("safetensors has no type for {}", item.dtype.name()))
            })?;
            let end = item.len().and_then(|len| at.checked_add(len)).ok_or_else(|| {
                Error::Unsupported(format!("the length of \"{}\" cannot be stated", item.name))
            })?;
            json.push_str(if json.len() == 1 { "" } else { "," });
            quote(&item.name, &mut json);
            let shape: Vec<_> = item.shape.iter().map(u64::to_string).collect();
            let shape = shape.join(",");
            json.push_str(&format!(
                ":{{\"dtype\":\"{dtype}\",\"shape\":[{shape}],\"data_offsets\":[{at},{end}]}}"
            ));
            at = end;
        }
        json.push('}');
        let len = json.len().next_multiple_of(8);
        if len > LONGEST {
            let why = "the header would be longer than readers accept: write several files";
            return Err(Error::Unsupported(why.into()));
        }
        let mut header = Vec::with_capacity(8 + len);
        header.extend_from_slice(&(len as u64).to_le_bytes());
        header.extend_from_slice(json.as_bytes());
        header.resize(8 + len, b' ');
        Ok(Layout { header, order, data: at })
    }

    /// The bytes before the data.
    ///
    /// ```
    /// let empty = weighbridge::save::Layout::new(&[], &Default::default())?;
    /// assert_eq!(empty.header(), b"\x08\0\0\0\0\0\0\0{}      ");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The tensors in the order of their data, as positions in the list that was laid out.
    ///
    /// ```
    /// use weighbridge::{DType, save::{Item, Layout}};
    ///
    /// let item = |name: &str| Item { name: name.into(), dtype: DType::U8, shape: vec![] };
    /// let layout = Layout::new(&[item("b"), item("a")], &Default::default())?;
    /// assert_eq!(layout.order(), [1, 0]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The length of the file in bytes.
    ///
    /// ```
    /// let empty = weighbridge::save::Layout::new(&[], &Default::default())?;
    /// assert_eq!(empty.len(), 16);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "the length of the file in bytes")]
    pub fn len(&self) -> u64 {
        self.data.saturating_add(self.header.len() as u64)
    }
}
