//! The stack machine of pickles, without anything that a pickle could run.
//!
//! Each operation does to stack and memo what `pickle.load` does, on kinds of values and positions
//! in the file. No value is built, so no name is looked up, nothing is called, and n operations
//! take O(n) steps, whatever they would build.
//!
//! Every import is an [`PickleEvent::Import`], wherever its value goes: to the memo, off the stack,
//! into a key. Events come in file order, and those before a fault stay.

mod allowed;
mod event;
mod item;
mod label;
mod parse;
mod stack;
mod value;

pub use allowed::{PICKLE_LIST, Standing};
pub use event::{Import, PickleEvent, PickleFault};
pub use item::{PickleItem, PickleMemory};
pub use label::{PickleName, Spelling};
pub use value::PickleValue;

use crate::base::limits::{PICKLE_LINE, PICKLE_MEMO, PICKLE_STACK, READ_AHEAD};
use crate::input::{Absent, Source, Span};
use item::PickleItem as Item;
use parse::{Argument, Refusal, operation};
use stack::Stack;

/// Why [`PickleScan::step`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickleStop {
    /// Bytes are not resident: fetch them and call again.
    NeedBytes(Absent),
    /// The stack is too short: call again with a stack of this length that begins with the same
    /// items.
    NeedStack(usize),
    /// The same for the memo.
    NeedMemo(usize),
}

impl From<Absent> for PickleStop {
    fn from(absent: Absent) -> Self {
        PickleStop::NeedBytes(absent)
    }
}

/// How a pickle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickleEnd {
    /// With its last operation; the next byte is at this offset.
    Stopped(u64),
    /// With a fault at this offset, which was an event.
    Broken(u64),
    /// It was not followed from this offset on: a limit of this reader.
    Unchecked(u64),
}

/// Follows one pickle and reports what it imports and calls.
///
/// ```
/// use weighbridge_core::Source;
/// use weighbridge_core::pickle::{PickleEnd, PickleEvent, PickleItem, PickleMemory, PickleScan};
///
/// let bytes = b"cposix\nsystem\n(S'true'\ntR.";
/// let (mut stack, mut memo) = ([PickleItem::EMPTY; 8], [PickleItem::EMPTY; 8]);
/// let memory = PickleMemory { stack: &mut stack, memo: &mut memo };
/// let mut found = Vec::new();
/// let mut scan = PickleScan::of(weighbridge_core::Span::new(0, 26));
/// let end = scan.step(&Source::whole(bytes), memory, &mut |event| found.push(event));
/// assert_eq!(end, Ok(PickleEnd::Stopped(26)));
/// let PickleEvent::Import(import) = found[0] else { panic!() };
/// assert_eq!((import.module.as_str(), import.name.as_str()), ("posix", "system"));
/// assert_eq!(found[1], PickleEvent::Call { number: 0, at: 25 - 1 });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PickleScan {
    at: u64,
    end: u64,
    /// The end of the frame that `at` is in.
    frame: Option<u64>,
    /// Items on the stack.
    top: usize,
    /// The index of the last mark, plus one.
    mark: u32,
    /// Imports so far.
    imports: u32,
    operations: u64,
    /// Memo keys far above the number of operations, which real writers do not use.
    sparse: [(u64, Item); SPARSE],
    is_numpy: bool,
    /// The module of a `STACK_GLOBAL` whose name has not been read yet.
    module: Option<PickleName>,
    /// `at` is at a `STACK_GLOBAL`, whose byte need not be resident any more.
    by_texts: bool,
    over: Option<PickleEnd>,
    /// Operations are events.
    is_watched: bool,
}

/// Most memo keys that are out of order.
const SPARSE: usize = 16;
/// Memo keys below this are always in order.
const DENSE: u64 = 256;

/// How an operation ended.
enum Next {
    Goes,
    Ends,
    Faulty(PickleFault),
    Limit,
}

