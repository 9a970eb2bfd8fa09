//! The report of two entries with the same name, shared by both audits.

use crate::file::File;
use crate::format::Fault;
use crate::model::NameAt;
use crate::parse::Reader;
use crate::rule::EntryKind;

impl File {
    /// Reports that entry `index` has the `name` of an `earlier` one, if a rule forbids it;
    /// `owner` is the tensor that a metadata entry belongs to.
    pub(crate) fn report_duplicate(
        &self,
        r: &mut Reader<'_, '_>,
        (kind, index, name): (EntryKind, u32, NameAt),
        earlier: u32,
        owner: Option<u32>,
    ) {
        let Some(rule) = self.rule(Fault::Duplicate(kind)) else { return };
        if self.may_repeat(kind, index) {
            return;
        }
        r.about(kind, index);
        if let Some(tensor) = owner {
            r.about(EntryKind::Attribute, tensor);
            r.about_part(index);
        }
        r.report(rule, name.offset, name.len.into(), earlier.into(), index.into());
    }
}
