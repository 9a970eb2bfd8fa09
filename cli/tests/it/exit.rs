//! The table of exit codes in docs/cli.md: one run per cell.

use super::*;
use weighbridge_tests::encode::{npy, npz, safetensors};

/// The cells of the table: command, code, text.
pub(super) fn table() -> Vec<(String, i32, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let docs = std::fs::read_to_string(path).expect("the documentation");
    let (_, rows) = docs.split_once("| command | 0 | 1 | 2 | 3 |\n").expect("the table");
    let rows = rows.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let cells: Vec<_> =
            row.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect();
        let command = cells[0].trim_matches('`').to_owned();
        cells
            .into_iter()
            .skip(1)
            .zip(0..)
            .map(move |(text, code)| (command.clone(), code, text))
            .collect()
    };
    rows.flat_map(|row| -> Vec<_> { cells(row) }).collect()
}

#[test]
fn exit_code_table_matches_the_command() {
    let folder = Folder::new();
    folder.write("valid.stb", &sound().encode());
    folder.write("invalid.stb", &with_flags());
    folder.write("broken.stb", &sound().encode()[..190]);
    folder.write("unknown.stb", &with_unknown_type());
    folder.write("pickle", b"\x80\x02}q\0.");
    let mut other = sound();
    other.tensors[1].payload[0] ^= 1;
    folder.write("other.stb", &other.encode());
    let weights = |dtype, data| {
        let tensor = safetensors::Tensor { data, ..safetensors::Tensor::new("w", dtype, &[1]) };
        safetensors::File { metadata: None, tensors: vec![tensor] }.encode()
    };
    folder.write("one.safetensors", &weights("F32", 1.0_f32.to_le_bytes().to_vec()));
    folder.write("nan.safetensors", &weights("F32", f32::NAN.to_le_bytes().to_vec()));
    folder.write("complex.safetensors", &weights("C64", vec![0; 8]));
    let folders = ["empty", "fine", "loads", "code", "unknown", "texts"];
    let more = ["broken", "pickled", "other", "download", "shard", "pointer", "blobs", "web"];
    for name in folders.into_iter().chain(more) {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    folder.write("broken/a.stb", &sound().encode()[..190]);
    folder.write("pickled/args.bin", b"\x80\x02cposix\nsystem\n(tR.");
    folder.write("other/config.json", br#"{"vocab_size": 2, "hidden_size": 2}"#);
    let tensor = safetensors::Tensor::new("embed_tokens.weight", "F32", &[2, 3]);
    let other = safetensors::File { metadata: None, tensors: vec![tensor] }.encode();
    folder.write("other/model.safetensors", &other);
    folder.write("download/a.stb.incomplete", b"STB");
    folder.write("shard/m-00001-of-00002.safetensors", &other);
    for name in ["fine/a.stb", "loads/a.stb", "code/a.stb", "unknown/a.stb"] {
        folder.write(name, &sound().encode());
    }
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    folder.write("pointer/tokenizer.model", pointer);
    folder.write("pointer/a.stb", &sound().encode());
    folder.write(&format!("blobs/sha256-{}", "0".repeat(64)), &sound().encode());
    folder.write("web/page.bin", b"<!DOCTYPE html><html></html>");
    folder.write("two.safetensors", &{
        let tensor = |name| safetensors::Tensor::new(name, "F32", &[1]);
        let tensors = vec![tensor("v"), tensor("w")];
        safetensors::File { metadata: None, tensors }.encode()
    });
    // A stream that ends too early is found by whoever decodes it.
    let array = npy::Npy::new("'<f8'", 8, &[5_000, 40]);
    let mut packed = npz::Npz::new(vec![npz::Member::new("a", &array).deflated()]).encode();
    let at = packed.windows(4).position(|it| it == b"PK\x01\x02").expect("a directory");
    packed[at - 8..at].fill(0xFF);
    folder.write("packed.npz", &packed);
    let index = weighbridge_tests::encode::shards::Index::of(None, &[("w", "one.safetensors")]);
    folder.write("m.safetensors.index.json", &index.encode());
    folder.write("fine/config.json", b"{}");
    folder.write("texts/README.md", b"# texts");
    folder.write("loads/config.json", br#"{"auto_map": {"AutoModel": "x.Model"}}"#);
    folder.write("code/helper.py", b"print()");
    folder.write("unknown/data", b"\0\x01\x02\xFF");
    let runs: &[(&str, i32, &[&[&str]])] = &[
        ("check", 0, &[&["valid.stb"], &["invalid.stb", "--lenient"]]),
        (
            "check",
            1,
            &[
                &["invalid.stb"],
                &["pickle", "--deny", "pickle"],
                &["pickle", "none", "invalid.stb"],
            ],
        ),
        (
            "check",
            2,
            &[
                &["none"],
                &["empty"],
                &["valid.stb", "--deny", "NO"],
                &["valid.stb", "--config", "none"],
                &["none", "pickle"],
                &[],
            ],
        ),
        ("check", 3, &[&["pickle"], &["unknown.stb"], &["pickle", "valid.stb"]]),
        (
            "check FOLDER",
            0,
            &[
                &["fine"],
                &["loads", "--allow-code"],
                &["code", "--allow-code"],
                &["unknown", "--skip-unknown"],
            ],
        ),
        (
            "check FOLDER",
            1,
            &[
                &["loads"],
                &["loads", "--skip-unknown"],
                &["."],
                &["broken"],
                &["code", "--deny", "CODE"],
                &["pickled"],
                &["pickled", "--skip-unknown"],
                &["other"],
                &["pointer", "--skip-unknown"],
                &["blobs"],
            ],
        ),
        (
            "check FOLDER",
            2,
            &[&["empty"], &["texts"], &["fine", "none"], &["fine", "--deny", "NO"]],
        ),
        (
            "check FOLDER",
            3,
            &[
                &["code"],
                &["code", "--skip-unknown"],
                &["unknown"],
                &["download", "--skip-unknown"],
                &["web", "--skip-unknown", "--allow-code"],
                &["shard", "--skip-unknown"],
            ],
        ),
        ("inspect", 0, &[&["valid.stb"]]),
        ("inspect", 1, &[&["invalid.stb"]]),
        ("inspect", 2, &[&["none"], &["empty"], &["valid.stb", "--values", "x"]]),
        ("inspect", 3, &[&["pickle"], &["unknown.stb", "--values", "1"]]),
        ("extract", 0, &[&["valid.stb", "0", "-o", "0.npy"]]),
        ("extract", 1, &[&["broken.stb", "1", "-o", "1.npy"]]),
        (
            "extract",
            2,
            &[
                &["none", "0"],
                &["valid.stb", "7"],
                &["valid.stb"],
                &["valid.stb", "0", "-o", "none/x.npy"],
            ],
        ),
        ("extract", 3, &[&["pickle", "0"], &["unknown.stb", "1", "-o", "1.npy"]]),
        ("convert", 0, &[&["valid.stb", "out.safetensors"]]),
        ("convert", 1, &[&["invalid.stb", "no"], &["broken.stb", "no"]]),
        (
            "convert",
            2,
            &[
                &["none", "no"],
                &["valid.stb"],
                &["valid.stb", "none/no"],
                &["valid.stb", "out.safetensors"],
            ],
        ),
        ("convert", 3, &[&["unknown.stb", "no"], &["pickle", "no"]]),
        ("digest", 0, &[&["valid.stb"], &["invalid.stb", "--lenient"]]),
        ("digest", 1, &[&["invalid.stb"], &["broken.stb"], &["packed.npz"]]),
        ("digest", 2, &[&["none"], &["empty"], &[]]),
        ("digest", 3, &[&["unknown.stb"], &["pickle"]]),
        ("stats", 0, &[&["one.safetensors"]]),
        ("stats", 1, &[&["nan.safetensors"], &["invalid.stb"], &["broken.stb"], &["packed.npz"]]),
        ("stats", 2, &[&["none"], &["empty"], &["one.safetensors", "--output", "xml"], &[]]),
        ("stats", 3, &[&["complex.safetensors"], &["pickle"], &["m.safetensors.index.json"]]),
        ("digest --compare", 0, &[&["valid.stb", "valid.stb"]]),
        (
            "digest --compare",
            1,
            &[
                &["valid.stb", "other.stb"],
                &["invalid.stb", "invalid.stb"],
                &["one.safetensors", "two.safetensors"],
                &["two.safetensors", "one.safetensors"],
            ],
        ),
        ("digest --compare", 2, &[&["valid.stb", "none"], &["valid.stb"]]),
        ("digest --compare", 3, &[&["unknown.stb", "unknown.stb"]]),
        ("rules", 0, &[&[], &["stb"]]),
        ("rules", 2, &[&["tar"]]),
        ("explain", 0, &[&["H-FLAGS"]]),
        ("explain", 2, &[&["NO"], &["H-FLAGS", "--format", "gguf"]]),
        ("completions", 0, &[&["bash"]]),
        ("completions", 2, &[&["none"]]),
        ("man", 0, &[&[], &["check"]]),
        ("man", 2, &[&["none"]]),
    ];
    for (name, code, all) in runs {
        for args in *all {
            let words = name.split(' ').filter(|word| *word != "FOLDER");
            let args: Vec<_> = words.chain(args.iter().copied()).collect();
            let run = run(&folder, &args);
            assert_eq!(run.code, *code, "{args:?}: {run:?}");
        }
    }
    let cells = table();
    assert_eq!(cells.len(), 13 * 4, "{cells:?}");
    // Servers are tested separately.
    for (name, code, text) in cells.into_iter().filter(|(name, ..)| !name.contains("://")) {
        let has_run = runs.iter().any(|(run, of, _)| *run == name && *of == code);
        assert_eq!(has_run, text != "–", "{name} {code}: {text}");
    }
}

/// A link that leads out of a folder, and a file that cannot be read.
#[cfg(unix)]
#[test]
fn links_and_unreadable_files_of_a_folder_do_not_pass() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("m")).expect("a folder");
    folder.write("m/a.stb", &sound().encode());
    folder.write("b.stb", &sound().encode());
    symlink("../b.stb", folder.path().join("m/b.stb")).expect("a link");
    for (args, code) in
        [(&["m"][..], 3), (&["m", "--skip-unknown"], 3), (&["m", "--follow-links"], 0)]
    {
        let found = run(&folder, &[&["check"], args].concat());
        assert_eq!(found.code, code, "{args:?}: {found:?}");
    }
    std::fs::remove_file(folder.path().join("m/b.stb")).expect("it is there");
    let path = folder.write("m/c.stb", &sound().encode());
    let none = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&path, none).expect("it is ours");
    // The superuser reads it nevertheless.
    let expected = if std::fs::read(&path).is_ok() { 0 } else { 2 };
    assert_eq!(run(&folder, &["check", "m"]).code, expected);
}