impl PickleScan {
    /// A pickle that begins at the start of `span` and ends in it.
    pub const fn of(span: Span) -> Self {
        let end = span.offset.saturating_add(span.len);
        PickleScan {
            at: span.offset,
            end,
            frame: None,
            top: 0,
            mark: 0,
            imports: 0,
            operations: 0,
            sparse: [(0, Item::EMPTY); SPARSE],
            is_numpy: false,
            module: None,
            by_texts: false,
            over: None,
            is_watched: false,
        }
    }

    /// The same, with an event for each operation that was carried out.
    #[must_use]
    pub const fn watched(mut self) -> Self {
        self.is_watched = true;
        self
    }

    /// The same, in an array of NumPy's: the functions that make its arrays are listed.
    #[must_use]
    pub const fn in_array(mut self) -> Self {
        self.is_numpy = true;
        self
    }

    /// The offset of the next operation.
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// Operations followed so far.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// Continues until the pickle ends or something is missing.
    ///
    /// # Errors
    /// Bytes or memory that are missing. Call again when they are there.
    pub fn step(
        &mut self,
        source: &Source<'_>,
        mut memory: PickleMemory<'_>,
        sink: &mut dyn FnMut(PickleEvent),
    ) -> Result<PickleEnd, PickleStop> {
        loop {
            if let Some(end) = self.over {
                return Ok(end);
            }
            let at = self.at;
            match self.operation(source, &mut memory, sink)? {
                Next::Goes => self.operations = self.operations.saturating_add(1),
                Next::Ends => self.over = Some(PickleEnd::Stopped(self.at)),
                Next::Limit => self.over = Some(PickleEnd::Unchecked(at)),
                Next::Faulty(fault) => {
                    sink(PickleEvent::Fault { at, fault });
                    self.over = Some(PickleEnd::Broken(at));
                }
            }
        }
    }

    fn operation(
        &mut self,
        source: &Source<'_>,
        memory: &mut PickleMemory<'_>,
        sink: &mut dyn FnMut(PickleEvent),
    ) -> Result<Next, PickleStop> {
        if self.by_texts {
            return Ok(self.import_by_texts(source, memory, sink)?);
        }
        if self.frame.is_some_and(|end| self.at >= end) {
            self.frame = None;
        }
        let room = self.end.saturating_sub(self.at);
        let run = source.run(self.at);
        let most = room.min(PICKLE_LINE);
        let run = usize::try_from(most).ok().and_then(|most| run.get(..most)).unwrap_or(run);
        let resident = u64::try_from(run.len()).unwrap_or(u64::MAX);
        let (byte, argument, taken) = match operation(run) {
            Ok(found) => found,
            Err(Refusal::Unknown(byte)) => return Ok(Next::Faulty(PickleFault::Operation(byte))),
            Err(Refusal::Argument) => return Ok(Next::Faulty(PickleFault::Argument)),
            Err(Refusal::Incomplete(_)) if resident >= room => {
                return Ok(Next::Faulty(PickleFault::CutOff));
            }
            Err(Refusal::Incomplete(_)) if resident >= PICKLE_LINE => return Ok(Next::Limit),
            Err(Refusal::Incomplete(need)) => {
                let need = u64::try_from(need).unwrap_or(u64::MAX);
                let need = need.max(resident.saturating_mul(2)).max(LEAST).min(most);
                let want = room.min(need.max(READ_AHEAD));
                return Err(Absent { offset: self.at, need, want }.into());
            }
        };
        let data = if let Argument::Data(len) = argument { len } else { 0 };
        let taken = u64::try_from(taken).unwrap_or(u64::MAX);
        let past = self.at.checked_add(taken).and_then(|at| at.checked_add(data));
        let Some(past) = past.filter(|past| *past <= self.end) else {
            return Ok(Next::Faulty(PickleFault::CutOff));
        };
        // Memory comes first: an operation that has begun is not repeated.
        self.reserve(byte, argument, memory)?;
        if let Some(end) = self.frame.filter(|end| past > *end) {
            // The unpickler in C runs the bytes after the frame, whatever holds them.
            sink(PickleEvent::Fault { at: self.at, fault: PickleFault::Frame });
            (self.at, self.frame) = (end, None);
            return Ok(Next::Goes);
        }
        if byte == 0x93 {
            self.by_texts = true;
            return Ok(self.import_by_texts(source, memory, sink)?);
        }
        let text = Span::new(past.saturating_sub(data), data);
        let next = self.perform(byte, argument, text, past, memory, sink);
        if matches!(next, Next::Goes | Next::Ends) {
            if self.is_watched {
                let value = PickleValue::of(byte, argument, text);
                sink(PickleEvent::Operation { at: self.at, byte, value });
            }
            self.at = past;
        }
        Ok(next)
    }

