//! Names as paths: a line for each folder, before the tensors in it.

use std::io::{self, Write};
use weighbridge::Text;

/// The folders that are open.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    open: Vec<String>,
}

impl Tree {
    /// Writes the folders that begin before a tensor, and returns the last part of its name, indented.
    /// Dots divide a name. If the keys of its path are known, they divide a key as well, and each part of
    /// a key after the first begins with its dot.
    pub(crate) fn enter(
        &mut self,
        name: &str,
        path: Option<&[Text]>,
        out: &mut dyn Write,
    ) -> io::Result<String> {
        let mut parts: Vec<String> = match path {
            Some(keys) => keys.iter().flat_map(parts).collect(),
            None => name.split('.').map(str::to_owned).collect(),
        };
        let leaf = parts.pop().unwrap_or_default();
        let same = self.open.iter().zip(&parts).take_while(|(open, part)| open == part).count();
        self.open.truncate(same);
        for part in parts.into_iter().skip(same) {
            writeln!(out, "  {:indent$}{part}", "", indent = self.open.len() * 2)?;
            self.open.push(part);
        }
        Ok(format!("{:indent$}{leaf}", "", indent = self.open.len() * 2))
    }
}

/// The parts of a key.
fn parts(key: &Text) -> Vec<String> {
    let key = key.to_string();
    let parts = key.split('.').enumerate();
    parts.map(|(i, part)| if i == 0 { part.to_owned() } else { format!(".{part}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_written_once() {
        let (mut tree, mut out) = (Tree::default(), Vec::new());
        let names = ["a.b.w", "a.b.x", "a.c", "d"];
        let leaves = names.map(|name| tree.enter(name, None, &mut out).expect("room in memory"));
        assert_eq!(leaves, ["    w", "    x", "  c", "d"]);
        assert_eq!(String::from_utf8(out).expect("it is text"), "  a\n    b\n");
    }

    #[test]
    fn dots_in_keys_are_shown() {
        let (mut tree, mut out) = (Tree::default(), Vec::new());
        let paths = [["model", "a.b.w"], ["model", "a.b.x"], ["model.a", "w"]];
        let leaves = paths.map(|keys| {
            let keys = keys.map(Text::from);
            tree.enter("", Some(&keys), &mut out).expect("room in memory")
        });
        assert_eq!(leaves, ["      .w", "      .x", "    w"]);
        let folders = "  model\n    a\n      .b\n    .a\n";
        assert_eq!(String::from_utf8(out).expect("it is text"), folders);
    }
}
