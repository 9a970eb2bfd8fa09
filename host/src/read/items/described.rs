//! Elements that a host reads itself, as the page does.

use super::{Item, Kind, descr, is_item};
use crate::base::value::Value;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::{File, Source, Status, Stop, Tensor};

/// The type of the elements of a NumPy array that are no numbers: text, bytes, dates, time spans,
/// records. Only the header of the array describes it.
#[derive(Clone, Debug)]
pub struct Items {
    descr: String,
    /// `None` for elements without values that can be shown.
    item: Option<Item>,
}

impl Items {
    /// The type of a tensor's elements; `None` if they are numbers.
    ///
    /// ```
    /// use weighbridge::Items;
    /// use weighbridge::weighbridge_core::{Cursor, File, Source};
    ///
    /// # let bytes = weighbridge_tests::samples::records();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let first = file.next_tensor(&source, &mut Cursor::default(), &mut |_| {})?;
    /// let tensor = first.unwrap().tensor;
    /// let items = Items::of(&source, &file, &tensor)?.unwrap();
    /// let element = source.run(tensor.raw().unwrap().offset);
    /// let values = items.values(element).iter().map(|it| it.to_string()).collect::<Vec<_>>();
    /// assert_eq!(values, ["\"cat\"", "4"]);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`], to be passed on.
    pub fn of(source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<Option<Items>, Stop> {
        if !is_item(tensor.dtype) || tensor.status != Status::Sound {
            return Ok(None);
        }
        Ok(descr(source, file, tensor)?.map(|descr| {
            let item = Item::of(&descr).filter(Item::is_shown);
            Items { descr, item }
        }))
    }

    /// The type as NumPy's header spells it.
    ///
    /// ```
    /// # use weighbridge::Items;
    /// # use weighbridge::weighbridge_core::{Cursor, File, Source};
    /// # let bytes = weighbridge_tests::samples::records();
    /// # let source = Source::whole(&bytes);
    /// # let file = File::open(&source, &mut |_| {})?;
    /// # let first = file.next_tensor(&source, &mut Cursor::default(), &mut |_| {})?;
    /// # let items = Items::of(&source, &file, &first.unwrap().tensor)?.unwrap();
    /// assert_eq!(items.descr(), "[('name', '<U3'), ('legs', '|u1')]");
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn descr(&self) -> &str {
        &self.descr
    }

    /// The names of a record's fields, in the order of [`values`](Self::values). Empty if elements
    /// are no records.
    ///
    /// ```
    /// # use weighbridge::Items;
    /// # use weighbridge::weighbridge_core::{Cursor, File, Source};
    /// # let bytes = weighbridge_tests::samples::records();
    /// # let source = Source::whole(&bytes);
    /// # let file = File::open(&source, &mut |_| {})?;
    /// # let first = file.next_tensor(&source, &mut Cursor::default(), &mut |_| {})?;
    /// # let items = Items::of(&source, &file, &first.unwrap().tensor)?.unwrap();
    /// assert_eq!(items.fields(), ["name", "legs"]);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn fields(&self) -> Vec<&str> {
        match self.item.as_ref().map(|item| &item.kind) {
            Some(Kind::Record(fields)) => fields.iter().map(|field| field.name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether elements have values that can be shown: they are not too long, and no long floats.
    ///
    /// ```
    /// # use weighbridge::Items;
    /// # use weighbridge::weighbridge_core::{Cursor, File, Source};
    /// # let bytes = weighbridge_tests::samples::records();
    /// # let source = Source::whole(&bytes);
    /// # let file = File::open(&source, &mut |_| {})?;
    /// # let first = file.next_tensor(&source, &mut Cursor::default(), &mut |_| {})?;
    /// # let items = Items::of(&source, &file, &first.unwrap().tensor)?.unwrap();
    /// assert!(items.is_shown());
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn is_shown(&self) -> bool {
        self.item.is_some()
    }

    /// The values of the element that begins `bytes`: those of a record's fields, or one value.
    /// Empty if there are none that can be shown.
    ///
    /// ```
    /// # use weighbridge::Items;
    /// # use weighbridge::weighbridge_core::{Cursor, File, Source};
    /// # let bytes = weighbridge_tests::samples::records();
    /// # let source = Source::whole(&bytes);
    /// # let file = File::open(&source, &mut |_| {})?;
    /// # let first = file.next_tensor(&source, &mut Cursor::default(), &mut |_| {})?;
    /// # let items = Items::of(&source, &file, &first.unwrap().tensor)?.unwrap();
    /// assert!(items.values(b"cat")[0].to_string() == "null"); // cut off
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn values(&self, bytes: &[u8]) -> Vec<Value> {
        match self.item.as_ref().map(|item| item.value(bytes)) {
            Some(Value::Map(fields)) if !fields.is_empty() => {
                fields.into_iter().map(|(_, value)| value).collect()
            }
            Some(value) => [value].into(),
            None => Vec::new(),
        }
    }
}
