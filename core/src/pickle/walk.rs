//! Walks over the opcodes of a pickle and follows the depth of its stack.

use super::opcode::{Effect, opcode};
use crate::base::limits::PICKLE_MARKS;
use crate::base::widen;

/// The stack of a pickle: how many values lie on each mark.
struct Depth {
    /// Values below each open mark, the lowest first.
    below: [usize; PICKLE_MARKS],
    marks: usize,
    /// Values above the topmost mark.
    top: usize,
}

/// How a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    On,
    /// The pickle ends with a value.
    End,
    /// No unpickler does this.
    Fault,
    /// More marks are open than this walk follows.
    Deep,
}

impl Depth {
    fn take(&mut self, takes: usize, gives: usize) -> Step {
        match self.top.checked_sub(takes) {
            Some(left) => {
                self.top = left.saturating_add(gives);
                Step::On
            }
            None => Step::Fault,
        }
    }

    /// Closes the topmost mark; `false` if none is open.
    fn close(&mut self) -> bool {
        let Some(last) = self.marks.checked_sub(1) else { return false };
        self.marks = last;
        self.top = self.below.get(last).copied().unwrap_or(0);
        true
    }

    fn step(&mut self, effect: Effect) -> Step {
        match effect {
            Effect::Plain { takes, gives } => self.take(takes, gives),
            Effect::Mark => {
                let Some(below) = self.below.get_mut(self.marks) else { return Step::Deep };
                *below = self.top;
                (self.marks, self.top) = (self.marks.saturating_add(1), 0);
                Step::On
            }
            Effect::ToMark { takes, gives } if self.close() => self.take(takes, gives),
            Effect::Pop if self.top > 0 => self.take(1, 0),
            Effect::Pop if self.close() => Step::On,
            Effect::Stop if self.top > 0 => Step::End,
            _ => Step::Fault,
        }
    }
}

/// Whether a file of `len` bytes that begins with `head` is a pickle, of any protocol.
///
/// The opcodes must be those of a pickle, from the first byte to the one that ends it, and no
/// opcode may take more values than lie on the stack. An unpickler runs a pickle up to the first
/// fault, so a call before the fault decides, and so does an import that is no line of a text.
/// Where `head` ends before the pickle does, one opcode is enough.
///
/// ```
/// use weighbridge_core::format::begins_with_pickle;
///
/// assert!(begins_with_pickle(b"(S'touch x'\nios\nsystem\n.", 24));
/// assert!(begins_with_pickle(b"\x80\x04\x95\x0A\0\0\0\0\0\0\0]\x94", 100));
/// assert!(!begins_with_pickle(b"cats\nand\ndogs\n", 14));
/// ```
pub fn begins_with_pickle(head: &[u8], len: u64) -> bool {
    let protocol = head.first() == Some(&0x80);
    let left = |rest: &[u8]| len.saturating_sub(widen(head.len().saturating_sub(rest.len())));
    let mut depth = Depth { below: [0; PICKLE_MARKS], marks: 0, top: 0 };
    let (mut rest, mut opcodes) = (head, 0_usize);
    let (mut imports, mut calls) = (false, false);
    // Each opcode takes a byte at least, so this ends.
    loop {
        let read = opcode(rest);
        if let Ok((after, read)) = read {
            match depth.step(read.effect) {
                Step::On => {}
                Step::End | Step::Deep => return true,
                Step::Fault => break,
            }
            rest = after;
            opcodes = opcodes.saturating_add(1);
            imports |= read.imports;
            calls |= read.calls;
            continue;
        }
        // The next byte is wanted at least.
        let wanted = match read {
            Err(nom::Err::Incomplete(nom::Needed::Size(more))) => more.get(),
            Err(nom::Err::Incomplete(nom::Needed::Unknown)) => 1,
            _ => break,
        };
        if widen(rest.len().saturating_add(wanted)) > left(rest) {
            break;
        }
        return opcodes > 0;
    }
    calls || imports && !head.is_ascii() || protocol && opcodes > 1
}

#[cfg(test)]
mod tests {
    use super::begins_with_pickle;

    fn of(whole: &[u8]) -> bool {
        begins_with_pickle(whole, whole.len() as u64)
    }

    #[test]
    fn pickles_of_protocol_0_and_1_are_recognised_by_any_first_opcode() {
        for pickle in [
            &b"(S'a'\ntp0\n."[..],
            b"(S'a'\nios\nsystem\n.",
            b"cos\nsystem\n(S'true'\ntR.",
            b"]q\0(K\x01K\x02e.",
            b"}q\0U\x01aK\x01s.",
            b"(lp0\nI1\na.",
            b"(dp0\nS'a'\nI1\ns.",
            b"I1\n0cos\nsystem\n(tR.",
            b"N0cos\nsystem\n(tR.",
            b"K\x01.",
            b"Va\n.",
            b"L5L\n.",
            b"F0.5\n.",
            b"(I1\nI2\nt.",
        ] {
            assert!(of(pickle), "{}", pickle.escape_ascii());
        }
    }

    #[test]
    fn pickle_with_protocol_is_recognised_when_cut() {
        assert!(begins_with_pickle(b"\x80\x02}q\0X\x10\0\0\0abc", 99));
        assert!(begins_with_pickle(b"\x80\x04\x95\x0A\0\0", 99));
        assert!(!of(b"\x80"));
        assert!(!of(b"\x80\x07."));
    }

    #[test]
    fn pickle_that_breaks_after_an_import_is_still_one() {
        assert!(of(b"cos\nsystem\n(S'true'\ntR\xFF"));
        assert!(of(b"cos\nsystem\n(S'true'\ntRRRR"));
    }

    #[test]
    fn companions_of_models_are_no_pickles() {
        for text in [
            &b"{\"a\": [1, 2]}"[..],
            b"[1, 2]",
            b"# Model\n",
            b"Version 1.0\nback\n",
            b"Name: x\n",
            b"I am a text.\n",
            b"1\n2\n3\n",
            b"2 3\n",
            b"def f():\n    pass\n",
            b"import os\n",
            b"class A:\n",
            b"creator\nof models\n",
            b"(c) 2024 somebody\n",
            b"Lorem ipsum\n",
            b"F\n",
            b"S3 bucket\n",
            b"git\n",
            b".gitattributes\n",
            b"",
            b"\x89PNG\r\n\x1A\n",
            b"GIF89a\x01\0\x01\0\0\0\0;",
            b"\x7FELF",
            b"PK\x03\x04",
            b"GGUF\x03\0\0\0",
            b"\x08\x01",
            b"BM6\0\0\0",
            b"tokens\n",
            b"cat\ndog\nbird\n",
            b"KITTI is a data set of roads\n",
            b"BERT\n",
            b"Natural language\n",
            b"NX\n",
        ] {
            assert!(!of(text), "{}", text.escape_ascii());
        }
    }
}
