//! Recognises the index of a model whose shards are pickles.

use crate::list::walk::Walk;
use alloc::string::ToString as _;
use weighbridge_core::{Absent, File, Metadata, Source, Status, Stop, Value};

/// Extensions of the files that `torch.save` writes.
const EXTENSIONS: [&str; 5] = [".bin", ".pt", ".pth", ".ckpt", ".pkl"];

/// An open index, and how far its file names have been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedFiles {
    pub(crate) index: File,
    walk: Walk,
    /// Whether the index lists any file.
    any: bool,
}

impl ListedFiles {
    pub(crate) fn of(index: File) -> Self {
        ListedFiles { index, walk: Walk::default(), any: false }
    }

    /// Whether all files that the index lists are pickles, by their names, as readers decide it.
    /// Reads up to the first that is none.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn are_pickles(&mut self, source: &Source<'_>) -> Result<bool, Absent> {
        let ListedFiles { index, walk, any } = self;
        let all = walk.all(source, index, |meta| {
            *any = true;
            is_pickle(source, index, meta)
        });
        match all {
            Ok(all) => Ok(all && *any),
            Err(Stop::NeedBytes(absent)) => Err(absent),
            Err(_) => Ok(false),
        }
    }
}

/// Whether an entry is sound and its file is a pickle by its name.
fn is_pickle(source: &Source<'_>, index: &File, meta: &Metadata) -> Result<bool, Stop> {
    if meta.status != Status::Sound {
        return Ok(false);
    }
    let Some(Value::Text(text)) = index.value(source, meta)? else { return Ok(false) };
    let name = text.read(source)?.to_string().to_ascii_lowercase();
    Ok(EXTENSIONS.iter().any(|extension| name.ends_with(extension)))
}

#[cfg(test)]
mod tests {
    use crate::{Diagnosis, Goal, Options, Poll, Session};
    use alloc::format;
    use alloc::string::String;

    /// Whether an index of many shards is refused, given the last.
    fn refuses(last: &str) -> bool {
        let entry = |i| format!("\"layers.{i}.weight\": \"pytorch_model-{i}.bin\", ");
        let entries: String = (0..2_000).map(entry).collect();
        let text = format!("{{\"weight_map\": {{{entries}\"last\": \"{last}\"}}}}");
        let mut session = Session::new(text.len() as u64, Options::new());
        while let Poll::Need(ranges) = session.poll(Goal::Header).expect("enough memory") {
            for range in ranges {
                let (from, to) = (range.offset as usize, (range.offset + range.len) as usize);
                session.supply(range.offset, text.as_bytes()[from..to].to_vec());
            }
        }
        let found = session.diagnosis() == Some(Diagnosis::PickleIndex);
        assert_eq!((session.is_refused(), session.file().is_none()), (found, found));
        assert_eq!(session.is_unsupported(), found);
        found
    }

    #[test]
    fn index_of_pickles_is_found_in_pieces() {
        assert!(refuses("pytorch_model.bin"));
        assert!(refuses("model.PTH"));
        for other in ["model.safetensors", "bin", "model.bin.json", ""] {
            assert!(!refuses(other), "{other}");
        }
    }
}
