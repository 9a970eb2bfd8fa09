//! What the functions of the interface do, in safe code.

use crate::types::{Code, Finding, Findings, REGION, Tensor};
use core::mem::MaybeUninit;
#[cfg(feature = "names")]
use weighbridge_core::MappedAudit as Audit;
#[cfg(not(feature = "names"))]
use weighbridge_core::NumberedAudit as Audit;
use weighbridge_core::{
    self as core_, Cursor, DimEncoding, DimsAt, Format, Name, NameAt, NameEncoding, Opening,
    Severity, Slot, Source, Status, Stop,
};

/// What a finding says about the verdict; the higher, the worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// No finding, or lints.
    #[default]
    None,
    /// Something was not checked.
    Unchecked,
    /// A rule is broken.
    Invalid,
}

impl Doubt {
    /// The verdict on a file with these findings.
    pub(crate) fn code(self) -> Code {
        match self {
            Doubt::None => Code::Ok,
            Doubt::Unchecked => Code::Unchecked,
            Doubt::Invalid => Code::Invalid,
        }
    }
}

/// Receives findings, and keeps the first ones.
#[derive(Debug)]
pub(crate) struct Sink<'a> {
    pub(crate) head: Option<&'a mut Findings>,
    pub(crate) items: &'a mut [MaybeUninit<Finding>],
    pub(crate) doubt: Doubt,
}

impl Sink<'_> {
    // Called from several places that report: one copy.
    #[inline(never)]
    fn take(&mut self, finding: core_::Finding) {
        let severity = finding.severity();
        self.doubt = self.doubt.max(match severity {
            Severity::Unchecked => Doubt::Unchecked,
            Severity::Lint => Doubt::None,
            Severity::Violation | Severity::Fatal => Doubt::Invalid,
        });
        let Some(head) = self.head.as_mut() else { return };
        if let Some(place) = usize::try_from(head.count).ok().and_then(|n| self.items.get_mut(n)) {
            place.write(Finding {
                offset: finding.offset,
                entry: finding.entry,
                rule: finding.rule.code(),
                severity: severity as u8,
                kind: finding.kind as u8,
            });
        }
        head.count = head.count.saturating_add(1);
        head.unchecked = head.unchecked.saturating_add((severity == Severity::Unchecked).into());
        head.worst = head.worst.max(severity as u32);
    }
}

/// An open file and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) file: core_::File,
    /// That of the findings of opening.
    pub(crate) doubt: Doubt,
}

/// The bytes as a source: a region or a whole file, as `mode` says.
pub(crate) fn source(bytes: &[u8], mode: u32) -> Source<'_> {
    match mode & REGION {
        0 => Source::whole(bytes),
        _ => Source::whole(bytes).as_region(),
    }
}

/// Opens `source` as the format in `mode`, or the one that its first bytes indicate.
pub(crate) fn open(
    source: &Source<'_>,
    mode: u32,
    sink: &mut Sink<'_>,
) -> Result<core_::File, Code> {
    let format = match mode & !REGION {
        0 => None,
        code => Some(format(code).ok_or(Code::Argument)?),
    };
    let opened = Opening::of(format).step(source, &mut |finding| sink.take(finding));
    opened.map_err(|_| stopped(sink))
}

/// The verdict on a file that cannot be read further: at least one finding says why.
fn stopped(sink: &Sink<'_>) -> Code {
    match sink.doubt {
        Doubt::None => Code::Invalid,
        doubt => doubt.code(),
    }
}

fn format(code: u32) -> Option<Format> {
    Format::ALL.iter().copied().find(|format| *format as u32 == code && format.is_available())
}

/// Checks the structure of the file.
pub(crate) fn check(held: &Held<'_>, slots: &mut [Slot], sink: &mut Sink<'_>) -> Code {
    #[cfg(feature = "names")]
    let audit = Some(Audit::new(held.file));
    #[cfg(not(feature = "names"))]
    let audit = Audit::new(held.file);
    let Some(mut audit) = audit else { return Code::Argument };
    sink.doubt = sink.doubt.max(held.doubt);
    loop {
        match audit.step(&held.source, slots, &mut |finding| sink.take(finding)) {
            Ok(()) => return sink.doubt.code(),
            Err(Stop::NeedSlots { needed }) => {
                if let Some(head) = sink.head.as_mut() {
                    head.slots_needed = head.slots_needed.max(needed);
                }
                audit.skip(&mut |finding| sink.take(finding));
            }
            Err(_) => return stopped(sink),
        }
    }
}

/// The next tensor.
pub(crate) fn next(held: &Held<'_>, cursor: &mut Cursor) -> Result<Tensor, Code> {
    match held.file.next_tensor(&held.source, cursor, &mut |_| {}) {
        Ok(Some(entry)) => Ok(view(&held.source, &entry.tensor)),
        Ok(None) => Err(Code::End),
        Err(_) => Err(Code::Invalid),
    }
}

