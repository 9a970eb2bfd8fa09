//! What a pickle would build: values in an arena, made while the machine follows the operations.
//!
//! The machine checks that each operation finds its operands, so this does to values what the
//! machine does to their kinds.

use super::torch_names::Known;
use crate::check::scan::memory::Memory;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use weighbridge_core::limits;
use weighbridge_core::pickle::{PickleEnd, PickleEvent, PickleScan, PickleValue, Spelling};
use weighbridge_core::{Source, Span};

/// The number of a value.
pub(super) type Id = u32;

/// A value.
#[derive(Debug)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits.
    Long,
    Float(f64),
    /// A text, or the bytes that Python 2 writes for one.
    Text(Span, Spelling),
    Bytes,
    Tuple(Items),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Set(Vec<Id>),
    Global(Known),
    Made(Box<Made>),
    /// What a persistent id stands for.
    Persistent(Id),
    /// What a buffer or a text as persistent id stands for.
    Unknown,
}

const _: () = assert!(size_of::<Value>() <= 32);

/// The items of a tuple: where they begin among those of all tuples, and how many they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items {
    from: u32,
    count: u32,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) of: Known,
    /// What is called.
    pub(super) function: Id,
    /// The arguments; not always a tuple.
    pub(super) args: Id,
    pub(super) items: Vec<Id>,
    pub(super) pairs: Vec<(Id, Id)>,
    pub(super) state: Option<Id>,
}

/// All values of a pickle, and what was found on the way.
#[derive(Debug, Default)]
pub(super) struct Values {
    all: Vec<Value>,
    /// The items of all tuples.
    items: Vec<Id>,
    /// The offset of the operation that made each.
    places: Vec<u64>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: Vec<Id>,
    sparse: BTreeMap<i64, Id>,
    /// What the last import gave.
    imported: Option<Known>,
    root: Option<Id>,
    /// The offset of `STOP`, and whether anything else was left on the stack.
    pub(super) stopped: u64,
    pub(super) has_rest: bool,
    /// Where operations are that writers do not make: a late or missing `PROTO`, data from outside,
    /// those of protocols 0 and 1 that torch never writes.
    pub(super) late_protocol: Option<u64>,
    pub(super) outside: Option<u64>,
    pub(super) unusual: Option<u64>,
    /// A text that is not UTF-8, and a line that is no number.
    pub(super) no_text: Option<u64>,
    pub(super) no_number: Option<u64>,
    pub(super) protocol: Option<i64>,
    /// Too many values.
    pub(super) is_full: bool,
    count: u64,
}

/// Most values for which memory is taken before they are found.
const AHEAD: usize = 1 << 18;

/// No entry of the memo.
const ABSENT: Id = Id::MAX;

impl Values {
    /// Follows the pickle at `from` of `bytes`, and tells `imports` what it imports and calls. `None`
    /// if it has a fault or exceeds a limit; then the scan of the file says which.
    pub(super) fn of(
        bytes: &[u8],
        from: u64,
        imports: &mut dyn FnMut(&PickleEvent),
    ) -> Option<Values> {
        let mut values = Values::default();
        // torch writes a value in six bytes.
        let count = (bytes.len() / 6).min(AHEAD);
        (values.all, values.places) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut memory = Memory::default();
        let source = Source::whole(bytes);
        let len = bytes.len() as u64;
        let mut scan = PickleScan::of(Span::between(from, len)).watched();
        loop {
            let mut is_broken = false;
            let ended = scan.step(&source, memory.room(), &mut |event| {
                if let PickleEvent::Operation { .. } = event {
                    values.look(&event, bytes);
                } else {
                    is_broken |= matches!(event, PickleEvent::Fault { .. });
                    imports(&event);
                }
                values.event(&event);
            });
            match ended {
                Ok(PickleEnd::Stopped(at)) if !is_broken => {
                    values.stopped = at;
                    return Some(values);
                }
                Err(stop) => memory.make(stop).ok()?,
                Ok(_) => return None,
            }
        }
    }

    /// The object.
    pub(super) fn root(&self) -> Option<Id> {
        self.root
    }

