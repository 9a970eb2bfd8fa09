//! Reading tensors from the header, one member at a time.

use super::entry::Entry;
use super::json::Json;
use super::{Cursor, Header, KEYS, far, rules, stands};
use crate::base::features::WINDOWS;
use crate::base::{Word, wide, widen, word};
use crate::model::{Status, Tensor};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

impl Header {
    /// Moves to the start of the next member, past the metadata. If the header ends inside
    /// the metadata, the cursor is finished; listing the metadata reports the fault.
    pub(super) fn next_member(&self, c: &mut Cursor) -> Word {
        let start = word(c.at).max(far(self.first));
        if start != far(self.meta_from) || c.state.stands == stands::END {
            return start;
        }
        if self.meta_end == 0 {
            c.finish();
        }
        let start = far(self.meta_end).wrapping_add(1);
        c.at = wide(start);
        c.state.stands = if start == far(self.end) { stands::END } else { stands::AFTER };
        start
    }

    /// Reads the tensor of the next member into `found`.
    pub(super) fn read_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        found: &mut Result<Option<Tensor>, Halt>,
    ) {
        *found = Ok(Some(Tensor::NONE));
        let read = match found {
            Ok(Some(tensor)) => self.any_tensor(r, c, tensor),
            _ => Ok(false),
        };
        match read {
            Ok(true) => {}
            Ok(false) => *found = Ok(None),
            Err(halt) => *found = Err(halt),
        }
    }

    /// Reads the tensor of the next member in any form; returns false at the end.
    pub(super) fn any_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        tensor: &mut Tensor,
    ) -> Result<bool, Halt> {
        let start = self.next_member(c);
        if c.done {
            return Ok(false);
        }
        if c.state.stands == stands::END {
            self.finish(r, c, start);
            return Ok(false);
        }
        r.about(EntryKind::Tensor, c.index);
        let mut json = Json::of(r, start, far(self.data_at), rules::JSON_TRUNCATED);
        let may_end = c.state.stands == stands::FIRST && start == far(self.first);
        let mut last = may_end && json.eat(b'}');
        let mut entry = Entry::NONE;
        let mut found = false;
        // Location of the first further metadata member; all are skipped.
        let mut further = None;
        while !found && !last {
            json.token();
            let at = json.at;
            json.key();
            found = json.which(KEYS) != Some(0);
            if found {
                tensor.name = json.text.name_at(&json);
                entry.read(&mut json, tensor);
            } else {
                json.value(1);
                if further.is_none() && !json.failed {
                    further = Some((at, json.at.wrapping_sub(at)));
                }
            }
            last = !json.more(b'}');
        }
        let data_len = r.source().len().saturating_sub(u64::from(self.data_at));
        let usable = entry.validate(&mut json, data_len);
        let fatal = json.conclude(r)?;
        if let Some((at, len)) = further {
            // The following tensor is not at fault.
            r.about(EntryKind::File, 0);
            r.flag(rules::METADATA_DUPLICATE, wide(json.place(at)), widen(len), 0, 0);
        }
        if json.failed {
            c.finish();
            return Ok(false);
        }
        let end = json.place(json.at);
        if !found {
            self.finish(r, c, end);
            return Ok(false);
        }
        tensor.index = c.index;
        tensor.offset = tensor.name.offset.wrapping_sub(1);
        tensor.status = Status::Broken;
        let usable = usable && !fatal;
        if usable {
            entry.settle(tensor, self.data_at());
        }
        if WINDOWS {
            c.state.data_end = entry.data_end(usable, c.state.data_end);
        }
        c.advance(wide(end));
        c.state.stands = if last { stands::END } else { stands::AFTER };
        Ok(true)
    }

    /// Finishes the cursor after the closing brace, and reports stray bytes that opening
    /// found there.
    fn finish(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, at: Word) {
        let stray = if at == far(self.end) { far(self.stray) } else { at };
        if stray < far(self.data_at) {
            r.about(EntryKind::File, 0);
            let len = wide(far(self.data_at).wrapping_sub(stray));
            r.flag(rules::JSON_TRAILING, wide(stray), len, 0, len);
        }
        // Only a resumable audit uses this.
        if WINDOWS {
            c.at = wide(at);
            if c.state.data_end == r.source().len().saturating_sub(self.data_at()) {
                c.state.stands = stands::COVERED;
            }
        }
        c.finish();
    }
}
