//! JSON (RFC 8259), pulled token by token from resident bytes.
//!
//! Nothing is stored: a token is where it lies. What the caller does not want is
//! passed over, and its grammar is judged all the same.

use super::rules;
use crate::limits::JSON_DEPTH;
use crate::name::{NameEncoding, escape};
use crate::read::{Halt, Reader};
use crate::rule::{Rule, Severity};
use crate::source::widen;

/// A token could not be read. Why is kept in [`Json::broken`], so that results
/// are small enough for a register.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) struct Fault;

/// The inside of a string.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::format) struct Text {
    /// Where it begins, behind the quote.
    pub(in crate::format) at: usize,
    pub(in crate::format) len: usize,
    pub(in crate::format) escaped: bool,
    /// An escape in it stands for nothing.
    pub(in crate::format) broken: bool,
}

impl Text {
    pub(in crate::format) fn encoding(&self) -> NameEncoding {
        if self.escaped { NameEncoding::Json } else { NameEncoding::Plain }
    }
}

/// A number that should count something.
#[derive(Clone, Copy, Debug)]
pub(in crate::format) enum Number {
    Count(u64),
    Other(Rule),
}

/// Something wrong that can be read on from.
#[derive(Clone, Copy, Debug)]
struct Note {
    rule: Rule,
    at: usize,
    /// Length, what was expected, and what was found.
    #[cfg(feature = "details")]
    details: (usize, u64, u64),
}

/// How many notes are kept of one entry: the five rules that a member can break
/// without being broken, and a fatal one, which breaks it whatever follows.
const NOTES: usize = 6;

/// Reads forward through resident bytes.
pub(in crate::format) struct Json<'a> {
    all: &'a [u8],
    pub(in crate::format) at: usize,
    /// The rule that is broken so many bytes in, where nothing can be read on;
    /// `None` after a fault if the resident bytes are over.
    pub(in crate::format) broken: Option<(Rule, usize)>,
    notes: [Option<Note>; NOTES],
}

impl<'a> Json<'a> {
    pub(in crate::format) fn new(all: &'a [u8]) -> Self {
        Json { all, at: 0, broken: None, notes: [None; NOTES] }
    }