    pub(super) fn get(&self, id: Id) -> &Value {
        self.all.get(id as usize).unwrap_or(&Value::Unknown)
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The offset of the operation that made a value.
    pub(super) fn place(&self, id: Id) -> u64 {
        self.places.get(id as usize).copied().unwrap_or(0)
    }

    /// The items of a tuple.
    pub(super) fn tuple(&self, id: Id) -> Option<&[Id]> {
        match self.get(id) {
            Value::Tuple(items) => Some(self.items(*items)),
            _ => None,
        }
    }

    /// The items of a tuple.
    pub(super) fn items(&self, of: Items) -> &[Id] {
        let rest = self.items.get(of.from as usize..).unwrap_or_default();
        rest.get(..of.count as usize).unwrap_or_default()
    }

    fn event(&mut self, event: &PickleEvent) {
        match *event {
            PickleEvent::Import(import) => {
                let (module, name) = (import.module.as_str(), import.name.as_str());
                let is_whole = import.module.is_whole() && import.name.is_whole();
                self.imported = Some(if is_whole { Known::of(module, name) } else { Known::Other });
            }
            PickleEvent::Operation { at, byte, value } if !self.is_full => {
                self.is_full = self.all.len() >= limits::CHECKPOINT_VALUES;
                // The machine has found each operand, so none is missing.
                let _ = self.operation(at, byte, value);
                self.count += 1;
            }
            _ => {}
        }
    }

    /// Looks at the bytes of texts and numbers.
    fn look(&mut self, event: &PickleEvent, bytes: &[u8]) {
        let PickleEvent::Operation { at, byte, value } = *event else { return };
        let from = |at: u64| bytes.get(usize::try_from(at).unwrap_or(usize::MAX)..);
        match (byte, value) {
            (b'X' | 0x8C | 0x8D, PickleValue::Text(span, _)) => {
                let text =
                    from(span.offset).and_then(|rest| rest.get(..usize::try_from(span.len).ok()?));
                if !text.is_some_and(is_text) {
                    self.no_text.get_or_insert(at);
                }
            }
            (b'I' | b'L', PickleValue::Long) => {
                let line = from(at + 1).and_then(|rest| rest.split(|byte| *byte == b'\n').next());
                let line = line.unwrap_or_default().trim_ascii();
                let line = line.strip_suffix(b"L").unwrap_or(line);
                let digits = line.strip_prefix(b"-").or(line.strip_prefix(b"+")).unwrap_or(line);
                if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                    self.no_number.get_or_insert(at);
                }
            }
            _ => {}
        }
    }

    #[allow(clippy::too_many_lines, reason = "one line an operation")]
    fn operation(&mut self, at: u64, byte: u8, value: PickleValue) -> Option<()> {
        let (op, argument) = (byte, value);
        let made = match (op, argument) {
            (0x80, PickleValue::Integer(protocol)) => {
                if self.count > 0 {
                    self.late_protocol.get_or_insert(at);
                }
                self.protocol = Some(protocol);
                return Some(());
            }
            (b'.', _) => {
                self.root = self.stack.pop();
                self.has_rest = !self.stack.is_empty() || !self.marks.is_empty();
                if self.protocol.is_none() {
                    self.late_protocol.get_or_insert(0);
                }
                return Some(());
            }
            (0x95 | 0x98, _) => return Some(()),
            (b'(', _) => {
                self.marks.push(self.stack.len());
                return Some(());
            }
            (b'0', _) => {
                match self.marks.last() {
                    Some(mark) if *mark == self.stack.len() => drop(self.marks.pop()),
                    _ => drop(self.stack.pop()?),
                }
                return Some(());
            }
            (b'1', _) => {
                self.unmark();
                return Some(());
            }
            (b'2', _) => {
                self.stack.push(*self.stack.last()?);
                return Some(());
            }
            (b'p' | b'q' | b'r', PickleValue::Integer(key)) => return self.memorise(key),
            (0x94, _) => return self.memorise(i64::try_from(self.memo.len()).ok()?),
            (b'g' | b'h' | b'j', PickleValue::Integer(key)) => {
                let dense = usize::try_from(key).ok().and_then(|key| self.memo.get(key)).copied();
                let id = dense.filter(|id| *id != ABSENT);
                self.stack.push(id.or_else(|| self.sparse.get(&key).copied())?);
                return Some(());
            }
            (b'a', _) => {
                let item = self.stack.pop()?;
                return self.add(&[item]);
            }
            (b'e' | 0x90, _) => {
                let items = self.unmark();
                return self.add(&items);
            }
            (b's', _) => {
                let (value, key) = (self.stack.pop()?, self.stack.pop()?);
                return self.set(&[key, value]);
            }
            (b'u', _) => {
                let pairs = self.unmark();
                return self.set(&pairs);
            }
            (b'b', _) => {
                let state = self.stack.pop()?;
                if let Some(Value::Made(made)) = self.top() {
                    made.state = Some(state);
                }
                return Some(());
            }
            (b'R' | 0x81, _) => {
                let (args, of) = (self.stack.pop()?, self.stack.pop()?);
                self.call(of, args)
            }
            (0x92, _) => {
                let (_, args, of) = (self.stack.pop()?, self.stack.pop()?, self.stack.pop()?);
                self.call(of, args)
            }
            (b'o', _) => {
                self.unusual.get_or_insert(at);
                let mut items = self.unmark();
                let of = (!items.is_empty()).then(|| items.remove(0))?;
                let args = self.tuple_of(items.len());
                self.items.extend_from_slice(&items);
                let args = self.keep(args, at);
                self.call(of, args)
            }
            (b'i', _) => {
                self.unusual.get_or_insert(at);
                let from = self.mark();
                let args = self.tuple_from(from);
                let args = self.keep(args, at);
                let of = self.imported.take()?;
                let of = self.keep(Value::Global(of), at);
                self.call(of, args)
            }
            (b'c' | 0x82..=0x84, _) => Value::Global(self.imported.take()?),
            (0x93, _) => {
                self.stack.truncate(self.stack.len().checked_sub(2)?);
                Value::Global(self.imported.take()?)
            }
            (b'N', _) => Value::None,
            (b')', _) => self.tuple_of(0),
            (0x85..=0x87, _) => {
                let from = self.stack.len().checked_sub(usize::from(op - 0x84))?;
                self.tuple_from(from)
            }
            (b't', _) => {
                let from = self.mark();
                self.tuple_from(from)
            }
            (b']', _) => Value::List(Vec::new()),
            (b'l', _) => Value::List(self.unmark()),
            (b'}', _) => Value::Dict(Vec::new()),
            (b'd', _) => Value::Dict(pairs(&self.unmark())),
            (0x8F, _) => Value::Set(Vec::new()),
            (0x91, _) => Value::Set(self.unmark()),
            (b'Q', _) => Value::Persistent(self.stack.pop()?),
            (b'P' | 0x97, _) => {
                self.outside.get_or_insert(at);
                Value::Unknown
            }
            (b'B' | b'C' | 0x8E | 0x96, _) => Value::Bytes,
            (_, PickleValue::Bool(value)) => Value::Bool(value),
            (_, PickleValue::Integer(value)) => Value::Int(value),
            (_, PickleValue::Long) => Value::Long,
            (_, PickleValue::Float(value)) => Value::Float(value),
            (_, PickleValue::Text(span, spelling)) => Value::Text(span, spelling),
            _ => Value::Unknown,
        };
        let id = self.keep(made, at);
        self.stack.push(id);
        Some(())
    }

