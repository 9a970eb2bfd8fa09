//! Writes every fixture to a folder, for tests that are not in Rust:
//! `fixtures FOLDER` makes `FOLDER/FORMAT/NAME.EXTENSION`.

use std::path::PathBuf;
use weighbridge::Format;
use weighbridge_tests::fixtures;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("a folder"));
    for (name, all) in fixtures::all() {
        let format = Format::by_name(name).expect("fixtures have the names of formats");
        let extension = format.extensions().first().expect("every format has an extension");
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        for fixture in all {
            std::fs::write(folder.join(format!("{}.{extension}", fixture.name)), &fixture.bytes)?;
        }
    }
    Ok(())
}
