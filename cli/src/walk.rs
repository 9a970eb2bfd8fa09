//! From the paths of the command line to the files that are to be checked.

use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;
use weighbridge::Text;

/// One thing to be checked, or to be complained about.
#[derive(Debug)]
pub(crate) enum Input {
    File(PathBuf),
    /// A path that led nowhere, and why.
    Failed(PathBuf, String),
}

/// What the paths of the command line lead to.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// In the order of the command line; those of a folder by name.
    pub(crate) inputs: Vec<Input>,
    /// Files in folders that are of no format.
    pub(crate) skipped: u64,
}

/// Follows `paths`. A path that is no folder is taken as it is; of a folder,
/// what `wanted` is taken, however deep it lies.
///
/// Links to files are followed, links to folders are not, so that a walk ends.
pub(crate) fn walk(paths: &[PathBuf], wanted: impl Fn(&Path) -> Result<bool, String>) -> Walked {
    let mut walked = Walked::default();
    for path in paths {
        if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
            walked.folder(path, &wanted);
        } else {
            walked.inputs.push(Input::File(path.clone()));
        }
    }
    walked
}

impl Walked {
    fn folder(&mut self, path: &Path, wanted: &impl Fn(&Path) -> Result<bool, String>) {
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(err) => {
                    let path = err.path().unwrap_or(path).to_owned();
                    let why = match err.io_error() {
                        Some(err) => err.to_string(),
                        None => Text::from(err.to_string().as_str()).to_string(),
                    };
                    self.inputs.push(Input::Failed(path, why));
                    continue;
                }
            };
            // Of a link, the kind of what it leads to; if that is nowhere, the
            // link is taken for a file and fails when it is looked into.
            let linked = entry.path_is_symlink();
            let kind = match fs::metadata(entry.path()) {
                Ok(metadata) if linked => metadata.file_type(),
                _ => entry.file_type(),
            };
            if kind.is_dir() {
                continue;
            }
            match wanted(entry.path()) {
                Ok(true) => self.inputs.push(Input::File(entry.into_path())),
                Ok(false) => self.skipped += 1,
                Err(why) => self.inputs.push(Input::Failed(entry.into_path(), why)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_extension(path: &Path) -> Result<bool, String> {
        Ok(path.extension().is_some_and(|ext| ext == "stb"))
    }

    fn names(walked: &Walked) -> Vec<String> {
        let name = |input: &Input| match input {
            Input::File(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
            Input::Failed(path, why) => Some(format!("{}: {why}", path.display())),
        };
        walked.inputs.iter().filter_map(name).collect()
    }

    #[test]
    fn a_folder_gives_its_files_by_name_and_counts_the_others() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::create_dir_all(folder.path().join("b/deep"))?;
        for name in ["z.stb", "a.stb", "b/deep/m.stb", "README.md", "b/notes"] {
            fs::write(folder.path().join(name), b"")?;
        }
        let walked = walk(&[folder.path().to_owned()], by_extension);
        assert_eq!(names(&walked), ["a.stb", "m.stb", "z.stb"]);
        assert_eq!(walked.skipped, 2);
        Ok(())
    }

    #[test]
    fn a_path_that_is_no_folder_is_taken_as_it_is() {
        let paths = [PathBuf::from("no-such-file"), PathBuf::from("Cargo.toml")];
        let walked = walk(&paths, |_| panic!("only a walk asks"));
        assert_eq!(names(&walked), ["no-such-file", "Cargo.toml"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_are_followed_and_loops_end() -> std::io::Result<()> {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("blob"), b"")?;
        symlink("blob", folder.path().join("model.stb"))?;
        symlink(".", folder.path().join("loop.stb"))?;
        symlink("nowhere", folder.path().join("dangling.stb"))?;
        let walked = walk(&[folder.path().to_owned()], by_extension);
        assert_eq!(names(&walked), ["dangling.stb", "model.stb"]);
        assert_eq!(walked.skipped, 1);
        Ok(())
    }
}
