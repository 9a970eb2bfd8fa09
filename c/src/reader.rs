//! What the functions of the interface do, in safe code.

use crate::types::{Code, Finding, REGION, Tensor};
use core::cell::Cell;
use core::mem::MaybeUninit;
#[cfg(feature = "names")]
use weighbridge_core::MappedAudit as Audit;
#[cfg(not(feature = "names"))]
use weighbridge_core::NumberedAudit as Audit;
use weighbridge_core::{
    self as core_, Cursor, DimEncoding, DimsAt, Format, Name, NameAt, NameEncoding, Opening,
    Severity, Slot, Source, Status, Stop,
};

/// What findings say about the verdict; the higher, the worse.
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
    fn of(severity: Severity) -> Doubt {
        match severity {
            Severity::Unchecked => Doubt::Unchecked,
            Severity::Lint => Doubt::None,
            Severity::Violation | Severity::Fatal => Doubt::Invalid,
        }
    }

    /// That of a file that cannot be read further: at least one finding says why.
    fn of_stopped(self) -> Doubt {
        match self {
            Doubt::None => Doubt::Invalid,
            doubt => doubt,
        }
    }

    /// The verdict on a file with these findings.
    fn code(self) -> Code {
        match self {
            Doubt::None => Code::Ok,
            Doubt::Unchecked => Code::Unchecked,
            Doubt::Invalid => Code::Invalid,
        }
    }
}

/// The caller's array of findings, if there is one. Copies refer to the same array.
pub(crate) trait Array: Copy {
    /// Counts a finding, and keeps it if there is room.
    fn add(self, finding: Finding);

    /// Notes how many slots a complete check takes.
    fn need(self, slots: u32);
}

/// An open file and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) file: core_::File,
    /// That of the findings of opening.
    pub(crate) doubt: Doubt,
}

/// Receives findings: notes what they say about the verdict, and adds them to the caller's array.
///
/// One closure for every function, because each would be another copy.
fn sink(array: impl Array, doubt: &Cell<Doubt>) -> impl FnMut(core_::Finding) {
    move |finding| {
        let severity = finding.severity();
        doubt.set(doubt.get().max(Doubt::of(severity)));
        array.add(Finding {
            offset: finding.offset,
            entry: finding.entry,
            rule: finding.rule.code(),
            severity: severity as u8,
            kind: finding.kind as u8,
        });
    }
}

/// The bytes as a source: a region or a whole file, as `mode` says.
pub(crate) fn source(bytes: &[u8], mode: u32) -> Source<'_> {
    match mode & REGION {
        0 => Source::whole(bytes),
        _ => Source::whole(bytes).as_region(),
    }
}

/// Opens `source` as the format in `mode`, or the format of its first bytes.
pub(crate) fn open(
    source: &Source<'_>,
    mode: u32,
    array: impl Array,
    doubt: &Cell<Doubt>,
) -> Result<core_::File, Code> {
    let format = match mode & !REGION {
        0 => None,
        code => {
            let format = u16::try_from(code).ok().and_then(Format::from_code);
            Some(format.filter(|format| format.is_available()).ok_or(Code::Argument)?)
        }
    };
    let opened = Opening::of(format).step(source, &mut sink(array, doubt));
    opened.map_err(|_| doubt.get().of_stopped().code())
}

/// Checks the structure of the file.
pub(crate) fn check(held: &Held<'_>, slots: &mut [Slot], array: impl Array) -> Code {
    #[cfg(feature = "names")]
    let audit = Some(Audit::new(held.file));
    #[cfg(not(feature = "names"))]
    let audit = Audit::new(held.file);
    let Some(mut audit) = audit else { return Code::Argument };
    let doubt = Cell::new(held.doubt);
    let mut report = sink(array, &doubt);
    loop {
        match audit.step(&held.source, slots, &mut report) {
            Ok(()) => break,
            Err(Stop::NeedSlots { needed }) => {
                array.need(needed);
                audit.skip(&mut report);
            }
            Err(_) => {
                doubt.set(doubt.get().of_stopped());
                break;
            }
        }
    }
    doubt.get().code()
}

