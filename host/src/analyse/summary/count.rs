//! Counts parameters.

use super::facts::{Fact, Settings};
use super::role::{self, ModelPart, Packed, Role};
use super::{ModelBlock, ModelSummary, Share, note};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::DType;

/// Running totals of tensors.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// By name, sorted.
    dtypes: Vec<(&'static str, Share)>,
    /// By part, sorted.
    parts: Vec<(ModelPart, Share)>,
    stacks: BTreeMap<String, BTreeMap<u64, Block>>,
    all: Share,
    without_data: Share,
    others: u64,
    /// Tensors that may be packed, or belong to packed ones: counted once all names are known.
    held: BTreeMap<String, Vec<Held>>,
    embedding: Option<[u64; 2]>,
    /// Parameters that predict further tokens according to their names, and those of experts.
    ahead: [u64; 2],
}

#[derive(Debug, Default)]
struct Block {
    share: Share,
    /// Parameters by part, sorted.
    parts: Vec<(ModelPart, u64)>,
    rows: Rows,
    experts: BTreeSet<u64>,
    /// Number of experts stored as one tensor.
    stacked: Option<u64>,
}

/// Rows of the projections of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) query: Option<u64>,
    pub(super) key: Option<u64>,
    pub(super) value: Option<u64>,
    pub(super) latent: Option<u64>,
    pub(super) query_norm: Option<u64>,
    pub(super) up: Option<u64>,
}

#[derive(Debug)]
struct Held {
    kind: Packed,
    name: String,
    dtype: DType,
    shape: Vec<u64>,
    bytes: u64,
}

/// What the tensors reveal about the model.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// Parameters of experts that only some tokens use.
    pub(super) experts: u64,
    pub(super) parameters: u64,
    /// Extents of the embedding: rows and columns.
    pub(super) embedding: Option<[u64; 2]>,
    /// The blocks of the stack with most parameters, by number.
    pub(super) rows: Vec<Rows>,
    /// Largest number of experts in a block: by a stacked tensor's extent, or by their numbers.
    pub(super) stacked: Option<u64>,
    pub(super) numbered: Option<u64>,
    /// Numbers of these blocks, with their parameters and those of experts.
    blocks: Vec<(u64, [u64; 2])>,
    ahead: [u64; 2],
}

impl Counted {
    /// Parameters that a token uses in the first `main` blocks: the others predict further
    /// tokens.
    pub(super) fn active(&self, facts: &[Fact], main: Option<u64>) -> Option<u64> {
        let number = |name: &str| Fact::number(facts, name);
        let (all, used) = (number("expert_count")?, number("expert_used_count")?);
        if self.experts == 0 || all == 0 || used > all {
            return None;
        }
        let blocks =
            self.blocks.iter().filter(|(number, _)| main.is_some_and(|main| *number >= main));
        let ahead = number("nextn_layer_count").is_some_and(|count| count > 0);
        let left_out = blocks.map(|(_, share)| share).filter(|_| ahead).chain([&self.ahead]);
        let [mut passed, mut experts] = [self.parameters, self.experts];
        for [parameters, of_experts] in left_out {
            passed = passed.saturating_sub(*parameters);
            experts = experts.saturating_sub(*of_experts);
        }
        let used = u128::from(experts) * u128::from(used) / u128::from(all);
        Some(passed.saturating_sub(experts).saturating_add(u64::try_from(used).ok()?))
    }
}

/// Maximum number of tensors held per name: sound files have about five.
const MOST_HELD: usize = 16;

fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |all, extent| all.saturating_mul(*extent))
}

impl Counts {
    pub(super) fn tensor(&mut self, name: &str, dtype: DType, shape: &[u64], bytes: u64) {
        let elements = elements(shape);
        if bytes == 0 && elements > 0 {
            self.without_data.add(elements, dtype.bytes(elements).unwrap_or(0));
        } else if role::is_table(name, shape) || role::is_scale(name) {
            self.add(name, dtype, 0, elements, bytes);
        } else if let Some((kind, base)) = role::packed(name, dtype)
            && self.held.get(&base).is_none_or(|group| group.len() < MOST_HELD)
        {
            let held = Held { kind, name: name.to_string(), dtype, shape: shape.to_vec(), bytes };
            self.held.entry(base).or_default().push(held);
            // The shape of packed elements says nothing else.
            if let (Some(expert), Some(block)) = (role::expert_of(name), self.block(name)) {
                block.experts.insert(expert);
            }
        } else {
            self.add(name, dtype, elements, 0, bytes);
            self.learn(name, shape);
        }
    }

