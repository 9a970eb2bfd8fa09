//! What `inspect` shows of pickles: what they import, their operations, and the storages of a
//! checkpoint.

use crate::human::{bold, dim};
use crate::json::{List, Object};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use weighbridge::text::{bytes, plural};
use weighbridge::{
    Error, Global, Input, Model, Operation, PickleCode, PicklePart, Pickles, Report, Storage, Text,
};

/// Most names of tensors that are shown of a storage.
const NAMES: usize = 4;

/// The pickles of a file, with the bytes of one at a time.
pub(crate) struct Pickled<'a> {
    input: &'a dyn Input,
    report: &'a Report,
    pickles: &'a Pickles,
    /// The path of each import, in the order of the list.
    paths: Vec<Option<String>>,
}

/// An import in JSON.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    global: &'a Global,
    path: Option<&'a str>,
}

/// The operations of one pickle in JSON.
#[derive(Serialize)]
struct Code<'a> {
    pickle: Option<&'a str>,
    offset: u64,
    operations: Vec<Operation>,
}

impl<'a> Pickled<'a> {
    /// The pickles of a file; `None` if it has none.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn of(input: &'a dyn Input, report: &'a Report) -> Result<Option<Self>, Error> {
        let Some(pickles) = report.pickles() else { return Ok(None) };
        let mut pickled = Pickled { input, report, pickles, paths: Vec::new() };
        let mut known: Option<(&PicklePart, Option<PickleCode<'_>>)> = None;
        for global in pickles.globals() {
            let number = usize::try_from(global.part()).unwrap_or(usize::MAX);
            let Some(part) = pickles.parts().get(number) else {
                pickled.paths.push(None);
                continue;
            };
            if known.as_ref().is_none_or(|(of, _)| *of != part) {
                known = Some((part, PickleCode::read(input, part)?));
            }
            let code = known.as_ref().and_then(|(_, code)| code.as_ref());
            pickled.paths.push(code.and_then(|code| code.path(global)).map(str::to_owned));
        }
        Ok(Some(pickled))
    }

    /// Writes what they import.
    pub(crate) fn show_globals(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.paths.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", bold("imports of the pickle"))?;
        for (global, path) in self.pickles.globals().iter().zip(&self.paths) {
            let does = if global.is_called() { "called  " } else { "imported" };
            let (standing, name, at) = (global.standing(), global.name(), global.offset());
            let place = match path.as_deref() {
                Some("") => "the object itself".to_owned(),
                Some(path) => format!("in {}", Text::from(path)),
                None => "not in the object".to_owned(),
            };
            writeln!(out, "  {standing:10}  {does}  {name}  at {at}, {}", dim(place))?;
        }
        if self.pickles.has_more_globals() {
            writeln!(out, "  and more names")?;
        }
        Ok(())
    }

    /// Writes what they import as a member of an object.
    pub(crate) fn write_globals(&self, object: &mut Object<'_>) -> io::Result<()> {
        let mut list = object.list("globals")?;
        for (global, path) in self.pickles.globals().iter().zip(&self.paths) {
            list.item(&Line { global, path: path.as_deref() })?;
        }
        list.end()
    }

