//! What operations do to the stack and the memo.

use super::allowed::{self, Standing};
use super::item::{PickleItem as Item, PickleMemory};
use super::label::{PickleName, Spelling};
use super::{Import, PickleEvent, PickleFault, PickleScan};
use crate::input::Span;

/// The stack and memo of a scan, during one operation.
pub(super) struct Stack<'s, 'm> {
    pub(super) scan: &'s mut PickleScan,
    pub(super) memory: &'s mut PickleMemory<'m>,
    pub(super) sink: &'s mut dyn FnMut(PickleEvent),
    /// Items above the last mark that was taken.
    pub(super) count: usize,
}

pub(super) type Done<T = ()> = Result<T, PickleFault>;

impl Stack<'_, '_> {
    pub(super) fn push(&mut self, item: Item) -> Done {
        let place = self.memory.stack.get_mut(self.scan.top).ok_or(PickleFault::Full)?;
        *place = item;
        self.scan.top = self.scan.top.saturating_add(1);
        Ok(())
    }

    /// The item at the top; a mark is none.
    pub(super) fn peek(&self) -> Done<Item> {
        let at = self.scan.top.checked_sub(1);
        let item = at.and_then(|at| self.memory.stack.get(at)).copied();
        item.filter(|item| !matches!(item, Item::Mark(_))).ok_or(PickleFault::Stack)
    }

    pub(super) fn pop(&mut self) -> Done<Item> {
        let item = self.peek()?;
        self.scan.top = self.scan.top.saturating_sub(1);
        Ok(item)
    }

    pub(super) fn pops(&mut self, count: u8) -> Done {
        (0..count).try_for_each(|_| self.pop().map(drop))
    }

    /// `POP`: of an item, or of a mark with nothing above it.
    pub(super) fn drop_top(&mut self) -> Done {
        match self.pop() {
            Err(_) if self.scan.mark > 0 => self.unmark().map(drop),
            popped => popped.map(drop),
        }
    }

    pub(super) fn mark(&mut self) -> Done {
        let below = self.scan.mark;
        self.push(Item::Mark(below))?;
        self.scan.mark = u32::try_from(self.scan.top).unwrap_or(u32::MAX);
        Ok(())
    }

    /// Takes the last mark and all above it: how many items, and the first.
    pub(super) fn unmark(&mut self) -> Done<(usize, Item)> {
        let at = usize::try_from(self.scan.mark).ok().and_then(|mark| mark.checked_sub(1));
        let (at, Some(Item::Mark(below))) =
            (at.unwrap_or(0), at.and_then(|at| self.memory.stack.get(at)).copied())
        else {
            return Err(PickleFault::Mark);
        };
        let count = self.scan.top.saturating_sub(at).saturating_sub(1);
        self.count = count;
        let first = at.checked_add(1).and_then(|at| self.memory.stack.get(at)).copied();
        (self.scan.top, self.scan.mark) = (at, below);
        Ok((count, first.filter(|_| count > 0).unwrap_or(Item::EMPTY)))
    }

    /// Takes marked keys and values.
    pub(super) fn pairs(&mut self) -> Done {
        let (count, _) = self.unmark()?;
        if count & 1 == 0 { Ok(()) } else { Err(PickleFault::Pairs) }
    }

    /// Takes a value, and a key if there is one, that an operation adds.
    pub(super) fn takes(&mut self, count: u8) -> Done {
        (0..count).try_for_each(|_| self.pop().map(|item| self.keeps(item)))
    }

    /// Adds the marked items that were just taken.
    pub(super) fn adds_marked(&mut self, wanted: Item) -> Done {
        let from = self.scan.top.saturating_add(1);
        for at in from..from.saturating_add(self.count) {
            if let Some(item) = self.memory.stack.get(at).copied() {
                self.keeps(item);
            }
        }
        self.adds(wanted)
    }

    fn keeps(&mut self, item: Item) {
        if let Item::Global(number, Standing::Function) = item {
            (self.sink)(PickleEvent::Kept { number, at: self.scan.at });
        }
    }

    /// Checks that the item at the top takes items as a list, a set or a dictionary does.
    pub(super) fn adds(&mut self, wanted: Item) -> Done {
        match self.peek()? {
            Item::Unknown | Item::Made(_) => Ok(()),
            item if item == wanted => Ok(()),
            _ => Err(PickleFault::Target),
        }
    }

    /// Checks that the item at the top is an object, which has a state.
    pub(super) fn builds(&mut self) -> Done {
        match self.peek()? {
            Item::Unknown | Item::Made(_) => Ok(()),
            _ => Err(PickleFault::Target),
        }
    }