    /// Adds a tensor with its numbers of parameters and of other elements.
    fn add(&mut self, name: &str, dtype: DType, parameters: u64, others: u64, bytes: u64) {
        let part = ModelPart::of(name);
        self.others = self.others.saturating_add(others);
        self.all.add(parameters, bytes);
        entry(&mut self.dtypes, dtype.name()).add(parameters, bytes);
        entry(&mut self.parts, part).add(parameters, bytes);
        if role::predicts_ahead(name) {
            let experts = if part == ModelPart::Experts { parameters } else { 0 };
            self.ahead =
                [self.ahead[0].saturating_add(parameters), self.ahead[1].saturating_add(experts)];
        }
        if let Some(block) = self.block(name) {
            block.share.add(parameters, bytes);
            let of = entry(&mut block.parts, part);
            *of = of.saturating_add(parameters);
        }
    }

    fn block(&mut self, name: &str) -> Option<&mut Block> {
        let (stack, number) = role::block_of(name)?;
        if !self.stacks.contains_key(stack) {
            self.stacks.insert(stack.to_string(), BTreeMap::new());
        }
        Some(self.stacks.get_mut(stack)?.entry(number).or_default())
    }

    /// Derives properties of the model from the shape of a tensor.
    fn learn(&mut self, name: &str, shape: &[u64]) {
        let role = role::role_of(name);
        if let (Some(Role::Embedding), [rows, columns]) = (role, shape) {
            self.embedding.get_or_insert([*rows, *columns]);
        }
        let expert = role::expert_of(name);
        let stacked = matches!(shape, [_, _, _]) && ModelPart::of(name) == ModelPart::Experts;
        if role.is_none() && expert.is_none() && !stacked {
            return;
        }
        let Some(block) = self.block(name) else { return };
        block.experts.extend(expert);
        if let ([experts, ..], true, None) = (shape, stacked, expert) {
            block.stacked.get_or_insert(*experts);
        }
        let rows = &mut block.rows;
        match (role, shape) {
            (Some(Role::Query), [n, _]) => rows.query = Some(*n),
            (Some(Role::Key), [n, _]) => rows.key = Some(*n),
            (Some(Role::Value), [n, _]) => rows.value = Some(*n),
            (Some(Role::Latent), [n, _]) => rows.latent = Some(*n),
            (Some(Role::QueryNorm), [n]) => rows.query_norm = Some(*n),
            (Some(Role::Up), [n, _]) => rows.up = Some(*n),
            _ => {}
        }
    }

    /// Counts the held tensors, and writes all totals to the summary.
    pub(super) fn finish(mut self, settings: &Settings, summary: &mut ModelSummary) -> Counted {
        let mut unknown = 0_u64;
        for (_, group) in core::mem::take(&mut self.held) {
            let words = group.iter().any(|held| held.kind != Packed::Beside);
            for held in &group {
                let elements = elements(&held.shape);
                let (parameters, others) = match held.kind {
                    Packed::Beside if words => (0, elements),
                    Packed::Beside => (elements, 0),
                    _ => match factor(held, &group, settings) {
                        Some(factor) => (elements.saturating_mul(factor), 0),
                        None => {
                            unknown += 1;
                            (elements, 0)
                        }
                    },
                };
                self.add(&held.name, held.dtype, parameters, others, held.bytes);
            }
        }
        if unknown > 0 {
            let tensors = crate::base::text::plural(unknown, "tensor");
            note(
                &mut summary.notes,
                format!(
                    "{tensors} may pack several parameters into each element, but neither shapes nor settings say so: elements are counted"
                ),
            );
        }
        self.hand_out(summary)
    }