/// The format of the file.
pub(crate) fn format_of(held: &Held<'_>) -> u32 {
    held.file.format() as u32
}

/// Number of tensors that the file declares.
pub(crate) fn count(held: &Held<'_>) -> u64 {
    held.file.tensor_count()
}

/// Stores the next tensor.
pub(crate) fn next(held: &Held<'_>, cursor: &mut Cursor, place: &mut MaybeUninit<Tensor>) -> Code {
    match &held.file.next_tensor(&held.source, cursor, &mut |_| {}) {
        Ok(Some(entry)) => view(&held.source, &entry.tensor, place),
        Ok(None) => Code::End,
        Err(_) => Code::Invalid,
    }
}

/// Stores the first tensor with this name. A name that is a number is found by its digits.
pub(crate) fn find(held: &Held<'_>, name: &[u8], place: &mut MaybeUninit<Tensor>) -> Code {
    let name = Name::new(name, NameEncoding::Plain);
    // Examined where it is returned: a tensor is large for a small stack.
    match &held.file.find(&held.source, &name, &mut Cursor::default()) {
        Ok(Some(tensor)) => view(&held.source, tensor, place),
        Ok(None) => Code::NotFound,
        Err(_) => Code::Invalid,
    }
}

/// The decimal digits of a number: those from the position returned with them.
pub(crate) fn digits(mut id: u8) -> ([u8; 3], usize) {
    let (mut digits, mut first) = ([b'0'; 3], 3_usize);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' | (id % 10);
        id /= 10;
        first = first.saturating_sub(1);
        if id == 0 {
            break;
        }
    }
    (digits, first)
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
    // Otherwise the memory has changed, or this is no tensor of the file.
    let unread = match tensor.status == Status::Broken as u8 {
        true => Code::NotFound,
        false => Code::Argument,
    };
    let Ok(dims) = at.read(&held.source) else { return unread };
    let mut places = extents.iter_mut();
    let mut left = tensor.rank;
    for extent in dims {
        let Some(place) = places.next() else { return Code::Room };
        place.write(extent);
        left = left.saturating_sub(1);
    }
    // There may be fewer extents than the rank.
    if left == 0 { Code::Ok } else { unread }
}

/// Stores the tensor as C sees it.
fn view(source: &Source<'_>, tensor: &core_::Tensor, place: &mut MaybeUninit<Tensor>) -> Code {
    // An empty tensor may lie past the end, where there is no place for a pointer.
    let data = tensor.raw().and_then(|span| {
        let rest = source.run(0).get(usize::try_from(span.offset).ok()?..)?;
        rest.get(..usize::try_from(span.len).ok()?)
    });
    let DimsAt { offset, len, rank, lead, encoding } = tensor.dims;
    place.write(Tensor {
        data: data.map_or(core::ptr::null(), <[u8]>::as_ptr),
        len: data.map_or(0, <[u8]>::len),
        big_endian: tensor.endianness as u8,
        status: tensor.status as u8,
        layout: tensor.layout as u8,
        dtype: tensor.dtype as u8,
        encoding: match tensor.encoding {
            core_::Encoding::Raw => 0,
            core_::Encoding::Deflate => 1,
            core_::Encoding::Zlib => 2,
            core_::Encoding::Zstd => 3,
            _ => 4,
        },
        name_encoding: tensor.name.encoding as u8,
        shape_encoding: encoding as u8,
        shape_leads: lead.is_some().into(),
        shape_lead: lead.unwrap_or(0),
        shape_offset: offset,
        shape_len: len,
        rank: rank.saturating_add(lead.is_some().into()),
        name_offset: tensor.name.offset,
        name_len: tensor.name.len,
        index: tensor.index,
        elements: tensor.elements,
    });
    Code::Ok
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
