//! Decides which elements can be shown without checking all data of a tensor.

use crate::analyse::stats;
use crate::base::error::Error;
use crate::check::report::Unchecked;
use crate::read::data::{self, Order};
use crate::read::tensor::Tensor;
use alloc::borrow::ToOwned as _;
use alloc::format;
use weighbridge_core::Status;

/// The parts of a tensor that can be shown.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Preview {
    /// Whether [`values`](Tensor::values) returns as many elements as requested.
    pub values: bool,
    /// Whether [`stats`](Tensor::stats) are available, if requested.
    pub stats: bool,
    /// The part of its data that is not checked, if any.
    pub unchecked: Option<Unchecked>,
}

impl Tensor<'_, '_> {
    /// Decides what can be shown of the first `values` elements and of the statistics, if
    /// requested, for a program that shows the tensors of a file in order. Decodes encoded data
    /// to find out; [`Model::left_out`](crate::Model::left_out) reports when that becomes too
    /// much.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let preview = model.tensor("emb")?.preview(Some(2), true)?;
    /// assert!(preview.values && preview.stats);
    /// assert_eq!(preview.unchecked.unwrap().why(), "payload only shown, not checked");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn preview(&self, values: Option<u64>, stats: bool) -> Result<Preview, Error> {
        let mut preview = Preview { values: false, stats: false, unchecked: None };
        // Rows of a column are not elements that can be summed up.
        let rows = self.is_column() && values.is_some();
        if self.model.left_out().is_none() && !rows {
            self.look(if stats { self.elements() } else { values.unwrap_or(0) })?;
        }
        // Of this tensor, too, no more is decoded than the file allows.
        if self.model.left_out().is_none() {
            if let Some(limit) = values {
                preview.values = self.has_values(limit)?;
            }
            let model = self.model;
            preview.stats =
                stats && !rows && stats::can_show(&model.access, &model.file, &self.tensor)?;
        }
        let asked = values.is_some() || stats;
        preview.unchecked = self.unchecked(asked, preview.values || preview.stats)?;
        Ok(preview)
    }

    /// Records that the first `count` elements are read, if they are in one piece.
    fn look(&self, count: u64) -> Result<(), Error> {
        if self.chunk_count() != 1 {
            return Ok(());
        }
        let (access, file) = (&self.model.access, &self.model.file);
        if let Some(chunk) = access.ask_or_end(|source| file.chunk(source, &self.tensor, 0))? {
            let (decoded, stored) =
                data::extent(&self.tensor, count, chunk.decoded, chunk.stored.len);
            access.look(stored, decoded);
        }
        Ok(())
    }

    /// The part of its data left unchecked, given whether elements were `asked` for and
    /// `shown`.
    fn unchecked(&self, asked: bool, shown: bool) -> Result<Option<Unchecked>, Error> {
        // Without data, or if a finding explains why it is unavailable, nothing is left
        // unchecked.
        if self.chunk_count() == 0 || self.status() == Status::Broken {
            return Ok(None);
        }
        let (why, counts) = match (self.status(), self.model.left_out()) {
            _ if !asked => ("payload not asked for".to_owned(), false),
            _ if shown => ("payload only shown, not checked".to_owned(), false),
            (Status::Sound, Some(why)) => (why.to_owned(), true),
            (Status::Unsupported, _) => {
                ("its type, encoding or layout is unknown".to_owned(), true)
            }
            _ if data::is_plain(&self.tensor) && self.order()? == Order::Unknown => {
                let layout = self.layout().name();
                (format!("its extents are not in the file, so its {layout} order is unknown"), true)
            }
            _ => {
                let encoding = self.encoding().name();
                (format!("its elements ({encoding}) cannot be shown"), true)
            }
        };
        Ok(Some(Unchecked::new(Some(self.name().clone()), why, counts)))
    }
}
