//! The central directory: one header per member (4.3.12).

use super::{Fault, Rules, refuse, u16_at, u32_at, u64_at};
use crate::base::{utf8, widen};
use crate::input::Span;
use crate::model::NameAt;
use crate::parse::Reader;
use crate::rule::Halt;

const SIGNATURE: [u8; 4] = *b"PK\x01\x02";
/// Length of a central header without name, extra fields and comment.
pub(crate) const LEN: u64 = 46;
/// The latest version of the specification, 6.3.
const VERSION: u8 = 63;

/// Bits of the flags (4.4.4).
pub(super) mod flag {
    pub(crate) const ENCRYPTED: u16 = 1;
    /// CRC and sizes follow the data.
    pub(crate) const DESCRIPTOR: u16 = 1 << 3;
    pub(crate) const PATCHED: u16 = 1 << 5;
    pub(crate) const STRONG: u16 = 1 << 6;
    pub(crate) const UTF8: u16 = 1 << 11;
    pub(crate) const MASKED: u16 = 1 << 13;
    /// The bits without a meaning. Two more are options of the deflate encoder.
    pub(crate) const RESERVED: u16 = 0b1101_0111_1001_0000;
}

/// A member's data from the directory, as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    /// Absolute offset of its central header.
    pub(crate) at: u64,
    /// Absolute offset of the next central header.
    pub(crate) next: u64,
    pub(crate) name_len: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    /// Length of the stored data in bytes.
    pub(crate) stored: u64,
    /// Length of the decoded data in bytes.
    pub(crate) size: u64,
    /// Absolute offset of its local header.
    pub(crate) offset: u64,
    /// Length of its local header in bytes; 0 while unknown.
    pub(crate) head: u32,
    /// Whether the member cannot be read.
    pub(crate) broken: bool,
}

/// A central header as stored.
pub(crate) struct Record<'a> {
    head: &'a [u8; 46],
    pub(crate) name: &'a [u8],
    extra: &'a [u8],
}

impl Member {
    /// A member before any has been read.
    pub(crate) const NONE: Member = Member {
        at: 0,
        next: 0,
        name_len: 0,
        flags: 0,
        method: 0,
        crc: 0,
        stored: 0,
        size: 0,
        offset: 0,
        head: 0,
        broken: false,
    };

    /// The method of uncompressed data.
    pub(crate) const STORED: u16 = 0;
    /// The method of a deflate stream.
    pub(crate) const DEFLATED: u16 = 8;

