//! Files that a folder must not pass with, hidden in every way that loaders and systems still see.

use super::*;
use weighbridge_tests::encode::safetensors;
use weighbridge_tests::fixtures;

/// A pickle that runs something.
const EVIL: &[u8] = b"\x80\x02cposix\nsystem\n(tR.";

fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("m")).expect("a folder");
    let tensors = vec![safetensors::Tensor::new("w", "F32", &[2])];
    let model = safetensors::File { metadata: None, tensors }.encode();
    folder.write("m/model.safetensors", &model);
    folder
}

/// A tar archive of one file; the oldest ones have no magic.
fn tar(magic: bool, name: &str, data: &[u8]) -> Vec<u8> {
    let tar = tar_of_kind(b'0', name, data);
    if magic { tar } else { without_magic(tar) }
}

fn tar_of_kind(kind: u8, name: &str, data: &[u8]) -> Vec<u8> {
    let mut tar = vec![0; 512];
    tar[..name.len()].copy_from_slice(name.as_bytes());
    tar[124..136].copy_from_slice(format!("{:011o}\0", data.len()).as_bytes());
    tar[156] = kind;
    tar[257..262].copy_from_slice(b"ustar");
    tar.extend(data);
    tar.resize(1_536, 0);
    summed(tar)
}

fn without_magic(mut tar: Vec<u8>) -> Vec<u8> {
    tar[257..262].fill(0);
    tar[156] = 0;
    summed(tar)
}

fn summed(mut tar: Vec<u8>) -> Vec<u8> {
    tar[148..156].fill(b' ');
    let sum: u32 = tar[..512].iter().map(|byte| u32::from(*byte)).sum();
    tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    tar
}

/// An HDF5 file behind a block of the user.
fn behind(len: usize, text: &[u8]) -> Vec<u8> {
    [&vec![1; len], b"\x89HDF\r\n\x1A\n".as_slice(), text].concat()
}

