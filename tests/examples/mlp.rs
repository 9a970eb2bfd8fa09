//! Trains the firmware's model and writes it in each format to
//! `firmware/models`.

use std::path::Path;
use weighbridge_tests::mlp::{Mlp, POINTS, class};

fn main() -> std::io::Result<()> {
    let model = Mlp::trained();
    for point in POINTS {
        println!("{point:?}: {:?}, class {}", model.run(point), class(point));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/models");
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in model.files() {
        println!("{name}: {} bytes", bytes.len());
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
