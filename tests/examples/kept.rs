//! Writes all inputs of the fuzz targets for another machine: `kept FOLDER` creates
//! `FOLDER/digests.tsv`, with a line per input that gives its target, its name and a digest of the
//! target's result on this machine, and the inputs as `FOLDER/0`, `FOLDER/1` and so on.

use std::io::Write;
use std::path::PathBuf;
use weighbridge_fuzz_bodies::{budget, digest, kept};

#[global_allocator]
static ALLOCATOR: budget::Counting = budget::Counting;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("a folder"));
    std::fs::create_dir_all(&folder)?;
    let mut digests = std::fs::File::create(folder.join("digests.tsv"))?;
    for (i, kept) in kept::portable().iter().enumerate() {
        std::fs::write(folder.join(i.to_string()), &kept.input)?;
        let seen = digest(kept.target, &kept.input);
        writeln!(digests, "{}\t{}\t{seen:x}", kept.target, kept.name)?;
    }
    Ok(())
}