    /// Calls `take` with the operations of each pickle around findings, imports off the list, and
    /// the offsets `at`.
    fn operations<E: From<Error>>(
        &self,
        count: usize,
        at: &[u64],
        mut take: impl FnMut(&PicklePart, Vec<Operation>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (number, part) in self.pickles.parts().iter().enumerate() {
            let offsets = self.offsets(number, part, at);
            if offsets.is_empty() {
                continue;
            }
            let code = PickleCode::read(self.input, part)?;
            take(part, code.map(|code| code.around(&offsets, count)).unwrap_or_default())?;
        }
        Ok(())
    }

    /// The offsets around which operations of a pickle are shown.
    fn offsets(&self, number: usize, part: &PicklePart, at: &[u64]) -> Vec<u64> {
        let mut offsets = Vec::new();
        for global in self.pickles.globals().iter().filter(|it| it.standing() != "listed") {
            if global.part() == number as u64 {
                offsets.push(global.decoded_offset().unwrap_or(global.offset()));
            }
        }
        // Findings have offsets in the file, and those in a compressed pickle that of its stream.
        let has = |offset: u64| {
            offset >= part.offset() && offset - part.offset() < part.len() && !part.is_compressed()
        };
        let found = self.report.findings().iter().map(|it| it.offset());
        offsets.extend(found.chain(at.iter().copied()).filter(|offset| has(*offset)));
        if part.is_compressed() && at.iter().any(|at| *at == part.offset()) {
            offsets.push(0);
        }
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    /// Writes the operations around findings and offsets.
    pub(crate) fn show_operations<E: From<Error> + From<io::Error>>(
        &self,
        count: usize,
        at: &[u64],
        out: &mut dyn Write,
    ) -> Result<(), E> {
        self.operations(count, at, |part, operations| {
            let of = part.name().map(|name| format!(" of {}", Text::from(name)));
            writeln!(out, "{}", bold(format!("operations{}", of.unwrap_or_default())))?;
            if operations.is_empty() {
                writeln!(out, "  not shown: it is too long, or compressed twice")?;
            }
            let mut next = operations.first().map_or(0, |first| first.number);
            for operation in &operations {
                if operation.number != next {
                    writeln!(out, "  {}", dim("…"))?;
                }
                next = operation.number + 1;
                show_operation(operation, out)?;
            }
            Ok(())
        })
    }

    /// Writes the same as a member of an object.
    pub(crate) fn write_operations<E: From<Error> + From<io::Error>>(
        &self,
        count: usize,
        at: &[u64],
        object: &mut Object<'_>,
    ) -> Result<(), E> {
        let mut list: List<'_> = object.list("operations")?;
        self.operations(count, at, |part, operations| {
            let (pickle, offset) = (part.name(), part.offset());
            Ok::<(), E>(list.item(&Code { pickle, offset, operations })?)
        })?;
        Ok(list.end()?)
    }
}

fn show_operation(operation: &Operation, out: &mut dyn Write) -> io::Result<()> {
    let Operation { offset, name, argument, fault, .. } = operation;
    let name = if name.is_empty() { "(none)" } else { name };
    let fault = fault.as_ref().map(|fault| format!("  {}", bold(fault))).unwrap_or_default();
    let line = format!("  {offset:>8}  {name:16}  {argument}");
    writeln!(out, "{}{fault}", line.trim_end())
}

/// Writes the storages that several tensors share, or of which a part is used.
///
/// # Errors
/// When the index cannot be read, or the output not written.
pub(crate) fn show_storages<E: From<Error> + From<io::Error>>(
    model: &Model<'_>,
    out: &mut dyn Write,
) -> Result<(), E> {
    let storages = model.storages()?;
    let is_plain = |it: &Storage| it.tensors.len() == 1 && it.used == it.size;
    let (plain, listed): (Vec<_>, Vec<_>) = storages.iter().partition(|it| is_plain(it));
    if listed.is_empty() {
        return Ok(());
    }
    let wanted = listed.iter().flat_map(|it| it.tensors.iter().take(NAMES));
    let mut names: BTreeMap<u32, String> = wanted.map(|it| (*it, String::new())).collect();
    for tensor in model.tensors() {
        let tensor = tensor?;
        if let Some(name) = names.get_mut(&tensor.index()) {
            *name = tensor.name().to_string();
        }
    }
    writeln!(out, "{}", bold("storages"))?;
    for Storage { key, offset, size, used, tensors, .. } in listed {
        let shown = tensors.iter().take(NAMES).filter_map(|it| names.get(it).cloned());
        let more = match tensors.len().saturating_sub(NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let used = match used == size {
            true => String::new(),
            false => format!(", {} used", bytes(*used)),
        };
        let of = shown.collect::<Vec<_>>().join(", ");
        writeln!(out, "  {key}  {} at {offset}{used}  {of}{more}", bytes(*size))?;
    }
    if !plain.is_empty() {
        let count = plain.len() as u64;
        writeln!(out, "  and {}, each all of one tensor", plural(count, "storage"))?;
    }
    Ok(())
}
