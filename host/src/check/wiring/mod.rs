//! Whether a model is wired soundly: each value is made once, before it is read, no function calls
//! itself by way of others, and attributes have names of their own.
//!
//! The core lists what makes and reads values, with the offsets between which each can be read
//! (`format/onnx/links.rs`). Here they are sorted by name, then by offset, and passed over once. Equal
//! hashes count as equal names: the seed is random.

mod attributes;
mod calls;
pub(crate) mod digests;
mod values;

use crate::check::finding::on_file;
use crate::check::options::Options;
use crate::check::report::Collected;
use alloc::boxed::Box;
use alloc::vec::Vec;
use attributes::Attributes;
use calls::Calls;
use values::Values;
use weighbridge_core::format::onnx::{Header, Links, Role, rules};
use weighbridge_core::{Absent, File, Finding, NameAt, Rule, Source, Stop, general, limits};

/// The check of a model's wiring. Between steps it is plain data.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    gathered: Option<Box<Gathered>>,
    is_done: bool,
}

/// What was read so far.
#[derive(Debug)]
struct Gathered {
    links: Links,
    values: Values,
    calls: Calls,
    attributes: Attributes,
}

impl Wiring {
    /// Reads all links of an open file that has some, and reports what is wrong with them.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn enter(
        &mut self,
        source: &Source<'_>,
        file: &File,
        options: &Options,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        let File::Onnx(header) = file else { return Ok(()) };
        if self.is_done {
            return Ok(());
        }
        let gathered = self.gathered.get_or_insert_with(|| {
            let links = Links::new(options.seed_or_random());
            let (values, calls) = (Values::default(), Calls::default());
            Box::new(Gathered { links, values, calls, attributes: Attributes::default() })
        });
        let fits = gathered.read(source, options.slots())?;
        if let Some(gathered) = self.gathered.take() {
            let mut found = Vec::new();
            match fits {
                true => gathered.report(header, collected, &mut found),
                false => found.push(finding(general::NAMES_UNCHECKED, (0, 0), options.slots())),
            }
            found.into_iter().for_each(|finding| collected.push(finding));
        }
        self.is_done = true;
        Ok(())
    }
}

impl Gathered {
    /// Reads on; false if there are more links than fit into `most` slots.
    fn read(&mut self, source: &Source<'_>, most: u64) -> Result<bool, Absent> {
        let Gathered { links, values, calls, attributes } = self;
        let fits = links.step(source, &mut |link| {
            match link.role {
                Role::Function | Role::Call => calls.add(link),
                Role::Attribute | Role::Declared | Role::Referred => attributes.add(link),
                _ => values.add(link),
            }
            let rows = values.len() + calls.len() + attributes.len();
            rows as u64 <= most
        });
        match fits {
            Err(Stop::NeedBytes(absent)) => Err(absent),
            // A broken rule was reported where the file was opened.
            fits => Ok(fits.unwrap_or(true)),
        }
    }

    fn report(self, header: &Header, collected: &Collected, found: &mut Vec<Finding>) {
        if let Some(span) = self.links.unread() {
            let len = u32::try_from(span.len).unwrap_or(u32::MAX);
            let finding = finding(rules::W_TEXT, (span.offset, len), limits::ONNX_TEXT);
            found.push(Finding { found: span.len, ..finding });
        }
        // A tensor of a `Constant` node has the name of the output, so it was reported already.
        let kept = collected.kept.iter().filter(|it| it.rule == rules::T_TWICE);
        let known = kept.map(|it| it.offset).collect();
        let complete = !self.links.is_partial();
        self.values.report(complete, known, found);
        self.attributes.report(complete, found);
        if header.functions() > 0 {
            self.calls.report(found);
        }
    }
}

/// Where a name is.
fn place(name: NameAt) -> (u64, u32) {
    (name.offset, name.len)
}

/// A finding on a name, or on the file.
fn finding(rule: Rule, name: (u64, u32), expected: u64) -> Finding {
    on_file(rule, name, (expected, 0))
}
