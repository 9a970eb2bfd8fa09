//! The tensors of a model, by name and in order.

use super::Tensor;
use crate::base::error::Error;
use crate::base::text::Text;
use crate::check::options::Goal;
use crate::list::entry::Entry;
use crate::read::model::Model;
use weighbridge_core::{Cursor, Name, NameEncoding};

impl<'a> Model<'a> {
    /// The tensors, in index order. None is kept, so memory does not grow with their number.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut largest = 0;
    /// for tensor in model.tensors() {
    ///     largest = largest.max(tensor?.elements());
    /// }
    /// assert_eq!(largest, 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensors(&self) -> impl Iterator<Item = Result<Tensor<'_, 'a>, Error>> + '_ {
        Tensors { model: self, cursor: Cursor::default(), over: false }
    }

    /// The tensor with this name, or with this number if tensors have numbers. If there are
    /// several, the first.
    ///
    /// The first call reads the index; after that, the time of a lookup does not depend on the
    /// number of tensors.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor("emb")?.shape(), [2, 3]);
    /// assert_eq!(model.tensor("emd").unwrap_err().to_string(), "there is no tensor \"emd\"");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoTensor`], or when the index cannot be read.
    pub fn tensor(&self, name: impl Into<Text>) -> Result<Tensor<'_, 'a>, Error> {
        let name = name.into();
        self.access.run(Goal::Index)?;
        let found = self.access.with(|session| session.catalog()?.find(&name).cloned());
        match found {
            Some(entry) => Ok(Tensor { model: self, entry }),
            None => Err(Error::NoTensor(name)),
        }
    }

    /// The tensor of an entry from this model.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let kept: weighbridge::Entry = (*model.tensor("emb")?).clone();
    /// assert_eq!(model.tensor_of(&kept).to_vec::<f32>()?.len(), 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensor_of(&self, entry: &Entry) -> Tensor<'_, 'a> {
        Tensor { model: self, entry: entry.clone() }
    }

    /// All tensors with this name; there should be only one. Reads the entries in order and
    /// keeps none.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensors_named("emb").count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensors_named(
        &self,
        name: impl Into<Text>,
    ) -> impl Iterator<Item = Result<Tensor<'_, 'a>, Error>> + '_ {
        let name = name.into();
        let mut cursor = Cursor::default();
        let mut over = false;
        core::iter::from_fn(move || {
            if over {
                return None;
            }
            let wanted = Name::new(name.as_bytes(), NameEncoding::Plain);
            let found = self.access.ask_or_end(|source| {
                let mut next = cursor;
                let found =
                    self.file.find(source, &wanted, &mut next).inspect_err(|_| cursor = next);
                let entry = found?.map(|tensor| Entry::new(source, tensor)).transpose()?;
                cursor = next;
                Ok(entry)
            });
            let found = found.map(|entry| entry.map(|entry| Tensor { model: self, entry }));
            over = !matches!(found, Ok(Some(_)));
            found.transpose()
        })
    }
}

/// The tensors of a model, in order.
struct Tensors<'m, 'a> {
    model: &'m Model<'a>,
    cursor: Cursor,
    over: bool,
}

impl<'m, 'a> Iterator for Tensors<'m, 'a> {
    type Item = Result<Tensor<'m, 'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let Tensors { model, cursor, .. } = self;
        let found = model.access.ask_or_end(|source| {
            let mut next = *cursor;
            let found = model.file.next_tensor(source, &mut next, &mut |_| {});
            // Progress within an entry that is stored in several places is kept.
            let Some(found) = found.inspect_err(|_| *cursor = next)? else {
                return Ok(None);
            };
            let entry = Entry::new(source, found.tensor)?;
            *cursor = next;
            Ok(Some(entry))
        });
        let found = found.map(|entry| entry.map(|entry| Tensor { model, entry })).transpose();
        self.over = !matches!(found, Some(Ok(_)));
        found
    }
}
