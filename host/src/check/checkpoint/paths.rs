//! Where in the object the result of an import lies: the keys that lead to it.

use super::values::{Id, Value, Values};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::pickle::Spelling;

/// Most bytes of a key that are shown, and of a path.
const KEY: usize = 128;
const PATH: usize = 1 << 10;

/// The paths of what a pickle imports.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// By the offset of the import.
    of: BTreeMap<u64, String>,
}

/// How a value is reached.
#[derive(Clone, Copy)]
struct Way {
    from: Id,
    step: Step,
}

#[derive(Clone, Copy)]
enum Step {
    Key(Id),
    Index(usize),
    /// It is a key itself.
    IsKey,
    /// An argument, a state or an id belongs to what is made of it.
    Part,
}

/// The object has no way.
const ROOT: Id = Id::MAX;

impl Paths {
    /// Follows the pickle that begins at `from` in `bytes`. Without paths if it is broken.
    pub(crate) fn of(bytes: &[u8], from: u64) -> Paths {
        let Some(values) = Values::of(bytes, from, &mut |_| {}) else { return Paths::default() };
        let mut found =
            Search { values: &values, ways: vec![None; values.len()], lands: Vec::new() };
        found.run();
        let mut of = BTreeMap::new();
        for (import, id) in &found.lands {
            of.entry(values.place(*import)).or_insert_with(|| found.path(*id, bytes));
        }
        Paths { of }
    }

    /// The path of what the import at this offset makes, or of the import itself if nothing calls it;
    /// empty for the object as a whole. `None` if the object does not have it.
    pub(crate) fn get(&self, import: u64) -> Option<&str> {
        self.of.get(&import).map(String::as_str)
    }
}

/// Opens arguments, or a persistent id: they belong to what is made of them, and so do the items of a
/// tuple.
fn parts_of(values: &Values, id: Id, reach: &mut dyn FnMut(Id, Step)) {
    match values.tuple(id) {
        Some(parts) => parts.iter().for_each(|id| reach(*id, Step::Part)),
        None => reach(id, Step::Part),
    }
}

/// A walk over the object that looks at each value once.
struct Search<'v> {
    values: &'v Values,
    ways: Vec<Option<Way>>,
    /// Imports, and the values that they lead to: results of calls come first.
    lands: Vec<(Id, Id)>,
}

impl Search<'_> {
    fn run(&mut self) {
        let Some(root) = self.values.root() else { return };
        let mut open = Vec::new();
        self.reach(root, Way { from: ROOT, step: Step::Part }, &mut open);
        let mut plain = Vec::new();
        while let Some(id) = open.pop() {
            match self.values.get(id) {
                Value::Global(_) => plain.push((id, id)),
                Value::Made(made) => self.lands.push((made.function, id)),
                _ => {}
            }
            self.children(id, &mut open);
        }
        self.lands.append(&mut plain);
    }

    fn reach(&mut self, id: Id, way: Way, open: &mut Vec<Id>) {
        if let Some(known @ None) = self.ways.get_mut(id as usize) {
            *known = Some(way);
            open.push(id);
        }
    }

    /// Opens what a value holds, so that the first part is looked at first.
    fn children(&mut self, id: Id, open: &mut Vec<Id>) {
        let values = self.values;
        let from = open.len();
        let mut reach = |child: Id, step| self.reach(child, Way { from: id, step }, open);
        let items = |items: &[Id], reach: &mut dyn FnMut(Id, Step)| {
            items.iter().enumerate().for_each(|(index, id)| reach(*id, Step::Index(index)));
        };
        let pairs = |pairs: &[(Id, Id)], reach: &mut dyn FnMut(Id, Step)| {
            for (key, value) in pairs {
                reach(*key, Step::IsKey);
                reach(*value, Step::Key(*key));
            }
        };
        match values.get(id) {
            Value::Tuple(parts) => items(values.items(*parts), &mut reach),
            Value::List(parts) | Value::Set(parts) => items(parts, &mut reach),
            Value::Dict(of) => pairs(of, &mut reach),
            Value::Persistent(of) => parts_of(values, *of, &mut reach),
            Value::Made(made) => {
                pairs(&made.pairs, &mut reach);
                items(&made.items, &mut reach);
                parts_of(values, made.args, &mut reach);
                made.state.into_iter().for_each(|id| reach(id, Step::Part));
            }
            _ => {}
        }
        open.get_mut(from..).unwrap_or_default().reverse();
    }

    /// The keys from the object to a value, joined by dots.
    fn path(&self, mut id: Id, bytes: &[u8]) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut len = 0;
        while let Some(Some(Way { from, step })) = self.ways.get(id as usize) {
            let part = match step {
                Step::Key(key) => Some(self.key(*key, bytes)),
                Step::Index(index) => Some(index.to_string()),
                Step::IsKey => Some("#key".to_string()),
                Step::Part => None,
            };
            len += part.as_ref().map_or(0, |part| part.len() + 1);
            if len > PATH {
                parts.push("\u{2026}".to_string());
                break;
            }
            parts.extend(part);
            id = *from;
        }
        parts.reverse();
        parts.join(".")
    }

    fn key(&self, id: Id, bytes: &[u8]) -> String {
        match self.values.get(id) {
            Value::Text(span, spelling) => {
                let from = usize::try_from(span.offset).unwrap_or(usize::MAX);
                let len = usize::try_from(span.len).unwrap_or(usize::MAX);
                let text = bytes.get(from..).unwrap_or_default();
                let text = text.get(..len).unwrap_or_default();
                let text = match (spelling, text.trim_ascii()) {
                    (Spelling::Quoted, [_, inner @ .., _]) => inner,
                    _ => text,
                };
                let cut = text.len() > KEY;
                let shown = String::from_utf8_lossy(text.get(..KEY).unwrap_or(text)).into_owned();
                if cut { shown + "\u{2026}" } else { shown }
            }
            Value::Int(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Bool(true) => "True".to_string(),
            Value::Bool(false) => "False".to_string(),
            Value::None => "None".to_string(),
            _ => "#key".to_string(),
        }
    }
}
