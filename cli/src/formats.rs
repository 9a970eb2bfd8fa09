//! Which format a file is of.

use crate::session::{Halt, Session};
use std::path::Path;
use weighbridge_core::{Format, Span, Stop};

/// How many bytes decide: more than any magic takes.
const HEAD: u64 = 64;

/// The format that is called `name` on the command line.
pub(crate) fn by_name(name: &str) -> Result<Format, String> {
    Format::by_name(name).filter(|format| format.is_available()).ok_or_else(|| {
        let known: Vec<_> = available().map(Format::name).collect();
        format!("unknown format {name:?}; known are {}", known.join(", "))
    })
}

/// The formats that this build reads.
pub(crate) fn available() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied().filter(|format| format.is_available())
}

/// The format of a file: by its magic, else by its name, else the format without
/// a magic that its first bytes could be of.
pub(crate) fn recognise(session: &mut Session<'_>, path: &Path) -> Result<Option<Format>, Halt> {
    let len = session.len();
    let guess = session.ask(|source| {
        let head = source.get(Span::new(0, len.min(HEAD))).map_err(Stop::from)?;
        Ok(Format::of_head(head, len))
    })?;
    Ok(match guess {
        Some(format) if format.has_magic() => Some(format),
        guess => by_file_name(path).or(guess),
    })
}

/// Whether a walk takes the file: it has a magic or a known extension.
pub(crate) fn is_known(session: &mut Session<'_>, path: &Path) -> Result<bool, Halt> {
    let format = recognise(session, path)?;
    Ok(format.is_some_and(|format| format.has_magic() || by_file_name(path).is_some()))
}

/// The format that the name of a file promises.
pub(crate) fn by_file_name(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_string_lossy();
    Format::by_file_name(&name).filter(|format| format.is_available())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_the_names_of_the_catalogue() {
        for format in available() {
            assert_eq!(by_name(format.name()), Ok(format));
            for extension in format.extensions() {
                let path = format!("folder.d/model.{}", extension.to_uppercase());
                assert_eq!(by_file_name(Path::new(&path)), Some(format));
            }
        }
        assert_eq!(by_file_name(Path::new("stb")), None);
        assert!(by_name("nothing").is_err_and(|err| err.contains("stb")));
    }
}