/// Each file beside a sound model: its class, and the exit codes without options, with what a careless
/// user adds, and with code allowed but no pickle.
#[test]
fn no_option_hides_a_danger() {
    let zip = |name: &str, data: &[u8]| policy::zip(&[(name, data)]);
    let png = |rest: &[u8]| [b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0", rest].concat();
    let function = br#"{"layers": [{"module": "builtins", "class_name": "function"}]}"#;
    let piece = |bytes: &[u8]| {
        let mut model = vec![0x0A, bytes.len() as u8 + 2, 0x0A, bytes.len() as u8];
        model.extend(bytes);
        model
    };
    let auto_map = br#"{"auto_map": {"AutoModel": "net.Net"}}"#;
    let escape = b"{{ ().__class__ }}";
    let function_layer = br#"{"layers": [{"class_name": "Lambda"}]}"#;
    let long = |end: &[u8]| [b"{\"a\": \"", &vec![b'a'; 17 << 20][..], end].concat();
    // The message of a data set about its filter, and a key far from its value.
    let filtered =
        [&[0x0B, 0, 0x18, 0, 1, 0, 0, 0, 1, 1][..], &[0; 6], b"\x01\0\x08\0deflate\0"].concat();
    let spread = [b"{\"class_name\":", &vec![b' '; 600 << 10][..], b"\"Lambda\"}"].concat();
    let end = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let cases: &[(&str, Vec<u8>, &str, [i32; 3])] = &[
        // Behind what looks like media or a tokenizer, where zipfile finds it.
        ("x.png", png(&zip("a.pkl", EVIL)), "code", [1, 1, 1]),
        ("x.png", png(b"\0"), "companion", [0, 0, 0]),
        ("tokenizer.model", piece(&end), "unknown", [3, 0, 0]),
        ("tokenizer.model", piece(b"<s>"), "companion", [0, 0, 0]),
        // Packed, so that nobody looked: never skipped.
        ("x.joblib", b"x\x9C\x4B\x4C\x4A\x06\0\x02M\x01'".to_vec(), "code", [1, 1, 1]),
        ("x.dat", b"x\x9C\x4B\x4C\x4A\x06\0\x02M\x01'".to_vec(), "unknown", [3, 3, 3]),
        ("x.dat", b"7z\xBC\xAF\x27\x1C\0\x04\xFF".to_vec(), "unknown", [3, 3, 3]),
        ("x.dat", b"Rar!\x1A\x07\x01\0\xFF".to_vec(), "unknown", [3, 3, 3]),
        ("x.dat", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0".to_vec(), "unknown", [3, 3, 3]),
        (
            "x.dat",
            b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0".to_vec(),
            "unknown",
            [3, 3, 3],
        ),
        ("x.zip", zip("a", b"7z\xBC\xAF\x27\x1C\0\x04\xFF"), "unknown", [3, 3, 3]),
        ("saved_model.pb", b"\x08\x01\x12\xFF".to_vec(), "unknown", [3, 3, 3]),
        ("saved_model.pbtxt", b"meta_graphs {}".to_vec(), "unknown", [3, 3, 3]),
        ("config.pbtxt", b"backend: \"onnx\"".to_vec(), "companion", [0, 0, 0]),
        ("x.rds", b"A\n3\n262657".to_vec(), "unknown", [3, 3, 3]),
        ("x.RData", b"RDX3\nX\n\0".to_vec(), "unknown", [3, 3, 3]),
        ("x.t7", b"\x04\0\0\0\x01\0\0\0".to_vec(), "unknown", [3, 3, 3]),
        // Where other readers begin.
        ("x.dat", tar(false, "x.bin", EVIL), "code", [1, 1, 1]),
        ("x.tar", tar(true, "x.txt", b"text"), "unknown", [3, 0, 0]),
        ("x.dat", tar(false, "x.txt", b"\x01\xFF"), "unknown", [3, 0, 0]),
        ("x.tar", tar_of_kind(b'L', "././@LongLink", b"x.py"), "unknown", [3, 3, 3]),
        ("x.h5", behind(512, function), "code", [1, 1, 0]),
        ("x.h5", behind(2_048, br#"{"class_name": "Dense"}"#), "unknown", [3, 0, 0]),
        ("x.h5", behind(512, br#"{"cl\u0061ss_name": "Lambda"}"#), "code", [1, 1, 0]),
        ("x.keras", zip("config.json", br#"{"cl\u0061ss_name": "Lambda"}"#), "code", [1, 1, 0]),
        ("x.h5", behind(0, &filtered), "unknown", [3, 3, 3]),
        ("x.h5", behind(0, b"FRHP\0\x08\0\x0E\0"), "unknown", [3, 3, 3]),
        ("x.h5", behind(0, &spread), "unknown", [3, 3, 3]),
        ("x.h5", behind(0, b"pandas_type"), "unknown", [3, 3, 3]),
        ("x.h5", behind(0, br#"{"class_name": "TorchModuleWrapper"}"#), "code", [1, 1, 0]),
        // Names that a system takes for others.
        ("x.py ", b"import os".to_vec(), "code", [3, 3, 0]),
        ("X.Bat.", b"del".to_vec(), "code", [3, 3, 0]),
        ("Dockerfile", b"RUN id".to_vec(), "code", [3, 3, 0]),
        ("makefile", b"all:\n\tid".to_vec(), "code", [3, 3, 0]),
        ("run", b"\xEF\xBB\xBF#!/bin/sh\nid".to_vec(), "code", [3, 3, 0]),
        ("x.psm1", b"id".to_vec(), "code", [3, 3, 0]),
        ("x.url", b"[InternetShortcut]".to_vec(), "code", [3, 3, 0]),
        ("x", b"L\0\0\0\x01\x14\x02\0\0".to_vec(), "code", [3, 3, 0]),
        ("Makefile.txt", b"all:".to_vec(), "companion", [0, 0, 0]),
        // Settings that call functions by name.
        (
            "x.yaml",
            b"%TAG ! tag:yaml.org,2002:\n---\na: !python/name:os.system".to_vec(),
            "code",
            [1, 1, 0],
        ),
        ("x.yaml", b"a: !<tag:yaml.org,2002:python/name:os.system>".to_vec(), "code", [1, 1, 0]),
        ("x.yaml", b"a: !!pyth%6Fn/name:os.system ''".to_vec(), "code", [1, 1, 0]),
        ("x.yaml", b"a:\n  _target_: os.system".to_vec(), "code", [1, 1, 0]),
        ("x.yaml", b"a:\n  _target_: torch.nn.Linear".to_vec(), "code", [3, 3, 0]),
        ("MLmodel", b"flavors:\n  a:\n    loader_module: os".to_vec(), "code", [1, 1, 0]),
        ("MLmodel", b"loader_module: net".to_vec(), "code", [3, 3, 0]),
        ("MLmodel", b"loader_module: mlflow.sklearn".to_vec(), "companion", [0, 0, 0]),
        ("config.json", br#"{"attn_implementation": "me/kernel"}"#.to_vec(), "code", [1, 1, 0]),
        ("x.yaml", b"\xFF\xFEa\0:\0 \0!\0".to_vec(), "unknown", [3, 3, 3]),
        ("x.yaml", br#""_targ\x65t_": os.system"#.to_vec(), "code", [1, 1, 0]),
        ("x.yaml", br#"{"_targ\u0065t_": "os.system"}"#.to_vec(), "code", [1, 1, 0]),
        ("x.yml", b"\"_target\\\n_\": os.system".to_vec(), "code", [1, 1, 0]),
        ("x.yaml", b"? _target_\n: os.system".to_vec(), "code", [1, 1, 0]),
        ("x.yaml", b"k: &z _target_\nm:\n  *z : os.system".to_vec(), "code", [1, 1, 0]),
        ("x.yaml", br#""_targ\x65t_": torch.nn.Linear"#.to_vec(), "code", [3, 3, 0]),
        ("x.yaml", b"? [a, b]\n: c\nk: &z x\n*z : \"\\n\"".to_vec(), "companion", [0, 0, 0]),
        ("x.json", br#"{"_target_": "os.system"}"#.to_vec(), "code", [1, 1, 0]),
        ("x.json", br#"{"_target_": "net.Net"}"#.to_vec(), "code", [3, 3, 0]),
        ("x.json", br#"{"_target_": "torch.nn.Linear"}"#.to_vec(), "companion", [0, 0, 0]),
        ("model_index.json", br#"{"scheduler": ["os", "system"]}"#.to_vec(), "code", [1, 1, 0]),
        ("model_index.json", br#"{"scheduler": ["net", "Net"]}"#.to_vec(), "code", [3, 3, 0]),
        ("config.json", br#"{"activation_fn": "net.Act"}"#.to_vec(), "code", [1, 1, 0]),
        ("config.json", br#"{"activation_fn": "torch.nn.Tanh"}"#.to_vec(), "companion", [0, 0, 0]),
        ("adapter_config.json", br#"{"parent_library": "os"}"#.to_vec(), "code", [1, 1, 0]),
        ("x.json", br#"{"layers": [{"class_name": "Lambda"}]}"#.to_vec(), "code", [1, 1, 0]),
        ("x.skops", zip("schema.json", br#"{"__module__": "os"}"#), "code", [1, 1, 0]),
        ("x.json", br#"{"class_name": "__lambda__"}"#.to_vec(), "code", [1, 1, 0]),
        ("x.keras", zip("config.json", function), "code", [1, 1, 0]),
        ("x.h5", [b"\x89HDF\r\n\x1A\n".as_slice(), function].concat(), "code", [1, 1, 0]),
        // Settings and templates in archives.
        ("x.zip", zip("conf/x.yaml", b"_target_: os.system"), "code", [1, 1, 0]),
        ("x.zip", zip("x.yml", b"a: !!python/object/apply:os.system [id]"), "code", [1, 1, 0]),
        ("x.tar", tar(true, "x.yaml", b"_target_: os.system"), "code", [1, 1, 0]),
        ("x.nemo", tar(true, "model_config.yaml", b"_target_: os.system"), "code", [1, 1, 0]),
        ("x.nemo", tar(true, "./x.yaml", b"_target_: nemo.Model"), "code", [3, 3, 0]),
        ("x.zip", zip("m/config.json", auto_map), "code", [1, 1, 0]),
        ("x.tar", tar(true, "m/config.json", auto_map), "code", [1, 1, 0]),
        ("x.tar", tar(true, "modules.json", br#"[{"type": "net.Net"}]"#), "code", [1, 1, 0]),
        ("x.zip", zip("chat_template.jinja", escape), "code", [1, 1, 0]),
        ("x.tar", tar(true, "x.j2", escape), "code", [1, 1, 0]),
        ("x.tar", tar(true, "config.json", function_layer), "code", [1, 1, 0]),
        ("x.zip", zip("config.json", b"{"), "unknown", [3, 3, 3]),
        ("x.zip", zip("config.json", br#"{"a": 1}"#), "unknown", [3, 0, 0]),
        ("x.tar", tar(true, "x.yaml", b"a: 1"), "unknown", [3, 0, 0]),
        ("x.tar", tar(true, "x.jinja", b"{{ messages[0].content }}"), "unknown", [3, 0, 0]),
        // What a download that failed leaves.
        ("tokenizer.json", b"<!DOCTYPE html><html>".to_vec(), "download", [3, 3, 3]),
        ("x.json", b"<html></html>".to_vec(), "download", [3, 3, 3]),
        ("config.json", b"Entry not found".to_vec(), "download", [3, 3, 3]),
        ("vocab.txt", b"Entry not found\n".to_vec(), "download", [3, 3, 3]),
        ("vocab.json", b"{\"a\": 1, \"b".to_vec(), "unknown", [3, 3, 3]),
        ("tokenizer.json", long(b""), "unknown", [3, 3, 3]),
        ("tokenizer.json", long(b"\"}\n"), "companion", [0, 0, 0]),
        ("tokenizer.json", b"".to_vec(), "unknown", [3, 3, 3]),
        ("config.json", b"".to_vec(), "unknown", [3, 3, 3]),
        ("config.json", br#"{"error": "Not here"}"#.to_vec(), "unknown", [3, 3, 3]),
        ("pytorch_model.bin", b"".to_vec(), "download", [3, 3, 3]),
        ("x.h5", b"".to_vec(), "download", [3, 3, 3]),
        ("special_tokens_map.json", b"{}".to_vec(), "companion", [0, 0, 0]),
        ("x.json", b"{\"a\": 1} // It ends.".to_vec(), "companion", [0, 0, 0]),
        ("x.json", br#"{"error": "a name"}"#.to_vec(), "companion", [0, 0, 0]),
        ("x.txt", b"".to_vec(), "companion", [0, 0, 0]),
        // Under names of other things.
        (".hidden", EVIL.to_vec(), "code", [1, 1, 1]),
        ("x.lock", EVIL.to_vec(), "code", [1, 1, 1]),
        ("x.aria2", EVIL.to_vec(), "code", [1, 1, 1]),
    ];
    for (name, bytes, class, codes) in cases {
        let folder = folder();
        folder.write(&format!("m/{name}"), bytes);
        let careless = ["--skip-unknown", "--lenient", "--structure"];
        let allowing = ["--skip-unknown", "--allow-code", "--deny", "pickle"];
        for (options, code) in [&[][..], &careless, &allowing].iter().zip(codes) {
            let found = run(&folder, &[&["check", "m"], *options].concat());
            assert_eq!(found.code, *code, "{name} {options:?}: {found:?}");
        }
        let lines = run(&folder, &["check", "m", "--json"]).lines();
        let line = lines.iter().find(|it| it["file"] == format!("m/{name}")).expect("a line");
        assert_eq!(line["class"], *class, "{line}");
    }
}

/// Model files that are dangerous, by name.
fn dangerous_models() -> Vec<(String, Vec<u8>)> {
    let of_rules = ["NPY-OBJECT", "KEYS-TEMPLATE-ESCAPE"];
    let mut all = Vec::new();
    for (format, files) in fixtures::for_hosts() {
        let is_dangerous =
            |it: &fixtures::Fixture| it.breaks.iter().any(|id| of_rules.contains(id));
        let found = files.into_iter().filter(is_dangerous);
        all.extend(found.map(|it| (format!("{}.{format}", it.name), it.bytes)));
    }
    assert!(all.len() > 5, "{}", all.len());
    let suspects = fixtures::pickles::all().into_iter().filter(|it| it.breaks.is_some());
    all.extend(suspects.map(|it| (format!("{}.bin", it.name), it.bytes)));
    let archive = policy::zip(&[("a.pkl", EVIL)]);
    let packed = {
        let tensor = safetensors::Tensor::new("w", "U8", &[archive.len() as u64]);
        let tensor = safetensors::Tensor { data: archive.clone(), ..tensor };
        safetensors::File { metadata: None, tensors: vec![tensor] }.encode()
    };
    let plain = safetensors::Tensor::new("w", "U8", &[8]);
    let plain = safetensors::File { metadata: None, tensors: vec![plain] }.encode();
    all.extend([
        ("archive-inside.safetensors".to_owned(), packed),
        ("archive-behind.safetensors".to_owned(), [&plain[..], &[0; 99], &archive].concat()),
        ("pickle-behind.safetensors".to_owned(), [&plain, EVIL].concat()),
        ("pickle-behind.stb".to_owned(), [&sound().encode(), EVIL].concat()),
    ]);
    all
}

/// Object arrays, templates, pickles and archives of some, in models and beside their data: neither a
/// profile nor an option for unknown files makes them pass, named or in a folder.
#[test]
fn no_profile_passes_a_dangerous_model() {
    let options: [&[&str]; 4] = [
        &["--lenient"],
        &["--skip-unknown"],
        &["--lenient", "--skip-unknown"],
        &["--lenient", "--skip-unknown", "--structure"],
    ];
    for (name, bytes) in dangerous_models() {
        let folder = folder();
        let path = format!("m/{name}");
        folder.write(&path, &bytes);
        for (path, options) in [&*path, "m"].iter().flat_map(|it| options.map(|of| (it, of))) {
            let found = run(&folder, &[&["check", path], options].concat());
            assert!([1, 3].contains(&found.code), "{name} {path} {options:?}: {found:?}");
        }
    }
}

/// Settings name modules by a path with dots, and pipelines name them by the part that they are for.
#[test]
fn modules_in_folders_below_their_settings_are_loaded_by_them() {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join("m/code/deep")).expect("folders");
    std::fs::create_dir_all(folder.path().join("m/unet")).expect("folders");
    folder.write("m/config.json", br#"{"auto_map": {"AutoModel": "code.deep.net.Net"}}"#);
    folder.write("m/model_index.json", br#"{"_class_name": "Pipe", "unet": ["net", "Net"]}"#);
    for name in ["m/code/deep/net.py", "m/code/net.py", "m/unet/net.py", "m/net.py"] {
        folder.write(name, b"import os\n");
    }
    let inside = |path: &str| {
        let lines = run(&folder, &["check", path, "--json"]).lines();
        let said = lines.into_iter().filter(|it| it["kind"] == "Python");
        said.map(|it| (it["file"].as_str().unwrap().to_owned(), it["diagnosis"].clone()))
            .collect::<Vec<_>>()
    };
    let expected = [
        ("m/code/deep/net.py".to_owned(), "Python: ../../config.json loads it".into()),
        ("m/code/net.py".to_owned(), "Python".into()),
        ("m/net.py".to_owned(), "Python".into()),
        ("m/unet/net.py".to_owned(), "Python: ../model_index.json loads it".into()),
    ];
    assert_eq!(inside("m"), expected);
    // Alone, the folder of the module is loaded by the settings above it as well.
    assert_eq!(run(&folder, &["check", "m/code/deep"]).code, 1);
    assert_eq!(run(&folder, &["check", "m/code/deep", "--skip-unknown", "--lenient"]).code, 1);
}