    /// Calls what is at the top, and leaves its result.
    pub(super) fn calls(&mut self) -> Done {
        let (number, standing) = match self.pop()? {
            Item::Global(number, standing) => (number, standing),
            Item::Unknown | Item::Made(Standing::Other | Standing::Inert) => {
                return self.push(Item::Unknown);
            }
            _ => return Err(PickleFault::NotCallable),
        };
        (self.sink)(PickleEvent::Call { number, at: self.scan.at });
        let standing = if standing == Standing::Function { Standing::Listed } else { standing };
        self.push(Item::Made(standing))
    }

    /// `OBJ`: the class is the first item above the mark.
    pub(super) fn calls_marked(&mut self) -> Done {
        match self.unmark()? {
            (0, _) => Err(PickleFault::Stack),
            (_, class) => self.push(class).and_then(|()| self.calls()),
        }
    }

    pub(super) fn line(&mut self, line: &[u8], spelling: Spelling) -> Done {
        let at = self.scan.at.saturating_add(1);
        let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.push(Item::text(Span::new(at, len), spelling))
    }

    /// `FRAME`: the next `len` bytes.
    pub(super) fn frame(&mut self, past: u64, len: u64) -> Done {
        let end = past.checked_add(len).filter(|end| *end <= self.scan.end);
        let inside = self.scan.frame.is_some_and(|frame| past < frame);
        match end.filter(|_| !inside) {
            Some(end) => {
                self.scan.frame = Some(end);
                Ok(())
            }
            None => Err(PickleFault::Frame),
        }
    }

    pub(super) fn imports(&mut self, module: &[u8], name: &[u8], past: u64) -> Done {
        let [module, name] = [module, name].map(|it| PickleName::of(it, Spelling::Plain));
        self.import(module, name, past)
    }

    pub(super) fn import(&mut self, module: PickleName, name: PickleName, past: u64) -> Done {
        let (at, number) = (self.scan.at, self.scan.imports);
        let standing = allowed::standing(&module, &name, self.scan.is_numpy);
        self.scan.imports = number.saturating_add(1);
        let len = u32::try_from(past.saturating_sub(at)).unwrap_or(u32::MAX);
        (self.sink)(PickleEvent::Import(Import { number, at, len, module, name, standing }));
        self.push(Item::Global(number, standing))
    }

    /// `EXT1` to `EXT4`: what the program has registered under a code.
    pub(super) fn extension(&mut self, code: u64, past: u64) -> Done {
        self.import(PickleName::registry(), PickleName::number(code), past)
    }

    /// The place of a memo key; the first is the count.
    pub(super) fn place(&mut self, key: u64) -> Option<&mut Item> {
        if self.scan.is_dense(key) {
            let at = usize::try_from(key).ok().and_then(|key| key.checked_add(1))?;
            return self.memory.memo.get_mut(at);
        }
        let known = |(of, item): &(u64, Item)| *of == key || matches!(item, Item::Empty);
        self.scan.sparse.iter_mut().find(|entry| known(entry)).map(|entry| {
            entry.0 = key;
            &mut entry.1
        })
    }

    /// Writes the item at the top to the memo, at the next place for the key `u64::MAX`.
    pub(super) fn memorises(&mut self, key: u64) -> Done {
        let count = self.scan.memorised(self.memory);
        let key = if key == u64::MAX { count } else { key };
        let item = self.peek()?;
        let place = self.place(key).ok_or(PickleFault::Full)?;
        let is_new = matches!(place, Item::Empty);
        *place = item;
        if let (true, Some(first)) = (is_new, self.memory.memo.first_mut()) {
            *first = Item::Count(count.saturating_add(1));
        }
        Ok(())
    }

    /// Reads from the memo. A key may have been sparse when it was written and be dense now.
    pub(super) fn recalls(&mut self, key: u64) -> Done {
        let at = usize::try_from(key).ok().and_then(|key| key.checked_add(1));
        let dense = at.and_then(|at| self.memory.memo.get(at)).copied().unwrap_or(Item::EMPTY);
        let mut sparse = self.scan.sparse.iter().take_while(|(_, item)| *item != Item::EMPTY);
        let sparse = sparse.find(|(of, _)| *of == key);
        match (dense, sparse) {
            (Item::Empty, None) => Err(PickleFault::Memo),
            (Item::Empty, Some((_, item))) => self.push(*item),
            (item, None) => self.push(item),
            // Written at both: which is the later is not known.
            (item, Some((_, other))) if item == *other => self.push(item),
            (_, Some(_)) => Err(PickleFault::Full),
        }
    }
}