    /// Asks for the memory that an operation may take.
    fn reserve(
        &self,
        byte: u8,
        argument: Argument<'_>,
        memory: &PickleMemory<'_>,
    ) -> Result<(), PickleStop> {
        let need = self.top.saturating_add(1);
        if need > memory.stack.len() && need <= PICKLE_STACK {
            return Err(PickleStop::NeedStack(need));
        }
        let key = match (byte, argument) {
            (b'p' | b'q' | b'r', Argument::Number(key)) => key,
            (0x94, _) => self.memorised(memory),
            _ => return Ok(()),
        };
        let need = usize::try_from(key).ok().and_then(|key| key.checked_add(2));
        let need = need.filter(|_| self.is_dense(key)).unwrap_or(1);
        if need > memory.memo.len() { Err(PickleStop::NeedMemo(need)) } else { Ok(()) }
    }

    /// Whether a memo key is one that a writer would use by now.
    fn is_dense(&self, key: u64) -> bool {
        let most = self.operations.saturating_mul(2).saturating_add(DENSE);
        key < most && usize::try_from(key).is_ok_and(|key| key < PICKLE_MEMO)
    }

    /// The number of memo entries, as `MEMOIZE` counts them. It is kept before the first entry.
    fn memorised(&self, memory: &PickleMemory<'_>) -> u64 {
        match memory.memo.first() {
            Some(Item::Count(count)) => *count,
            _ => 0,
        }
    }

    #[allow(clippy::too_many_lines, reason = "one line an operation")]
    fn perform(
        &mut self,
        byte: u8,
        argument: Argument<'_>,
        text: Span,
        past: u64,
        memory: &mut PickleMemory<'_>,
        sink: &mut dyn FnMut(PickleEvent),
    ) -> Next {
        let mut stack = Stack { scan: self, memory, sink, count: 0 };
        let done = match (byte, argument) {
            (0x80, Argument::Number(protocol)) if protocol > 5 => {
                Err(PickleFault::Protocol(protocol))
            }
            (0x80, _) => Ok(()),
            (0x95, Argument::Number(len)) => stack.frame(past, len),
            (b'.', _) => match stack.pop() {
                Ok(_) => return Next::Ends,
                Err(fault) => Err(fault),
            },
            (b'(', _) => stack.mark(),
            (b'0', _) => stack.drop_top(),
            (b'1', _) => stack.unmark().map(drop),
            (b'2', _) => stack.peek().and_then(|top| stack.push(top)),
            (b'N', _) => stack.push(Item::Scalar),
            (_, Argument::Bool(_) | Argument::Integer(_) | Argument::Float(_)) => {
                stack.push(Item::Scalar)
            }
            (_, Argument::Negative) => Err(PickleFault::Argument),
            (b'K' | b'M', _) => stack.push(Item::Scalar),
            (b'S', Argument::Line(line)) => stack.line(line, Spelling::Quoted),
            (b'V', Argument::Line(line)) => stack.line(line, Spelling::Raw),
            (b'T' | b'U' | b'X' | 0x8C | 0x8D, _) => stack.push(Item::text(text, Spelling::Plain)),
            (b'B' | b'C' | 0x8E | 0x96, _) => stack.push(Item::Bytes),
            (0x97, _) => stack.push(Item::Unknown),
            (0x98, _) => stack.peek().map(drop),
            (b'P', _) => stack.push(Item::Unknown),
            (b'Q', _) => stack.pop().and_then(|_| stack.push(Item::Unknown)),
            (b']', _) => stack.push(Item::List),
            (b'}', _) => stack.push(Item::Dict),
            (b')', _) => stack.push(Item::Tuple),
            (0x8F, _) => stack.push(Item::Set),
            (0x85..=0x87, _) => {
                stack.pops(byte.saturating_sub(0x84)).and_then(|()| stack.push(Item::Tuple))
            }
            (b't', _) => stack.unmark().and_then(|_| stack.push(Item::Tuple)),
            (b'l', _) => stack.unmark().and_then(|_| stack.push(Item::List)),
            (0x91, _) => stack.unmark().and_then(|_| stack.push(Item::Frozen)),
            (b'd', _) => stack.pairs().and_then(|()| stack.push(Item::Dict)),
            (b'a', _) => stack.takes(1).and_then(|()| stack.adds(Item::List)),
            (b's', _) => stack.takes(2).and_then(|()| stack.adds(Item::Dict)),
            (b'e', _) => stack.unmark().and_then(|_| stack.adds_marked(Item::List)),
            (0x90, _) => stack.unmark().and_then(|_| stack.adds_marked(Item::Set)),
            (b'u', _) => stack.pairs().and_then(|()| stack.adds_marked(Item::Dict)),
            (b'b', _) => stack.pop().and_then(|_| stack.builds()),
            (b'R' | 0x81, _) => stack.pop().and_then(|_| stack.calls()),
            (0x92, _) => stack.pops(2).and_then(|()| stack.calls()),
            (b'o', _) => stack.calls_marked(),
            (b'c', Argument::Names(module, name)) => stack.imports(module, name, past).map(drop),
            (b'i', Argument::Names(module, name)) => stack
                .unmark()
                .and_then(|_| stack.imports(module, name, past))
                .and_then(|_| stack.calls()),
            (0x82..=0x84, Argument::Number(code)) => stack.extension(code, past),
            (b'g' | b'h' | b'j', Argument::Number(key)) => stack.recalls(key),
            (b'p' | b'q' | b'r', Argument::Number(key)) => stack.memorises(key),
            (0x94, _) => stack.memorises(u64::MAX),
            _ => Err(PickleFault::Operation(byte)),
        };
        match done {
            Ok(()) => Next::Goes,
            Err(PickleFault::Full) => Next::Limit,
            Err(fault) => Next::Faulty(fault),
        }
    }