    pub(in crate::format) fn slice(&self, at: usize, len: usize) -> &'a [u8] {
        self.all.get(at..).and_then(|rest| rest.get(..len)).unwrap_or_default()
    }

    pub(in crate::format) fn inside(&self, text: &Text) -> &'a [u8] {
        self.slice(text.at, text.len)
    }

    /// Takes note of something; of one rule once. Where there is no room, what is
    /// fatal takes the last place: others may be lost, that never.
    pub(in crate::format) fn note(&mut self, rule: Rule, at: usize, expected: u64, found: u64) {
        #[cfg(feature = "details")]
        let details = (self.at.wrapping_sub(at).max(1), expected, found);
        #[cfg(not(feature = "details"))]
        let _ = (expected, found);
        let mut left = NOTES;
        for slot in &mut self.notes {
            left = left.wrapping_sub(1);
            match slot {
                Some(note) if note.rule == rule => return,
                Some(_) if left > 0 || rule.severity() != Severity::Fatal => {}
                _ => {
                    *slot = Some(Note {
                        rule,
                        at,
                        #[cfg(feature = "details")]
                        details,
                    });
                    return;
                }
            }
        }
    }

    /// Reports what was noted; whether any of it is fatal.
    pub(in crate::format) fn report(&self, r: &mut Reader<'_, '_>, base: u64) -> bool {
        self.report_as(r, base, core::convert::identity)
    }

    /// The same, with the rules of another format that is JSON.
    pub(in crate::format) fn report_as(
        &self,
        r: &mut Reader<'_, '_>,
        base: u64,
        own: fn(Rule) -> Rule,
    ) -> bool {
        let mut fatal = false;
        for note in self.notes.iter().flatten() {
            let rule = own(note.rule);
            fatal |= rule.severity() == Severity::Fatal;
            let at = base.wrapping_add(widen(note.at));
            #[cfg(feature = "details")]
            let (len, expected, found) = note.details;
            #[cfg(not(feature = "details"))]
            let (len, expected, found) = (0, 0, 0);
            r.flag(rule, at, widen(len), expected, found);
        }
        fatal
    }

    pub(in crate::format) fn peek(&self) -> Result<u8, Fault> {
        self.all.get(self.at).copied().ok_or(Fault)
    }

    pub(in crate::format) fn bump(&mut self) {
        self.at = self.at.wrapping_add(1);
    }

    /// Passes over white space; the byte that follows.
    pub(in crate::format) fn token(&mut self) -> Result<u8, Fault> {
        loop {
            let byte = self.peek()?;
            if !is_space(byte) {
                return Ok(byte);
            }
            self.bump();
        }
    }

    pub(in crate::format) fn syntax<T>(&mut self) -> Result<T, Fault> {
        self.broken = Some((rules::JSON_SYNTAX, self.at));
        Err(Fault)
    }

    pub(in crate::format) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.token()? != byte {
            return self.syntax();
        }
        self.bump();
        Ok(())
    }

    /// A string; what is wrong inside is noted.
    pub(in crate::format) fn text(&mut self) -> Result<Text, Fault> {
        self.expect(b'"')?;
        let mut text = Text { at: self.at, ..Text::default() };
        let mut ascii = true;
        let mut control = None;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    text.escaped = true;
                    self.bump();
                    let rest = self.all.get(self.at..).unwrap_or_default();
                    match escape(rest) {
                        Some((_, used)) => self.at = self.at.wrapping_add(used),
                        // The longest escape may not be resident yet.
                        None if rest.len() < 11 && !rest.contains(&b'"') => {
                            return Err(Fault);
                        }
                        None => {
                            let at = self.at.wrapping_sub(1);
                            self.bump();
                            self.note(rules::JSON_ESCAPE, at, 0, 0);
                            text.broken = true;
                        }
                    }
                }
                byte => {
                    if byte < 0x20 {
                        control = control.or(Some((self.at, byte)));
                    }
                    ascii &= byte < 0x80;
                    self.bump();
                }
            }
        }
        text.len = self.at.wrapping_sub(text.at);
        if let Some((at, byte)) = control {
            self.note(rules::JSON_CONTROL, at, 0, u64::from(byte));
        }
        if !ascii && !crate::utf8::is(self.inside(&text)) {
            self.note(rules::HEADER_UTF8, text.at, 0, 0);
        }
        self.bump();
        Ok(text)
    }

    /// A number in the grammar of RFC 8259 §6, which must be followed by a byte.
    pub(in crate::format) fn number(&mut self) -> Result<Number, Fault> {
        let negative = self.token()? == b'-';
        if negative {
            self.bump();
        }
        let mut value = Some(0_u64);
        match self.peek()? {
            b'0' => self.bump(),
            b'1'..=b'9' => {
                while let digit @ b'0'..=b'9' = self.peek()? {
                    let digit = u64::from(digit.wrapping_sub(b'0'));
                    value = value.and_then(|n| n.checked_mul(10)?.checked_add(digit));
                    self.bump();
                }
            }
            _ => return self.syntax(),
        }
        let mut fraction = false;
        if self.peek()? == b'.' {
            fraction = true;
            self.bump();
            self.digits()?;
        }
        if let b'e' | b'E' = self.peek()? {
            fraction = true;
            self.bump();
            if let b'+' | b'-' = self.peek()? {
                self.bump();
            }
            self.digits()?;
        }
        Ok(match value {
            _ if negative => Number::Other(rules::NUMBER_NEGATIVE),
            _ if fraction => Number::Other(rules::NUMBER_FRACTION),
            Some(value) => Number::Count(value),
            None => Number::Other(rules::NUMBER_RANGE),
        })
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !self.peek()?.is_ascii_digit() {
            return self.syntax();
        }
        while self.peek()?.is_ascii_digit() {
            self.bump();
        }
        Ok(())
    }

    /// Passes over any value. `outside` is how many levels are open around it.
    pub(in crate::format) fn skip(&mut self, outside: u32) -> Result<(), Fault> {
        // A bit a level: whether it is an object.
        let mut objects = 0_u128;
        let mut depth = 0_u32;
        loop {
            match self.token()? {
                byte @ (b'{' | b'[') => {
                    if depth.wrapping_add(outside) >= JSON_DEPTH {
                        self.broken = Some((rules::JSON_DEPTH, self.at));
                        return Err(Fault);
                    }
                    self.bump();
                    depth = depth.wrapping_add(1);
                    objects = (objects << 1) | u128::from(byte == b'{');
                    let close = if byte == b'{' { b'}' } else { b']' };
                    if self.token()? != close {
                        if byte == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => _ = self.text()?,
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => _ = self.number()?,
            }
            // A value has ended.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let object = objects & 1 == 1;
                match self.token()? {
                    b',' => {
                        self.bump();
                        if object {
                            self.key()?;
                        }
                        break;
                    }
                    b'}' if object => {}
                    b']' if !object => {}
                    _ => return self.syntax(),
                }
                self.bump();
                depth = depth.wrapping_sub(1);
                objects >>= 1;
            }
        }
    }

    pub(in crate::format) fn key(&mut self) -> Result<Text, Fault> {
        let key = self.text()?;
        self.expect(b':')?;
        Ok(key)
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        for byte in word {
            if self.peek()? != *byte {
                return self.syntax();
            }
            self.bump();
        }
        Ok(())
    }
}

