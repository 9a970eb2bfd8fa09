//! Files that were split by bytes: each is checked once, as the file that its pieces make.

use super::{Task, class_of, file_name};
use crate::print::{Checked, Seen};
use std::path::{Path, PathBuf};
use weighbridge::repository::{Examined, Pieces};
use weighbridge::{Diagnosis, Error, FileInput, Input as _, Place as _, Text, check_at};

impl Task<'_> {
    /// Checks a file that was split, with the first of its pieces that is checked at all.
    pub(super) fn check_pieces(
        &self,
        path: &Path,
        pieces: &Pieces,
        below: Option<&Path>,
    ) -> Result<Seen, Error> {
        let first = self.answering(path, pieces, below);
        let joined = pieces.open()?;
        let options = if below.is_some() { &self.found } else { &self.named };
        let examined = if first == path {
            let place = path.with_file_name(pieces.name());
            let report = check_at(&joined, &place, options)?;
            let sha256 = self.sha256.then(|| self.digest(&joined, &place.name())).transpose()?;
            let Some(examined) = self.examine(&joined, &report, &place, false)? else {
                let class = Some(class_of(&report));
                return Ok(Seen::Checked(Box::new(Checked { report, class, sha256, read: None })));
            };
            examined
        } else {
            // A piece alone may be a pickle that no reader of the whole sees.
            let own = FileInput::open(path)?;
            let place = path.to_path_buf();
            let report = check_at(&own, &place, options)?;
            if report.diagnosis().is_some_and(Diagnosis::is_pickle) {
                let Some(examined) = self.examine(&own, &report, &place, false)? else {
                    let class = Some(class_of(&report));
                    let checked = Checked { report, class, sha256: None, read: None };
                    return Ok(Seen::Checked(Box::new(checked)));
                };
                return Ok(Seen::Sorted(Box::new(self.sorted(examined, own.len(), None))));
            }
            let place = pieces.paths().iter().position(|it| file_name(it) == file_name(path));
            let (place, count) = (place.unwrap_or(0) + 1, pieces.paths().len());
            Examined::piece(pieces.name(), place, count, &Text::from(first).lossy())
        };
        Ok(Seen::Sorted(Box::new(self.sorted(examined, joined.len(), None))))
    }

    /// The first piece that is named, or that is in the list or the folder and not left out.
    fn answering<'p>(&self, path: &'p Path, pieces: &'p Pieces, below: Option<&Path>) -> &'p Path {
        let is_listed = self.listed.contains(path);
        let is_checked = |piece: &&PathBuf| match below {
            None => self.paths.contains(piece),
            Some(_) if is_listed => self.listed.contains(*piece) && self.filter.wants(piece),
            Some(below) => self.filter.wants(&below.with_file_name(file_name(piece))),
        };
        pieces.paths().iter().find(is_checked).map_or(path, PathBuf::as_path)
    }
}