    /// `STACK_GLOBAL`: the module and the name are the two texts at the top.
    fn import_by_texts(
        &mut self,
        source: &Source<'_>,
        memory: &mut PickleMemory<'_>,
        sink: &mut dyn FnMut(PickleEvent),
    ) -> Result<Next, Absent> {
        let below = |by: usize| {
            let item = self.top.checked_sub(by).and_then(|at| memory.stack.get(at)).copied();
            item.filter(|item| !matches!(item, Item::Mark(_)))
        };
        let (Some(module), Some(name)) = (below(2), below(1)) else {
            return Ok(Next::Faulty(PickleFault::Stack));
        };
        let read = |item: Item| match item {
            Item::Text { at, len, spelling } => {
                Ok(Some(PickleName::read(source, Span::new(at, len.into()), spelling)?))
            }
            // Whatever was computed may be any name.
            Item::Unknown => Ok(Some(PickleName::unknown())),
            _ => Ok(None),
        };
        let of_module = match self.module {
            Some(known) => Some(known),
            None => read(module)?,
        };
        let Some(of_module) = of_module else { return Ok(Next::Faulty(PickleFault::NoText)) };
        self.module = Some(of_module);
        let Some(name) = read(name)? else { return Ok(Next::Faulty(PickleFault::NoText)) };
        (self.module, self.by_texts) = (None, false);
        let past = self.at.saturating_add(1);
        let mut stack = Stack { scan: self, memory, sink, count: 0 };
        let done = stack.pops(2).and_then(|()| stack.import(of_module, name, past));
        if self.is_watched && done.is_ok() {
            sink(PickleEvent::Operation { at: self.at, byte: 0x93, value: PickleValue::None });
        }
        self.at = past;
        Ok(done.map_or_else(Next::Faulty, |()| Next::Goes))
    }
}

/// Bytes of most operations with their arguments.
const LEAST: u64 = 64;

#[cfg(test)]
mod tests;
