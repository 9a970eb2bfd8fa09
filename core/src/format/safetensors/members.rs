//! Members of the header that are tensors, one by one.

use super::entry::Entry;
use super::json::Json;
use super::{Cursor, Header, KEYS, far, rules, stands};
use crate::base::build::WINDOWS;
use crate::base::{Word, wide, widen, word};
use crate::model::{Status, Tensor};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

impl Header {
    /// Goes to the start of the next member, past the metadata. If the header ends there,
    /// nothing follows; its entries report that.
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

    /// The tensor of the next member, into `found`.
    pub(super) fn read_tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        found: &mut Result<Option<Tensor>, Halt>,
    ) {
        *found = Ok(Some(Tensor::default()));
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

    /// The tensor of the next member in any form; returns whether there is one.
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
        // Skips further metadata.
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
            // This is not a fault of the following tensor.
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

    /// The bytes after the closing brace, which opening has validated.
    fn finish(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, at: Word) {
        let stray = if at == far(self.end) { far(self.stray) } else { at };
        if stray < far(self.data_at) {
            r.about(EntryKind::File, 0);
            let len = wide(far(self.data_at).wrapping_sub(stray));
            r.flag(rules::JSON_TRAILING, wide(stray), len, 0, len);
        }
        // Only an audit that can stop asks for it.
        if WINDOWS {
            c.at = wide(at);
            if c.state.data_end == r.source().len().saturating_sub(self.data_at()) {
                c.state.stands = stands::COVERED;
            }
        }
        c.finish();
    }
}
