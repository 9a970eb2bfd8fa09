//! Names as paths: a line for each folder, before the tensors in it.

use std::io::{self, Write};

/// The folders that are open.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    open: Vec<String>,
}

impl Tree {
    /// Writes the folders that begin before this name, and returns its last part, indented.
    pub(crate) fn enter(&mut self, name: &str, out: &mut dyn Write) -> io::Result<String> {
        let mut parts: Vec<&str> = name.split('.').collect();
        let leaf = parts.pop().unwrap_or_default();
        let same = self.open.iter().zip(&parts).take_while(|(open, part)| open == part).count();
        self.open.truncate(same);
        for part in parts.iter().skip(same) {
            writeln!(out, "  {:indent$}{part}", "", indent = self.open.len() * 2)?;
            self.open.push((*part).to_owned());
        }
        Ok(format!("{:indent$}{leaf}", "", indent = self.open.len() * 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_written_once() {
        let (mut tree, mut out) = (Tree::default(), Vec::new());
        let names = ["a.b.w", "a.b.x", "a.c", "d"];
        let leaves = names.map(|name| tree.enter(name, &mut out).expect("room in memory"));
        assert_eq!(leaves, ["    w", "    x", "  c", "d"]);
        assert_eq!(String::from_utf8(out).expect("it is text"), "  a\n    b\n");
    }
}