    /// Reads the central header at `at` in a directory that ends at `end`.
    pub(crate) fn read<'a>(
        r: &mut Reader<'_, 'a>,
        at: u64,
        end: u64,
        rules: Rules,
    ) -> Result<(Member, Record<'a>), Halt> {
        r.region(at, end, rules(Fault::Truncated));
        let head: &[u8; 46] = r.array()?;
        if !head.starts_with(&SIGNATURE) {
            return Err(refuse(r, rules(Fault::Signature), Span::new(at, 4), 0, 0));
        }
        let name = r.take(u16_at(head, 28).into())?;
        let extra = r.take(u16_at(head, 30).into())?;
        r.take(u16_at(head, 32).into())?;
        let mut member = Member {
            at,
            next: r.at(),
            name_len: u16_at(head, 28),
            flags: u16_at(head, 8),
            method: u16_at(head, 10),
            crc: u32_at(head, 16),
            stored: u32_at(head, 20).into(),
            size: u32_at(head, 24).into(),
            offset: u32_at(head, 42).into(),
            head: 0,
            broken: false,
        };
        // The field has them in this order, and leaves out numbers in the header.
        let mut large = Extra::of(extra).zip64;
        for number in [&mut member.size, &mut member.stored, &mut member.offset] {
            if *number == u32::MAX.into()
                && let Some((value, rest)) = large.split_first_chunk()
            {
                *number = u64::from_le_bytes(*value);
                large = rest;
            }
        }
        Ok((member, Record { head, name, extra }))
    }

    /// Location of its name.
    pub(crate) fn name(&self) -> NameAt {
        NameAt::plain(self.at.wrapping_add(LEN), self.name_len.into())
    }

    /// Reports the faults of a central header; members begin before `limit`.
    pub(crate) fn report(
        &mut self,
        r: &mut Reader<'_, '_>,
        record: &Record<'_>,
        limit: u64,
        rules: Rules,
    ) {
        let Record { head, name, extra } = *record;
        let mut flag = |fault, at: u64, len, expected, found| {
            let rule = rules(fault);
            self.broken |= rule.severity() == crate::rule::Severity::Fatal;
            r.flag(rule, self.at.wrapping_add(at), len, expected, found);
        };
        let flags = self.flags;
        let version = head.get(6).copied().unwrap_or(0);
        if version > VERSION {
            flag(Fault::Version, 6, 2, VERSION.into(), version.into());
        }
        if flags & (flag::ENCRYPTED | flag::STRONG | flag::MASKED) != 0 {
            flag(Fault::Encrypted, 8, 2, 0, flags.into());
        } else if flags & flag::PATCHED != 0 {
            flag(Fault::Patched, 8, 2, 0, flags.into());
        } else if flags & flag::RESERVED != 0 {
            flag(Fault::Flags, 8, 2, 0, (flags & flag::RESERVED).into());
        }
        match self.method {
            Member::STORED if self.stored != self.size => {
                flag(Fault::SizeStored, 20, 8, self.stored, self.size);
            }
            Member::STORED | Member::DEFLATED => {}
            method => flag(Fault::Method, 10, 2, 0, method.into()),
        }
        if u16_at(head, 34) != 0 {
            flag(Fault::Disk, 34, 2, 0, u16_at(head, 34).into());
        }
        let attributes = u32_at(head, 38);
        if !name.ends_with(b"/") && !is_file(head.get(5).copied().unwrap_or(0), attributes) {
            flag(Fault::FileType, 38, 4, 0, attributes.into());
        }
        let parts = Extra::of(extra);
        let at = LEN.wrapping_add(widen(name.len()));
        let len = widen(extra.len());
        let full = [20, 24, 42].into_iter().filter(|at| u32_at(head, *at) == u32::MAX).count();
        if parts.cut {
            flag(Fault::Extra, at, len, 0, 0);
        } else if parts.many > 1 || parts.zip64.len() < full << 3 {
            flag(Fault::Zip64Extra, at, len, widen(full) << 3, widen(parts.zip64.len()));
        } else {
            if parts.zip64.len() > full << 3 {
                flag(Fault::Zip64Excess, at, len, widen(full) << 3, widen(parts.zip64.len()));
            }
            if self.offset >= limit {
                flag(Fault::DataEnd, 42, 4, limit, self.offset);
            }
        }
        if parts.rest {
            flag(Fault::ExtraRest, at, len, 0, 0);
        }
        if parts.names {
            flag(Fault::NameAgain, at, len, 0, 0);
        }
        let len = widen(name.len());
        if name.is_empty() {
            flag(Fault::NameEmpty, 28, 2, 1, 0);
        } else if name.contains(&0) {
            flag(Fault::NameNul, LEN, len, 0, 0);
        } else if flags & flag::UTF8 != 0 && !utf8::is(name) {
            flag(Fault::NameUtf8, LEN, len, 0, 0);
        } else if escapes(name) {
            flag(Fault::NamePath, LEN, len, 0, 0);
        } else if flags & flag::UTF8 == 0 && !name.is_ascii() {
            flag(Fault::NameCodePage, LEN, len, 0, 0);
        }
    }
}

/// Whether these attributes on a host system are those of a regular file (4.4.2, 4.4.15).
fn is_file(host: u8, attributes: u32) -> bool {
    match host {
        // FAT, NTFS, VFAT: the bit of folders.
        0 | 10 | 14 => attributes & 0x10 == 0,
        // Unix, OS X: the type in the mode, if there is one.
        3 | 19 => matches!(attributes >> 28, 0 | 8),
        _ => true,
    }
}

/// Whether a name leads out of the folder it is joined to, on any system (4.4.17.1).
fn escapes(name: &[u8]) -> bool {
    let drive = matches!(name, [letter, b':', ..] if letter.is_ascii_alphabetic());
    let up = name.split(|byte| *byte == b'/').any(|part| part == b"..");
    drive || up || name.first() == Some(&b'/') || name.contains(&b'\\')
}

/// The extra fields of a header (4.5).
#[derive(Default)]
pub(super) struct Extra<'a> {
    /// The data of the zip64 field.
    pub(super) zip64: &'a [u8],
    /// Number of zip64 fields.
    pub(super) many: u32,
    /// A field extends beyond the header.
    pub(super) cut: bool,
    /// Bytes follow that are not a field.
    pub(super) rest: bool,
    /// A field gives the member another name.
    pub(super) names: bool,
}

impl<'a> Extra<'a> {
    pub(super) fn of(mut fields: &'a [u8]) -> Extra<'a> {
        let mut all = Extra::default();
        while let Some((head, rest)) = fields.split_first_chunk::<4>() {
            let (id, len) = (u16_at(head, 0), usize::from(u16_at(head, 2)));
            let Some((data, rest)) = rest.split_at_checked(len) else {
                all.cut = true;
                return all;
            };
            fields = rest;
            match id {
                1 => {
                    all.many = all.many.saturating_add(1);
                    all.zip64 = data;
                }
                0x7075 => all.names = true,
                _ => {}
            }
        }
        all.rest = !fields.is_empty();
        all
    }

    /// The two sizes of a local header.
    pub(super) fn sizes(&self) -> Option<(u64, u64)> {
        (self.zip64.len() >= 16).then(|| (u64_at(self.zip64, 0), u64_at(self.zip64, 8)))
    }
}
