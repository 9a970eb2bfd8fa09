//! Writes the files of `weighbridge_tests::hard` to a folder, for `scripts/hard.sh`.

use std::path::Path;
use weighbridge_core::Format;
use weighbridge_tests::hard::{self, Ranges};

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).expect("a folder");
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let write = |what: &str, format: Format, bytes: Vec<u8>| {
        let extension = format.extensions().first().expect("every format has one");
        let what = what.replace(' ', "-");
        std::fs::write(folder.join(format!("{what}.{extension}")), bytes)
    };
    for format in hard::FORMATS {
        write("million", format, hard::many(format, 1_000_000, Ranges::Apart))?;
        for (what, ranges) in [
            ("overlap-equal", Ranges::Equal),
            ("overlap-within", Ranges::Within),
            ("overlap-staggered", Ranges::Staggered),
        ] {
            write(what, format, hard::many(format, 100_000, ranges))?;
        }
        let name = |last: u8| [&vec![b'n'; 64 << 10][..], &[last]].concat();
        let names: Vec<_> = (b'a'..=b'z').map(name).collect();
        write("names", format, hard::named(format, &names))?;
    }
    write("missing", Format::Shards, hard::missing(100_000))?;
    for (what, format, bytes) in hard::nested(10_000) {
        write(&format!("nested-{what}"), format, bytes)?;
    }
    for (what, format, bytes) in hard::shared(20_000, 1 << 20) {
        write(&format!("shared-{what}"), format, bytes)?;
    }
    for (what, format, bytes, _) in hard::payloads(1 << 20) {
        write(&format!("payload-{what}"), format, bytes)?;
    }
    for (what, bytes, _) in hard::messages(100_000) {
        write(&format!("messages-{what}"), Format::Onnx, bytes)?;
    }
    write("operators", Format::Tflite, hard::chain(91_000))?;
    write("repeated", Format::Tflite, hard::repeated(1_000))?;
    for (what, bytes) in hard::operations(1_000_000) {
        write(&format!("operation-{what}"), Format::PyTorch, bytes)?;
    }
    for (what, bytes) in hard::pickles(60_000) {
        write(&format!("pickle-{what}"), Format::PyTorch, bytes)?;
    }
    Ok(())
}