pub(in crate::format) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// What a fault means for the reader, which stands where `json` began.
pub(in crate::format) fn halt(r: &mut Reader<'_, '_>, json: &Json<'_>) -> Halt {
    halt_as(r, json, core::convert::identity)
}

/// The same, with the rules of another format that is JSON.
#[cold]
pub(in crate::format) fn halt_as(
    r: &mut Reader<'_, '_>,
    json: &Json<'_>,
    own: fn(Rule) -> Rule,
) -> Halt {
    let base = r.at();
    let (rule, at) = match json.broken {
        None => {
            let halt = r.lacks(1);
            match halt.unreported() {
                Some(rule) => (rule, r.end()),
                None => return halt,
            }
        }
        Some((rule, at)) => (own(rule), base.wrapping_add(widen(at))),
    };
    json.report_as(r, base, own);
    let len = r.end().saturating_sub(at).min(1);
    r.flag(rule, at, len, u64::from(JSON_DEPTH), 0);
    Halt::refused(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However much is noted before, the finding that makes an entry unusable is
    /// among those that are reported.
    #[test]
    fn what_is_fatal_is_never_lost() {
        let bearable = rules::RULES.iter().filter(|rule| rule.severity != Severity::Fatal);
        let bearable = bearable.count();
        assert!(bearable > NOTES);
        let all = (0..rules::RULES.len()).filter_map(|number| {
            let info = rules::RULES.get(number)?;
            let number = u16::try_from(number).ok()?;
            Some(Rule::new(crate::file::Format::Safetensors.code(), info.severity, number))
        });
        for before in 0..=bearable {
            let mut json = Json::new(b"");
            for rule in all.clone().filter(|rule| rule.severity() != Severity::Fatal).take(before) {
                json.note(rule, 0, 0, 0);
            }
            json.note(rules::OFFSET_BOUNDS, 0, 0, 0);
            json.note(rules::HOLE, 0, 0, 0);
            let kept = json.notes.iter().flatten();
            assert!(kept.clone().any(|note| note.rule == rules::OFFSET_BOUNDS), "after {before}");
            assert!(kept.count() >= before.min(NOTES));
        }
    }
}
