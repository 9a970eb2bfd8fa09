//! Writes the seeds of our encoders: `seeds FOLDER` creates
//! `FOLDER/TARGET/NAME`.

use std::path::PathBuf;
use weighbridge_fuzz_bodies::seeds;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("a folder"));
    for (target, seeds) in seeds::all() {
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder)?;
        for (name, bytes) in &seeds {
            std::fs::write(folder.join(name), bytes)?;
        }
        println!("{target}: {} seeds", seeds.len());
    }
    Ok(())
}
