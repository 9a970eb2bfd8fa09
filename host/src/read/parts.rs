//! A model in several files: which files they are, and which tensor is in which.

use crate::base::error::Error;
use crate::list::index::Index;
use crate::read::model::Model;
use alloc::borrow::ToOwned as _;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use std::collections::HashMap;
use weighbridge_core::{File, Status, Value};

/// The files of a model that is stored in several: the shards that an index lists, or the parts
/// of a split GGUF. They lie beside the file that names them.
///
/// ```
/// use weighbridge::{Index, Model, Parts};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors.index.json");
/// # std::fs::write(&path, r#"{"weight_map": {"emb": "a.safetensors"}}"#)?;
/// # std::fs::write(folder.path().join("a.safetensors"), weighbridge_tests::samples::safetensors())?;
/// let index = Model::open(&path)?;
/// let parts = Parts::of(&index, "model.safetensors.index.json")?.expect("it lists files");
/// let models: Result<Vec<Model>, _> =
///     parts.files().iter().map(|file| Model::open(path.with_file_name(file))).collect();
/// let models = models?;
/// let indexes: Result<Vec<Index>, _> = models.iter().map(Model::index).collect();
/// let indexes = indexes?;
/// for placed in parts.merge(&indexes) {
///     let entry = indexes[placed.part].entry(placed.at);
///     println!("{} in {}", entry.name(), parts.files()[placed.part]);
///     # assert_eq!(models[placed.part].tensor_of(&entry).to_vec::<f32>()?.len(), 6);
/// }
/// # assert_eq!(parts.merge(&indexes).len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parts {
    files: Vec<String>,
    /// The tensors of an index, each with the number of the file that it names.
    listed: Option<Vec<(Vec<u8>, usize)>>,
}

/// The place of a tensor in a model of several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Number of its file, from 0.
    pub part: usize,
    /// Its position in the index of that file.
    pub at: usize,
}

impl Parts {
    /// The files named by a model that is an index, or by the first part of a split GGUF with
    /// this name. `None` for any other model.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert!(weighbridge::Parts::of(&model, "model.safetensors")?.is_none());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(model: &Model<'_>, file_name: &str) -> Result<Option<Self>, Error> {
        match &model.file {
            #[cfg(feature = "shards")]
            file @ File::Shards(_) => listed(model, file).map(Some),
            #[cfg(feature = "gguf")]
            file @ File::Gguf(_) => {
                let files =
                    crate::set::open_splits::named_by_first(&model.access, file, file_name)?;
                Ok(files.map(|files| Parts { files, listed: None }))
            }
            _ => Ok(None),
        }
    }

    /// The names of the files, in order.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors.index.json");
    /// # std::fs::write(&path, r#"{"weight_map": {"emb": "a.safetensors"}}"#)?;
    /// let index = weighbridge::Model::open(&path)?;
    /// let parts = weighbridge::Parts::of(&index, "model.safetensors.index.json")?;
    /// assert_eq!(parts.unwrap().files(), ["a.safetensors"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The tensors of all files, given their indexes in order; an empty index stands for a
    /// missing file. Tensors of shards come in the order of their index, if their file has
    /// them; tensors of a split GGUF come part by part.
    ///
    /// ```
    /// use weighbridge::{Index, Model, Parts, Placed};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors.index.json");
    /// # std::fs::write(&path, r#"{"weight_map": {"emb": "a.safetensors"}}"#)?;
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let parts = Parts::of(&Model::open(&path)?, "model.safetensors.index.json")?.unwrap();
    /// let index = Model::from_bytes(&bytes)?.index()?;
    /// assert_eq!(parts.merge(&[index]), [Placed { part: 0, at: 0 }]);
    /// assert_eq!(parts.merge(&[Index::default()]), []); // the file is missing
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge<I: std::borrow::Borrow<Index>>(&self, indexes: &[I]) -> Vec<Placed> {
        let all = indexes.iter().map(std::borrow::Borrow::borrow).enumerate();
        let all = all.flat_map(|(part, index)| (0..index.len()).map(move |at| (part, index, at)));
        let Some(listed) = &self.listed else {
            return all.map(|(part, _, at)| Placed { part, at }).collect();
        };
        let mut known = HashMap::new();
        for (part, index, at) in all {
            let name = index.name(at).as_bytes().unwrap_or_default();
            known.entry((part, name)).or_insert(Placed { part, at });
        }
        let found = listed.iter().filter_map(|(name, part)| known.get(&(*part, name.as_slice())));
        found.copied().collect()
    }
}

/// The content of an index. If entries share a name, the last counts, as for its readers.
#[cfg(feature = "shards")]
fn listed(model: &Model<'_>, file: &File) -> Result<Parts, Error> {
    let (mut files, mut numbers) = (Vec::new(), HashMap::new());
    let (mut listed, mut known) = (Vec::<(Vec<u8>, usize)>::new(), HashMap::new());
    crate::set::open_shards::entries(&model.access, file, |source, meta| {
        // Entries that name files elsewhere are broken.
        if meta.status == Status::Sound
            && let Some(Value::Text(text)) = file.value(source, meta)?
        {
            let name: Vec<u8> = meta.key.read(source)?.bytes().collect();
            let shard = text.read(source)?.to_string();
            let number = *numbers.entry(shard).or_insert_with_key(|shard| {
                files.push(shard.to_owned());
                files.len() - 1
            });
            match known.get(&name).and_then(|at: &usize| listed.get_mut(*at)) {
                Some(known) => known.1 = number,
                None => {
                    known.insert(name.clone(), listed.len());
                    listed.push((name, number));
                }
            }
        }
        Ok(())
    })?;
    Ok(Parts { files, listed: Some(listed) })
}