    fn hand_out(self, summary: &mut ModelSummary) -> Counted {
        let mut counted = Counted {
            experts: found(&self.parts, ModelPart::Experts).map_or(0, |share| share.parameters),
            parameters: self.all.parameters,
            embedding: self.embedding,
            ahead: self.ahead,
            ..Counted::default()
        };
        let weight = |blocks: &BTreeMap<u64, Block>| {
            blocks.values().fold(0_u64, |sum, block| sum.saturating_add(block.share.parameters))
        };
        if let Some((_, main)) = self.stacks.iter().max_by_key(|(_, blocks)| weight(blocks)) {
            counted.rows = main.values().map(|block| block.rows).collect();
            let experts = |block: &Block| found(&block.parts, ModelPart::Experts);
            let shares = main.iter().map(|(number, block)| {
                (*number, [block.share.parameters, experts(block).unwrap_or(0)])
            });
            counted.blocks = shares.collect();
            counted.stacked = main.values().filter_map(|block| block.stacked).max();
            let numbered = main.values().map(|block| block.experts.len() as u64).max();
            counted.numbered = numbered.filter(|experts| *experts > 0);
        }
        summary.all = self.all;
        summary.without_data = self.without_data;
        summary.others = self.others;
        summary.dtypes = self.dtypes;
        summary.dtypes.sort_by_key(|(_, share)| core::cmp::Reverse(share.bytes));
        let parts = ModelPart::ALL.into_iter();
        summary.parts = parts.filter_map(|part| Some((part, found(&self.parts, part)?))).collect();
        for (stack, blocks) in self.stacks {
            summary.blocks.extend(blocks.into_iter().map(|(number, block)| ModelBlock {
                stack: stack.clone(),
                number,
                share: block.share,
                parts: block.parts,
            }));
        }
        counted
    }
}

/// The value of a key in a short sorted list, added if it is missing.
fn entry<K: Copy + Ord, V: Default>(all: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = all.binary_search_by(|(other, _)| other.cmp(&key)).unwrap_or_else(|at| {
        all.insert(at, (key, V::default()));
        at
    });
    &mut all[at].1
}

/// The value of a part, if there is one.
fn found<V: Copy>(all: &[(ModelPart, V)], part: ModelPart) -> Option<V> {
    all.iter().find_map(|(other, value)| (*other == part).then_some(*value))
}

/// Parameters per element of a packed tensor, if certain.
fn factor(held: &Held, group: &[Held], settings: &Settings) -> Option<u64> {
    let beside = |suffix: &str| {
        group.iter().find(|it| it.name.ends_with(suffix)).map(|it| it.shape.as_slice())
    };
    let in_word = |bits: u64| (bits > 0 && 32 % bits == 0).then(|| 32 / bits);
    match held.kind {
        Packed::Beside => None,
        Packed::Pairs => Some(2),
        Packed::Compressed => settings.bits().and_then(in_word),
        // bitsandbytes packs pairs of 4 bits into a column of bytes; nothing else stores such a
        // column.
        Packed::Integers if matches!(held.dtype, DType::U8 | DType::I8) => {
            match (held.shape.as_slice(), held.dtype) {
                ([_, 1], _) => Some(2),
                (_, DType::I8) => Some(1),
                // May be pairs of 4 bits too, as in NVFP4.
                _ => None,
            }
        }
        Packed::Integers => match beside(".scales") {
            Some(_) => settings.bits().and_then(in_word),
            None => Some(1),
        },
        Packed::Words => {
            let [rows, columns] = held.shape.as_slice() else { return None };
            let by_shape = match (beside(".g_idx"), beside(".scales")) {
                // GPTQ: a row packs 32 / bits rows of the weight, each with a number in `g_idx`.
                (Some([n]), _) if *rows > 0 && n % rows == 0 => Some(n / rows),
                // AWQ: a column packs as many columns of the weight.
                (None, Some([_, n])) if *columns > 0 && n > columns && n % columns == 0 => {
                    Some(n / columns)
                }
                _ => None,
            };
            by_shape.or_else(|| settings.bits().and_then(in_word))
        }
    }
}
