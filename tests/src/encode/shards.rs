//! Writes the index of a sharded checkpoint like `save_pretrained`.

use super::safetensors::quote;
use proptest::prelude::*;

/// An index to be encoded.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// `metadata.total_size`; an empty `metadata` if `None`.
    pub total: Option<u64>,
    /// Tensor names and the names of their files.
    pub map: Vec<(String, String)>,
}

/// The file name of shard `i` of `count`, counted from 1.
pub fn shard(i: usize, count: usize) -> String {
    format!("model-{i:05}-of-{count:05}.safetensors")
}

impl Index {
    /// An index of these names and files.
    pub fn of(total: Option<u64>, map: &[(&str, &str)]) -> Index {
        let own = |(name, file): &(&str, &str)| ((*name).to_owned(), (*file).to_owned());
        Index { total, map: map.iter().map(own).collect() }
    }

    /// Encodes the file, indented by two spaces.
    pub fn encode(&self) -> Vec<u8> {
        let entry =
            |(name, file): &(String, String)| format!("    {}: {}", quote(name), quote(file));
        let entries: Vec<_> = self.map.iter().map(entry).collect();
        let metadata = match self.total {
            Some(total) => format!("  \"metadata\": {{\n    \"total_size\": {total}\n  }},\n"),
            None => "  \"metadata\": {},\n".into(),
        };
        let map = if entries.is_empty() {
            "{}".into()
        } else {
            format!("{{\n{}\n  }}", entries.join(",\n"))
        };
        format!("{{\n{metadata}  \"weight_map\": {map}\n}}\n").into_bytes()
    }
}

/// Any sound index.
pub fn arbitrary() -> impl Strategy<Value = Index> {
    let names = prop::collection::btree_map("[ -~é漢]{0,20}", 1_usize..4, 0..20);
    (prop::option::of(any::<u64>()), names).prop_map(|(total, names)| Index {
        total,
        map: names.into_iter().map(|(name, i)| (name, shard(i, 3))).collect(),
    })
}
