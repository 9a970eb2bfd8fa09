//! Follows the operations of a pickle without performing any.

use super::opcodes::{self, Argument, Effect, Text, is_module, is_name};
use crate::base::limits::{PICKLE_LINE, PICKLE_MARKS, PICKLE_OPERATIONS};
use crate::input::{Absent, Source, Span};

/// What a file is when it is read as a pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Pickled {
    /// No pickle.
    No,
    /// A pickle, or several, that import nothing and so call nothing. The last ends before this
    /// offset.
    Data(u64),
    /// A pickle that imports what it calls; the import is at this offset.
    Imports(u64),
    /// A pickle as far as it was followed, up to this offset: it has more operations, or a longer
    /// line, than this reader follows.
    Unfinished(u64),
    /// A pickle that states its protocol, and is cut off or damaged at this offset before it imports
    /// anything.
    Damaged(u64),
}

impl Pickled {
    /// Whether loading the file as a pickle may run code: it imports something, or was not followed
    /// to its end.
    pub const fn can_run_code(self) -> bool {
        matches!(self, Pickled::Imports(_) | Pickled::Unfinished(_) | Pickled::Damaged(_))
    }
}

/// Decides whether a file is a pickle, of any protocol, by following its operations from the first
/// byte to its end or to the first that imports code. None is performed.
///
/// Arguments and stack are checked, so that text, JSON and other binary files are not taken for
/// pickles: an operation that `pickle.load` would refuse makes the file none, unless code has been
/// imported before. Reads strings only where they are lines; skips all others.
///
/// ```
/// use weighbridge_core::Source;
/// use weighbridge_core::format::{PickleWalk, Pickled};
///
/// let bytes = b"I1\n0cos\nsystem\n(S'ls'\ntR.";
/// let found = PickleWalk::default().step(&Source::whole(bytes));
/// assert_eq!(found, Ok(Pickled::Imports(4)));
/// let text = PickleWalk::default().step(&Source::whole(b"I am a text."));
/// assert_eq!(text, Ok(Pickled::No));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PickleWalk {
    at: u64,
    /// The end of the part that may be a pickle, if it is not the end of the file.
    end: u64,
    /// Operations followed so far.
    done: u32,
    /// Items above the last mark, and above each mark before it. Of more marks than this, only the
    /// number is known; anything may be above those.
    above: u32,
    below: [u32; PICKLE_MARKS],
    marks: u32,
    texts: u32,
    memorised: bool,
    /// The protocol was stated.
    protocol: bool,
    /// Operations came before with which no text begins.
    is_certain: bool,
    /// Where the last complete pickle ends.
    ended: Option<u64>,
    /// An import that a text might begin with, too, and whether other operations have followed.
    import: Option<u64>,
    used: bool,
    /// How many bytes from `at` are searched for the end of its lines.
    searched: u64,
    /// Bytes of lines searched so far.
    read: u64,
}

impl Default for PickleWalk {
    fn default() -> Self {
        PickleWalk {
            at: 0,
            end: u64::MAX,
            done: 0,
            above: 0,
            below: [0; PICKLE_MARKS],
            marks: 0,
            texts: 0,
            memorised: false,
            protocol: false,
            is_certain: false,
            ended: None,
            import: None,
            used: false,
            searched: 0,
            read: 0,
        }
    }
}

/// How an operation ended.
enum Next {
    Goes(u64),
    Ends(Pickled),
}

/// Lines, or why there are none.
enum Lines<'a> {
    Whole(&'a [u8]),
    Cut,
    TooLong,
}

impl PickleWalk {
    /// A walk over a part of a file, as if it were the whole.
    ///
    /// ```
    /// use weighbridge_core::format::{PickleWalk, Pickled};
    /// use weighbridge_core::{Source, Span};
    ///
    /// let bytes = b"head}.tail";
    /// let found = PickleWalk::within(Span::new(4, 2)).step(&Source::whole(bytes));
    /// assert_eq!(found, Ok(Pickled::Data(6)));
    /// ```
    pub fn within(span: Span) -> Self {
        let end = span.offset.saturating_add(span.len);
        PickleWalk { at: span.offset, end, ..PickleWalk::default() }
    }

    /// Work so far: operations, and bytes of their lines.
    pub fn work(&self) -> u64 {
        self.read.saturating_add(self.done.into())
    }