    fn keep(&mut self, value: Value, at: u64) -> Id {
        let id = u32::try_from(self.all.len()).unwrap_or(ABSENT);
        self.all.push(value);
        self.places.push(at);
        id
    }

    fn top(&mut self) -> Option<&mut Value> {
        let id = *self.stack.last()?;
        self.all.get_mut(id as usize)
    }

    fn unmark(&mut self) -> Vec<Id> {
        let mark = self.mark();
        self.stack.split_off(mark)
    }

    /// Takes the last mark: where it lies on the stack.
    fn mark(&mut self) -> usize {
        self.marks.pop().unwrap_or(0).min(self.stack.len())
    }

    /// A tuple of what lies on the stack from a place on, which is taken off.
    fn tuple_from(&mut self, from: usize) -> Value {
        let tuple = self.tuple_of(self.stack.get(from..).unwrap_or_default().len());
        self.items.extend_from_slice(self.stack.get(from..).unwrap_or_default());
        self.stack.truncate(from);
        tuple
    }

    /// A tuple of the next `count` items.
    fn tuple_of(&self, count: usize) -> Value {
        let [from, count] = [self.items.len(), count].map(|it| u32::try_from(it).unwrap_or(ABSENT));
        Value::Tuple(Items { from, count })
    }

    fn memorise(&mut self, key: i64) -> Option<()> {
        let id = *self.stack.last()?;
        match usize::try_from(key) {
            Ok(key) if key <= self.memo.len() * 2 + (1 << 10) => {
                if key >= self.memo.len() {
                    self.memo.resize(key + 1, ABSENT);
                }
                *self.memo.get_mut(key)? = id;
            }
            _ => drop(self.sparse.insert(key, id)),
        }
        Some(())
    }

    fn add(&mut self, new: &[Id]) -> Option<()> {
        match self.top()? {
            Value::List(items) | Value::Set(items) => items.extend_from_slice(new),
            Value::Made(made) => made.items.extend_from_slice(new),
            _ => {}
        }
        Some(())
    }

    fn set(&mut self, new: &[Id]) -> Option<()> {
        match self.top()? {
            Value::Dict(known) => known.extend(pairs(new)),
            Value::Made(made) => made.pairs.extend(pairs(new)),
            _ => {}
        }
        Some(())
    }

    fn call(&self, function: Id, args: Id) -> Value {
        let of = match self.get(function) {
            Value::Global(known) => *known,
            _ => Known::Other,
        };
        let (items, pairs, state) = (Vec::new(), Vec::new(), None);
        Value::Made(Box::new(Made { of, function, args, items, pairs, state }))
    }
}

fn pairs(items: &[Id]) -> Vec<(Id, Id)> {
    let (pairs, _) = items.as_chunks::<2>();
    pairs.iter().map(|[key, value]| (*key, *value)).collect()
}

/// Whether bytes are UTF-8, in which Python also writes halves of surrogate pairs.
fn is_text(bytes: &[u8]) -> bool {
    let mut chunks = bytes.utf8_chunks();
    let mut rest = bytes;
    while let Some(chunk) = chunks.next() {
        rest = rest.get(chunk.valid().len()..).unwrap_or_default();
        match rest {
            [] => return true,
            [0xED, 0xA0..=0xBF, 0x80..=0xBF, after @ ..] => {
                rest = after;
                chunks = after.utf8_chunks();
            }
            _ => return false,
        }
    }
    rest.is_empty()
}