/// The first tensor with this name.
pub(crate) fn find(held: &Held<'_>, name: &Name<'_>) -> Result<Tensor, Code> {
    // Examined where it is returned: a tensor is large for a small stack.
    match &held.file.find(&held.source, name, &mut Cursor::default()) {
        Ok(Some(tensor)) => Ok(view(&held.source, tensor)),
        Ok(None) => Err(Code::NotFound),
        Err(_) => Err(Code::Invalid),
    }
}

/// Copies the name as text that ends with a zero; returns whether all of it fits.
pub(crate) fn name(held: &Held<'_>, tensor: &Tensor, text: &mut [MaybeUninit<u8>]) -> Code {
    let at = NameAt {
        offset: tensor.name_offset,
        len: tensor.name_len,
        encoding: name_encoding(tensor.name_encoding),
    };
    let Ok(name) = at.read(&held.source) else { return Code::Argument };
    let mut bytes = name.bytes();
    let mut places = text.iter_mut();
    let Some(mut place) = places.next() else { return Code::Room };
    loop {
        let Some(byte) = bytes.next() else {
            place.write(0);
            return Code::Ok;
        };
        let Some(next) = places.next() else {
            place.write(0);
            return Code::Room;
        };
        place.write(byte);
        place = next;
    }
}

/// Copies the extents, outermost first.
pub(crate) fn shape(held: &Held<'_>, tensor: &Tensor, extents: &mut [MaybeUninit<u64>]) -> Code {
    if tensor.shape_encoding == DimEncoding::External as u8 {
        return Code::NotFound;
    }
    let Some(encoding) = dim_encoding(tensor.shape_encoding) else { return Code::Argument };
    let leads = tensor.shape_leads != 0;
    let at = DimsAt {
        offset: tensor.shape_offset,
        len: tensor.shape_len,
        rank: tensor.rank.saturating_sub(leads.into()),
        lead: leads.then_some(tensor.shape_lead),
        encoding,
    };
    let Ok(dims) = at.read(&held.source) else { return Code::Argument };
    let mut places = extents.iter_mut();
    let mut left = tensor.rank;
    for extent in dims {
        let Some(place) = places.next() else { return Code::Room };
        place.write(extent);
        left = left.saturating_sub(1);
    }
    // Fewer extents than the rank: the memory has changed, or this is no tensor of the file.
    if left == 0 { Code::Ok } else { Code::Argument }
}

/// The tensor as C sees it.
fn view(source: &Source<'_>, tensor: &core_::Tensor) -> Tensor {
    let data = tensor.raw().and_then(|span| source.get(span).ok());
    let DimsAt { offset, len, lead, encoding, .. } = tensor.dims;
    Tensor {
        data: data.map_or(core::ptr::null(), <[u8]>::as_ptr),
        len: data.map_or(0, <[u8]>::len),
        elements: tensor.elements,
        name_offset: tensor.name.offset,
        shape_offset: offset,
        shape_lead: lead.unwrap_or(0),
        name_len: tensor.name.len,
        shape_len: len,
        rank: u32::try_from(tensor.dims.rank()).unwrap_or(u32::MAX),
        index: tensor.index,
        dtype: tensor.dtype as u8,
        status: tensor.status as u8,
        layout: tensor.layout as u8,
        encoding: match tensor.encoding {
            core_::Encoding::Raw => 0,
            core_::Encoding::Deflate => 1,
            core_::Encoding::Zlib => 2,
            core_::Encoding::Zstd => 3,
            _ => 4,
        },
        big_endian: tensor.endianness as u8,
        name_encoding: tensor.name.encoding as u8,
        shape_encoding: encoding as u8,
        shape_leads: lead.is_some().into(),
    }
}

/// The inverse of `as u8`.
fn name_encoding(code: u8) -> NameEncoding {
    const ALL: [NameEncoding; 4] =
        [NameEncoding::Plain, NameEncoding::Number, NameEncoding::Chunks, NameEncoding::Json];
    ALL.get(usize::from(code)).copied().unwrap_or_default()
}

/// The inverse of `as u8`.
fn dim_encoding(code: u8) -> Option<DimEncoding> {
    const ALL: [DimEncoding; 7] = [
        DimEncoding::U64,
        DimEncoding::U32,
        DimEncoding::Bincode,
        DimEncoding::Cbor,
        DimEncoding::Decimal,
        DimEncoding::Reversed,
        DimEncoding::ReversedBig,
    ];
    ALL.get(usize::from(code)).copied()
}

// The numbers that the header states are those of the core.
#[allow(clippy::panic, reason = "evaluated while compiling")]
const _: () = {
    assert!(
        Status::Sound as u8 == 0 && Status::Unsupported as u8 == 1 && Status::Broken as u8 == 2
    );
    assert!(core_::EntryKind::Slot as u8 == 5 && core_::EntryKind::SizeVar as u8 == 3);
    assert!(core_::Layout::Unknown as u8 == 7 && core_::Layout::Blocks as u8 == 6);
    assert!(NameEncoding::Json as u8 == 3 && DimEncoding::ReversedBig as u8 == 6);
    assert!(core_::Endianness::Big as u8 == 1);
};