    /// Continues until the answer is known.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub fn step(&mut self, source: &Source<'_>) -> Result<Pickled, Absent> {
        loop {
            if self.done >= PICKLE_OPERATIONS {
                return Ok(Pickled::Unfinished(self.at));
            }
            match self.operation(source)? {
                Next::Goes(at) => {
                    self.at = at;
                    self.searched = 0;
                    self.done = self.done.saturating_add(1);
                }
                Next::Ends(found) => return Ok(found),
            }
        }
    }

    fn operation(&mut self, source: &Source<'_>) -> Result<Next, Absent> {
        let len = source.len().min(self.end);
        let room = len.saturating_sub(self.at);
        // Requests for one operation all start at its byte, so one buffer is enough.
        let head = source.get(Span::new(self.at, room.min(LENGTHS)))?;
        let Some((byte, rest)) = head.split_first() else {
            return Ok(Next::Ends(self.refused(None)));
        };
        let refused = Ok(Next::Ends(self.refused(Some(*byte))));
        let Some((argument, effect)) = opcodes::of(*byte) else { return refused };
        // A line may be long: it is read only if its first byte and the stack allow it.
        let next = rest.first().copied();
        let may_begin = match argument {
            Argument::Line(text) => next.is_none_or(|byte| text.may_begin(byte)),
            Argument::Names => next.is_none_or(|byte| byte > b' '),
            Argument::Fixed(_) | Argument::Counted(_) => true,
        };
        let is_line = matches!(argument, Argument::Line(_) | Argument::Names);
        let mut trial = *self;
        if !may_begin || is_line && trial.perform(effect).is_none() {
            return refused;
        }
        let from = self.at.saturating_add(1);
        let past = match argument {
            Argument::Fixed(bytes) => from.checked_add(bytes.into()),
            Argument::Counted(bytes) => counted(rest, from, bytes),
            Argument::Line(text) => match self.lines(source, 1)? {
                Lines::Whole(line) if text.accepts(line) => past(from, line),
                Lines::TooLong if matches!(text, Text::Any | Text::Quoted) => {
                    return Ok(Next::Ends(Pickled::Unfinished(self.at)));
                }
                _ => None,
            },
            Argument::Names => match self.lines(source, 2)? {
                Lines::Whole(lines) if self.are_names(lines) => past(from, lines),
                _ => None,
            },
        };
        let Some(past) = past.filter(|past| *past <= len) else { return refused };
        Ok(match self.perform(effect) {
            Some(Ok(())) => Next::Goes(past),
            Some(Err(Pickled::Data(_))) => {
                self.restart(past);
                Next::Goes(past)
            }
            Some(Err(found)) => Next::Ends(found),
            None => return refused,
        })
    }

    /// Whether two lines name something to import. Where a text may begin, they must look like it.
    fn are_names(&self, lines: &[u8]) -> bool {
        let mut lines = lines.split(|byte| *byte == b'\n');
        lines.all(if self.is_certain { is_name } else { is_module })
    }

    /// What a file is whose next operation, of this byte, is refused or missing.
    fn refused(&self, byte: Option<u8>) -> Pickled {
        // An import has run before the fault, but these may be the words of a text.
        let no_text =
            byte.map_or(self.used, |byte| matches!(byte, 0..=8 | 14..=31 | 0x7F..=0xC1 | 0xF5..));
        match (self.ended, self.import) {
            (_, Some(import)) if no_text => Pickled::Imports(import),
            (Some(end), _) => Pickled::Data(end),
            (None, _) if self.protocol && self.done > 1 => Pickled::Damaged(self.at),
            _ => Pickled::No,
        }
    }

    /// Begins the next pickle of the file.
    fn restart(&mut self, at: u64) {
        let PickleWalk { done, end, read, .. } = *self;
        *self = PickleWalk { done, end, read, ended: Some(at), ..PickleWalk::default() };
    }

    /// The effect of an operation: `None` if it is refused, and an error if it decides. A pickle
    /// that ends is `Data(0)`.
    fn perform(&mut self, effect: Effect) -> Option<Result<(), Pickled>> {
        let first = self.done == 0;
        let imported = self.import.is_some() && !self.used;
        match effect {
            Effect::Takes(taken, left) => self.take(taken, left)?,
            Effect::LeavesText | Effect::LeavesLine => {
                self.texts = self.texts.saturating_add(1);
                self.take(0, 1)?;
            }
            Effect::TakesMarked(taken, left) => {
                self.unmark()?;
                self.take(taken, left)?;
            }
            Effect::CallsMarked => {
                self.take(1, 1)?;
                self.unmark()?;
                self.take(0, 1)?;
            }
            Effect::Mark => self.mark(),
            Effect::Pop if self.above == 0 && self.marks > 0 => self.unmark()?,
            Effect::Pop => self.take(1, 0)?,
            Effect::Recalls if self.memorised => self.take(0, 1)?,
            Effect::Recalls => return None,
            Effect::Memorises => {
                self.take(1, 1)?;
                self.memorised = true;
            }
            Effect::Imports { marked } => {
                if marked {
                    self.unmark()?;
                }
                self.take(0, 1)?;
                // Words on lines of their own may begin with `c` or `(c`: what follows decides.
                if self.is_certain || marked {
                    return Some(Err(Pickled::Imports(self.at)));
                }
                self.import = self.import.or(Some(self.at));
            }
            Effect::ImportsByTexts => {
                self.take(2, 1)?;
                if self.texts == 0 {
                    return None;
                }
                return Some(Err(Pickled::Imports(self.at)));
            }
            Effect::Stops => {
                self.take(1, 0)?;
                return Some(Err(self.import.map_or(Pickled::Data(0), Pickled::Imports)));
            }
            // Loaders of several pickles give the function that it needs.
            Effect::Refused if first => return None,
            Effect::Refused => self.take(0, 1)?,
            // Nothing is called with what was imported just before.
            Effect::Calls(_) if imported && self.marks == 0 => return None,
            Effect::Calls(taken) => self.take(taken, 1)?,
            // Pickles begin with it; elsewhere it is two bytes of anything.
            Effect::States => self.protocol |= first,
        }
        if let Some(import) = self.import.filter(|import| *import != self.at) {
            if matches!(effect, Effect::Calls(_) | Effect::CallsMarked) {
                return Some(Err(Pickled::Imports(import)));
            }
            self.used |= !matches!(effect, Effect::Imports { .. });
        }
        let may_be_text = matches!(effect, Effect::Mark | Effect::LeavesLine);
        self.is_certain |= self.import.is_none() && !may_be_text;
        Some(Ok(()))
    }

    /// Takes items from above the last mark, and leaves others there.
    fn take(&mut self, taken: u8, left: u8) -> Option<()> {
        let unknown = usize::try_from(self.marks).is_ok_and(|marks| marks > PICKLE_MARKS);
        let rest = match self.above.checked_sub(taken.into()) {
            None if unknown => 0,
            rest => rest?,
        };
        self.above = rest.saturating_add(left.into());
        Some(())
    }

    fn mark(&mut self) {
        if let Some(below) = usize::try_from(self.marks).ok().and_then(|at| self.below.get_mut(at))
        {
            *below = self.above;
        }
        self.marks = self.marks.saturating_add(1);
        self.above = 0;
    }

    /// Takes everything above the last mark, and the mark.
    fn unmark(&mut self) -> Option<()> {
        self.marks = self.marks.checked_sub(1)?;
        let at = usize::try_from(self.marks).ok();
        self.above = at.and_then(|at| self.below.get(at)).copied().unwrap_or(0);
        Some(())
    }

    /// The lines that follow the byte at `at`, without the last line feed.
    fn lines<'a>(&mut self, source: &Source<'a>, count: usize) -> Result<Lines<'a>, Absent> {
        let room = source.len().min(self.end).saturating_sub(self.at);
        let most = room.min(PICKLE_LINE);
        loop {
            let known = self.searched.max(most.min(FIRST_LINE));
            self.read = self.read.saturating_add(known);
            let bytes = source.get(Span::new(self.at, known))?.get(1..).unwrap_or_default();
            let mut feeds = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            if let Some((end, _)) = feeds.nth(count.saturating_sub(1)) {
                return Ok(bytes.get(..end).map_or(Lines::Cut, Lines::Whole));
            }
            if known >= most {
                return Ok(if most < room { Lines::TooLong } else { Lines::Cut });
            }
            self.searched = known.saturating_mul(4).min(most);
        }
    }
}

/// Bytes of a line that are asked for first.
const FIRST_LINE: u64 = 256;

/// Bytes of an operation with a length.
const LENGTHS: u64 = 9;

/// The offset after lines and their last line feed.
fn past(from: u64, lines: &[u8]) -> Option<u64> {
    from.checked_add(u64::try_from(lines.len()).ok()?)?.checked_add(1)
}

/// The end of data whose length is in the first `bytes` bytes of `rest`; `None` if they are not
/// all there.
fn counted(rest: &[u8], from: u64, bytes: u8) -> Option<u64> {
    let field = rest.get(..bytes.into())?;
    let mut wide = [0; 8];
    for (to, byte) in wide.iter_mut().zip(field) {
        *to = *byte;
    }
    from.checked_add(bytes.into())?.checked_add(u64::from_le_bytes(wide))
}

#[cfg(test)]
mod tests;
