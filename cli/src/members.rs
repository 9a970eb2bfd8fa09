//! Members of archives of models, as `weighbridge inspect` lists and opens them.

use crate::human::bold;
use crate::json::Object;
use std::io::{self, Write};
use weighbridge::{Archive, ArchiveMember, Error, MemberPlace};

/// The place of a member.
///
/// # Errors
/// When the file is no archive of models, or has no such member.
pub(crate) fn place<'a>(
    archive: Option<&'a Archive<'a>>,
    name: &str,
) -> Result<MemberPlace<'a>, Error> {
    let error = |why| Error::NotOpened { why, unsupported: true };
    let Some(archive) = archive else {
        return Err(error("is no archive of models, so it has no members".to_owned()));
    };
    match archive.members().iter().any(|member| member.name() == name) {
        true => Ok(archive.place(name)),
        false => Err(error(format!("has no member {name:?}"))),
    }
}

/// Writes the members as a list of an object.
pub(crate) fn write(object: &mut Object<'_>, members: &[ArchiveMember]) -> io::Result<()> {
    let mut list = object.list("members")?;
    for member in members {
        let mut item = list.object()?;
        item.member("name", member.name())?;
        item.optional("offset", member.span().map(|span| span.offset))?;
        item.optional("size", member.span().map(|span| span.len))?;
        item.end()?;
    }
    list.end()
}

/// Writes the members as lines.
pub(crate) fn show(out: &mut dyn Write, members: &[ArchiveMember]) -> io::Result<()> {
    writeln!(out, "{}", bold("members"))?;
    let names = members.iter().map(|member| member.name().chars().count());
    let width = names.max().unwrap_or(0).min(64);
    for member in members {
        let name = weighbridge::Text::from(member.name());
        match member.span() {
            Some(span) => {
                writeln!(out, "  {name:width$}  {} bytes at {}", span.len, span.offset)?;
            }
            None => writeln!(out, "  {name:width$}  not stored as it is")?,
        }
    }
    Ok(())
}
