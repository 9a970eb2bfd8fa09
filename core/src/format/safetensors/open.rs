//! Opening: the header length, the first byte, and the number of tensors.
//!
//! The header has no tensor count, so a scan counts its members piece by piece. The scan
//! only follows brackets and strings; the JSON is validated when entries are read.

use super::json::Json;
use super::{Cursor, Header, KEYS, far, field, rules};
use crate::base::{Word, wide, word};
use crate::parse::Reader;
use crate::rule::Halt;

/// Steps of the scan.
mod step {
    pub(super) const LENGTH: u8 = 0;
    pub(super) const FIRST: u8 = 1;
    pub(super) const KEY: u8 = 2;
    pub(super) const VALUE: u8 = 3;
    pub(super) const TAIL: u8 = 4;
}

/// Flags of the nesting: the scan is in a string, after a backslash in a string, or in the
/// metadata. The lower bits are the depth, which no header is long enough to overflow.
const STRING: u32 = 1 << 29;
const ESCAPE: u32 = 1 << 30;
const META: u32 = 1 << 31;
const DEPTH: u32 = STRING - 1;

/// Start of the header.
const LENGTH_END: Word = word(field::LENGTH);

/// Progress of opening: the header so far, and the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scan {
    header: Header,
    at: Word,
    nesting: u32,
    phase: u8,
}

impl Header {
    pub(super) fn open_steps(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        #[cfg(feature = "windows")]
        let mut scan = c.state.scan;
        #[cfg(not(feature = "windows"))]
        let mut scan = Scan::START;
        let _ = &c;
        if scan.phase == step::LENGTH {
            scan.header.data_at = length(r)?;
            (scan.at, scan.phase) = (LENGTH_END, step::FIRST);
        }
        loop {
            let end = far(scan.header.data_at);
            let mut json = Json::of(r, scan.at, end, rules::JSON_TRUNCATED);
            match scan.phase {
                step::FIRST => scan.first(&mut json),
                step::KEY => scan.key(&mut json),
                step::VALUE => scan.value(&mut json),
                _ => scan.tail(&mut json),
            }
            if !json.failed {
                continue;
            }
            #[cfg(feature = "windows")]
            {
                c.state.scan = scan;
                r.region(scan.at, end, rules::JSON_TRUNCATED);
                json.resident(r)?;
            }
            break;
        }
        let Scan { at, phase, mut header, .. } = scan;
        if phase == step::FIRST {
            let len = wide(far(header.data_at).wrapping_sub(at).min(1));
            r.flag(rules::JSON_ROOT, wide(at), len, u64::from(b'{'), 0);
            return Err(Halt::refused(rules::JSON_ROOT));
        }
        // JSON faults are reported with the entry.
        header.stray = small(at);
        let white = far(header.first).wrapping_sub(LENGTH_END).wrapping_sub(1);
        if white != 0 {
            r.flag(rules::HEADER_START, field::LENGTH, wide(white), 0, wide(white));
        }
        Ok(header)
    }
}

/// Reads the header length; returns the end of the header.
fn length(r: &mut Reader<'_, '_>) -> Result<u32, Halt> {
    let len = r.source().len();
    r.region(0, field::LENGTH, rules::FILE_LENGTH);
    if len < field::LENGTH {
        r.flag(rules::FILE_LENGTH, 0, len, field::LENGTH, len);
        return Err(Halt::refused(rules::FILE_LENGTH));
    }
    let length = r.u64()?;
    let end = length.wrapping_add(field::LENGTH);
    let (rule, expected, found) = if length > field::LONGEST {
        (rules::HEADER_LIMIT, field::LONGEST, length)
    } else if end > len {
        (rules::HEADER_BOUNDS, end, len)
    } else {
        return Ok(small(word(end)));
    };
    r.flag(rule, 0, field::LENGTH, expected, found);
    Err(Halt::refused(rule))
}

/// Shortens an offset in the header.
fn small(at: Word) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Scan {
    /// Before the first byte.
    pub(super) const START: Scan =
        Scan { header: Header::NONE, at: 0, nesting: 0, phase: step::LENGTH };

    /// Reads the opening brace, which only white space may precede.
    fn first(&mut self, json: &mut Json<'_>) {
        json.token();
        self.at = json.place(json.at);
        if json.eat(b'{') {
            self.at = json.place(json.at);
            self.header.first = small(self.at);
            self.phase = step::KEY;
        } else {
            json.syntax();
        }
    }

    /// Reads the key of a header member, after the brace or comma.
    fn key(&mut self, json: &mut Json<'_>) {
        if let (count @ 1.., rest, ended) = super::fast::skim(json.rest()) {
            self.header.count = self.header.count.wrapping_add(count);
            json.at = json.at.wrapping_add(json.rest().len().wrapping_sub(rest.len()));
            return self.follow(json, ended);
        }
        if self.at == far(self.header.first) && json.eat(b'}') {
            return self.follow(json, true);
        }
        json.key();
        json.token();
        json.need();
        if json.failed {
            return;
        }
        let value = json.place(json.at);
        self.nesting = 0;
        if json.which(KEYS) != Some(0) {
            self.header.count = self.header.count.wrapping_add(1);
        } else if self.header.meta_from == 0 {
            (self.header.meta_from, self.header.meta_at) = (small(self.at), small(value));
            self.nesting = META;
        }
        (self.at, self.phase) = (value, step::VALUE);
    }

    /// Skips a value, as far as it is resident.
    fn value(&mut self, json: &mut Json<'_>) {
        let mut nesting = self.nesting;
        for byte in json.rest() {
            if nesting & STRING != 0 {
                nesting = match byte {
                    _ if nesting & ESCAPE != 0 => nesting & !ESCAPE,
                    b'\\' => nesting | ESCAPE,
                    b'"' => nesting & !STRING,
                    _ => nesting,
                };
            } else {
                match byte {
                    b'"' => nesting |= STRING,
                    b'{' | b'[' => nesting = nesting.wrapping_add(1),
                    b'}' | b']' if nesting & DEPTH > 0 => nesting = nesting.wrapping_sub(1),
                    b',' | b'}' if nesting & DEPTH == 0 => {
                        if nesting & META != 0 {
                            self.header.meta_end = small(json.place(json.at));
                        }
                        json.bump();
                        return self.follow(json, *byte == b'}');
                    }
                    _ => {}
                }
            }
            json.bump();
        }
        self.nesting = nesting;
        self.at = json.place(json.at);
        json.need();
    }

    /// Continues after a member and its following byte, which may be the closing brace.
    fn follow(&mut self, json: &Json<'_>, closes: bool) {
        (self.at, self.phase) = (json.place(json.at), step::KEY);
        if closes {
            self.header.end = small(self.at);
            self.phase = step::TAIL;
        }
    }

    /// Skips white space after the closing brace, and ends the scan.
    fn tail(&mut self, json: &mut Json<'_>) {
        json.token();
        self.at = json.place(json.at);
        json.syntax();
    }
}
