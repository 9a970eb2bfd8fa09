//! Selects the files of folders and lists to check.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::Path;

/// Selects the files of a folder or a list to check.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// If present, only these files are checked.
    pub(super) include: Option<GlobSet>,
    pub(super) exclude: GlobSet,
    pub(super) follow_links: bool,
}

impl Filter {
    /// # Errors
    /// A sentence, if a pattern is invalid.
    pub(crate) fn new<'g>(
        include: impl IntoIterator<Item = &'g String>,
        exclude: impl IntoIterator<Item = &'g String>,
        follow_links: bool,
    ) -> Result<Self, String> {
        let include = globs(include)?;
        let include = Some(include).filter(|globs| !globs.is_empty());
        Ok(Filter { include, exclude: globs(exclude)?, follow_links })
    }

    /// Whether no file is left out.
    pub(crate) fn is_all(&self) -> bool {
        self.include.is_none() && self.exclude.is_empty()
    }

    /// Whether the file at this path, below its folder or as a list has it, is checked.
    pub(crate) fn wants(&self, path: &Path) -> bool {
        let included = self.include.as_ref().is_none_or(|globs| globs.is_match(path));
        included && !self.exclude.is_match(path)
    }

    /// The same for a path whose folders were not visited one by one.
    pub(super) fn wants_below(&self, path: &Path) -> bool {
        self.wants(path) && !path.ancestors().any(|folder| self.exclude.is_match(folder))
    }
}

/// Patterns for paths below a folder. One without a slash matches a name at any depth.
fn globs<'g>(patterns: impl IntoIterator<Item = &'g String>) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let plain = pattern.strip_suffix('/').unwrap_or(pattern);
        let whole = if plain.contains('/') { plain.to_owned() } else { format!("**/{plain}") };
        let whole = whole.strip_prefix('/').unwrap_or(&whole);
        let glob = GlobBuilder::new(whole).literal_separator(true).build();
        set.add(glob.map_err(|err| format!("the pattern {pattern:?}: {}", err.kind()))?);
    }
    set.build().map_err(|err| err.to_string())
}
