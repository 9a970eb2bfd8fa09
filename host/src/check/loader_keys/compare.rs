//! Comparisons between metadata entries.

use super::{List, Number, Values, finding, known};
use alloc::vec::Vec;
use weighbridge_core::format::gguf::rules;
use weighbridge_core::{EntryKind, Finding, Rule};

/// Reports the item count of a list.
fn flag_count(found: &mut Vec<Finding>, rule: Rule, list: &List, numbers: (u64, u64)) {
    let entry = (EntryKind::Metadata, list.entry);
    found.push(finding(rule, entry, (list.count_at(), 8), numbers));
}

/// Reports a number that contradicts another one.
fn flag(found: &mut Vec<Finding>, rule: Rule, number: &Number, numbers: (u64, u64)) {
    let entry = (EntryKind::Metadata, number.entry);
    found.push(finding(rule, entry, (number.at, number.len), numbers));
}

impl Values {
    /// Compares all values found, in a file with `tensors` tensors.
    pub(super) fn compare(&self, tensors: u32, found: &mut Vec<Finding>) {
        if self.tokens.at != 0 {
            self.compare_lists(found);
            self.compare_ids(found);
        }
        self.compare_layers(found);
        self.compare_heads(found);
        self.compare_experts(found);
        self.compare_split(found, tensors);
        for number in [&self.context, &self.embedding] {
            if number.get() == Some(0) {
                flag(found, rules::KEYS_ZERO, number, (1, 0));
            }
        }
    }

    fn compare_lists(&self, found: &mut Vec<Finding>) {
        let tokens = self.tokens.count;
        for list in [&self.scores, &self.types] {
            if list.at != 0 && list.count != tokens {
                flag_count(found, rules::KEYS_LENGTH, list, (tokens, list.count));
            }
        }
    }

    fn compare_ids(&self, found: &mut Vec<Finding>) {
        let tokens = self.tokens.count;
        for id in &self.ids {
            match id.get() {
                Some(Number::NONE) => flag(found, rules::KEYS_TOKEN_NONE, id, (tokens, u64::MAX)),
                Some(value) if u64::from(value) >= tokens => {
                    flag(found, rules::KEYS_TOKEN_ID, id, (tokens, value.into()));
                }
                _ => {}
            }
        }
        let missing = |(id, default): &(&Number, &u64)| id.at == 0 && **default >= tokens;
        let defaults = self.ids.iter().zip(self.model.unwrap_or_default().defaults());
        if let Some((_, default)) = defaults.filter(missing).max_by_key(|(_, default)| **default) {
            flag_count(found, rules::KEYS_TOKEN_DEFAULT, &self.tokens, (*default, tokens));
        }
    }

    fn compare_layers(&self, found: &mut Vec<Finding>) {
        let Some(blocks) = self.blocks.get() else { return };
        if blocks == 0 || blocks > known::MOST_BLOCKS {
            let most = known::MOST_BLOCKS.into();
            flag(found, rules::KEYS_BLOCK_COUNT, &self.blocks, (most, blocks.into()));
            return;
        }
        for list in [&self.heads, &self.heads_kv, &self.feed_forward, &self.experts_used] {
            if list.list && list.value != blocks {
                let at = Number { at: list.at + 4, ..*list };
                flag(found, rules::KEYS_LAYERS, &at, (blocks.into(), list.value.into()));
            }
        }
    }

    fn compare_heads(&self, found: &mut Vec<Finding>) {
        if !self.arch.is_transformer() {
            return;
        }
        let mut sound = true;
        for number in [&self.heads, &self.heads_kv] {
            if number.get() == Some(0) {
                flag(found, rules::KEYS_HEAD_COUNT, number, (1, 0));
                sound = false;
            }
        }
        let (true, Some(heads)) = (sound, self.heads.get()) else { return };
        let rest = |number: u32, by: u32| number.checked_rem(by).unwrap_or(0);
        if let Some(groups) = self.heads_kv.get()
            && rest(heads, groups) != 0
        {
            flag(found, rules::KEYS_HEADS, &self.heads_kv, (heads.into(), groups.into()));
        }
        if let Some(embedding) = self.embedding.get()
            && self.key_length.at == 0
            && rest(embedding, heads) != 0
        {
            flag(found, rules::KEYS_EMBEDDING, &self.embedding, (heads.into(), embedding.into()));
        }
    }

    fn compare_experts(&self, found: &mut Vec<Finding>) {
        let (Some(experts), Some(used)) = (self.experts.get(), self.experts_used.get()) else {
            return;
        };
        let given_up = self.arch.is_hunyuan() && experts <= 1;
        if !given_up && (used > experts || (used == 0) != (experts == 0)) {
            flag(found, rules::KEYS_EXPERTS, &self.experts_used, (experts.into(), used.into()));
        }
    }

    fn compare_split(&self, found: &mut Vec<Finding>, tensors: u32) {
        // A file that is not split has 0, 1 or no count.
        let Some(count @ 2..) = self.split_count.get() else { return };
        if let Some(no) = self.split_no.get()
            && no >= count
        {
            flag(found, rules::KEYS_SPLIT_NO, &self.split_no, (count.into(), no.into()));
        }
        let all = self.split_tensors.get();
        if let Some(all) = all
            && all < tensors
        {
            flag(
                found,
                rules::KEYS_SPLIT_TENSORS,
                &self.split_tensors,
                (tensors.into(), all.into()),
            );
        }
        // Readers take the number of tensors from the first part only.
        let is_first = self.split_no.get() == Some(0);
        let uncounted = is_first && self.split_tensors.is_absent();
        if self.split_no.is_absent() || uncounted || all == Some(Number::NONE) {
            flag(found, rules::KEYS_SPLIT_KEYS, &self.split_count, (0, count.into()));
        }
    }
}
