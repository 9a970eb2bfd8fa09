//! Output of `inspect`.

use super::*;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use weighbridge_tests::fixtures;

#[test]
fn inspect_json_has_documented_fields_in_order() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let run = run(&folder, &["inspect", "a.stb", "--json", "--values", "9"]);
    assert_eq!(run.code, 0);
    let json = run.json();
    let keys: Vec<_> = json.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "file",
            "format",
            "version",
            "size",
            "verdict",
            "checked",
            "unchecked",
            "findings",
            "metadata",
            "tensors",
            "schema",
            "tool"
        ]
    );
    assert_eq!(json["checked"], json!(["structure"]));
    let tensor = &json["tensors"][0];
    assert_eq!(tensor["name"], "0");
    assert_eq!(tensor["id"], 0);
    assert_eq!(tensor["dtype"], "f32");
    assert_eq!(tensor["shape"], json!([2, 3]));
    assert_eq!(tensor["layout"], "row-major");
    assert_eq!(tensor["encoding"], "raw");
    assert_eq!(tensor["endianness"], "little");
    assert_eq!(tensor["chunks"], json!([{"offset": 128, "stored": 24, "decoded": 24}]));
    assert_eq!((&tensor["checksum"], &tensor["quantization"]), (&Value::Null, &Value::Null));
    assert_eq!(tensor["metadata"], json!([]));
    assert_eq!(tensor["values"].to_string(), r#"[0.0,-0.0,1.5,"NaN","Infinity","-Infinity"]"#);
    assert_eq!(json["tensors"][1]["values"], json!([0, 1, 127, -128, -1]));
}

#[test]
fn values_option_limits_shown_values() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let json = run(&folder, &["inspect", "a.stb", "--json"]).json();
    assert!(json["tensors"][0].get("values").is_none());
    assert_eq!(json["unchecked"][0], json!({"entry": "0", "why": "payload not asked for"}));
    let json = run(&folder, &["inspect", "a.stb", "--json", "--values", "2"]).json();
    assert_eq!(json["tensors"][1]["values"], json!([0, 1]));
    let json = run(&folder, &["inspect", "a.stb", "--json", "--values", "0"]).json();
    assert_eq!(json["tensors"][1]["values"], json!([]));
}

#[test]
fn unopened_file_still_prints_json() {
    let folder = Folder::new();
    folder.write("short.stb", b"STB0");
    folder.write("nothing", b"");
    let inspect = |file| run(&folder, &["inspect", file, "--json"]);
    let short = inspect("short.stb");
    assert_eq!(short.code, 1);
    let json = short.json();
    assert_eq!((&json["format"], &json["verdict"]), (&"stb".into(), &"invalid".into()));
    assert_eq!(json["findings"][0]["rule"], "H-LEN");
    assert_eq!((&json["checked"], &json["tensors"]), (&json!([]), &json!([])));
    let nothing = inspect("nothing").json();
    assert_eq!((&nothing["format"], &nothing["version"]), (&Value::Null, &Value::Null));
    assert_eq!(nothing["findings"][0]["rule"], "UNKNOWN-FORMAT");
}

#[test]
fn unknown_type_is_shown_with_its_number() {
    let folder = Folder::new();
    folder.write("a.stb", &with_unknown_type());
    let run = run(&folder, &["inspect", "a.stb", "--json", "--lenient", "--values", "3"]);
    assert_eq!(run.code, 3, "values were asked for and cannot be had");
    let json = run.json();
    assert_eq!(json["tensors"][1]["dtype"], "unknown");
    assert_eq!(json["tensors"][1]["dtype_raw"], 77);
    assert_eq!(json["tensors"][0]["values"][2], 1.5, "the others stay usable");
    assert_eq!(json["unchecked"][0]["entry"], "1", "its size was not verified");
    assert_eq!(json["unchecked"][2]["entry"], "1", "nor its values shown");
}

#[test]
fn absent_extents_are_not_guessed() {
    let folder = Folder::new();
    let mut stb = sound();
    (stb.tensors[0].rank, stb.tensors[0].dims) = (4, [7, 0, 0]);
    folder.write("a.stb", &stb.encode());
    let json = run(&folder, &["inspect", "a.stb", "--json", "--values", "3"]).json();
    assert_eq!(json["tensors"][0]["shape"], json!([null, null, null, null]));
    assert_eq!(json["tensors"][0]["shape_table_index"], 7);
    assert_eq!(json["tensors"][0]["values"][2], 1.5);
    assert!(run(&folder, &["inspect", "a.stb"]).out.contains("[?, ?, ?, ?]"));
}

#[test]
fn large_file_is_inspected_by_its_index() {
    let folder = Folder::new();
    let mut stb = sound();
    stb.tensors[1].dims[0] = u32::MAX;
    stb.tensors[1].size = Some(u64::from(u32::MAX));
    let bytes = stb.encode();
    let len = 192 + u64::from(u32::MAX);
    let path = folder.write("large.stb", &bytes);
    let file = OpenOptions::new().write(true).open(&path).expect("opens");
    file.set_len(len).expect("a sparse file");
    patch(&path, 24, &len.to_le_bytes());

    let run = run(&folder, &["inspect", "large.stb", "--json", "--values", "6"]);
    assert_eq!(run.code, 0, "{run:?}");
    let json = run.json();
    assert_eq!(json["size"], len);
    assert_eq!(json["tensors"][1]["shape"], json!([u32::MAX]));
    assert_eq!(json["tensors"][1]["values"], json!([0, 1, 127, -128, -1, 0]));
}

/// Overwrites bytes of a file.
fn patch(path: &Path, at: u64, bytes: &[u8]) {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let mut file = OpenOptions::new().write(true).open(path).expect("opens");
    file.seek(SeekFrom::Start(at)).expect("seeks");
    file.write_all(bytes).expect("writes");
}

#[test]
fn statistics_match_elements() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let json = run(&folder, &["inspect", "a.stb", "--json", "--stats"]).json();
    let stats = &json["tensors"][0]["stats"];
    for (field, value) in [
        ("count", json!(6)),
        ("min", json!(0.0)),
        ("max", json!(1.5)),
        ("mean", json!(0.5)),
        ("zeros", json!(2)),
        ("nan", json!(1)),
        ("infinities", json!(2)),
        ("subnormals", json!(0)),
        ("first_nan", json!(3)),
    ] {
        assert_eq!(stats[field], value, "{field}");
    }
    let std = stats["std"].as_f64().expect("a number");
    assert!((std - 0.5_f64.sqrt()).abs() < 1e-15);
    let histogram = &stats["histogram"];
    let bins: Vec<_> = histogram.as_array().expect("an array").iter().collect();
    assert_eq!(bins.len(), 16);
    assert_eq!((bins[0], bins[15]), (&json!(2), &json!(1)));
    assert!(
        json["tensors"][1]["stats"]["min"] == -128 && json["tensors"][1]["stats"]["max"] == 127
    );
    assert!(run(&folder, &["inspect", "a.stb", "--stats"]).out.contains("1 NaN (the first at 3)"));
}

/// The number of values or statistics shown, and the reasons for the others.
fn shown(folder: &Folder, args: &[&str], field: &str) -> (usize, Vec<Value>) {
    let run = run(folder, &[&["inspect", "--json", "--lenient"], args].concat());
    let json = run.json();
    let tensors = json["tensors"].as_array().expect("an array");
    let shown = tensors.iter().filter(|tensor| tensor.get(field).is_some()).count();
    let unchecked = json["unchecked"].as_array().expect("an array");
    let why: Vec<_> = unchecked.iter().map(|it| it["why"].clone()).collect();
    let left = why.iter().filter(|why| *why != "payload only shown, not checked").count();
    assert_eq!((shown + left, run.code), (tensors.len(), if left > 0 { 3 } else { 0 }));
    (shown, why)
}

/// Many tensors share the same bytes: the file is read only a few times.
#[test]
fn shared_payloads_are_shown_within_bound() {
    use weighbridge::weighbridge_core::Format;
    use weighbridge_tests::hard::{self, Entry};
    let many = |count: usize| {
        let one = |i| Entry { name: format!("t.{i:04}").into_bytes(), at: 0, len: 1 << 17 };
        let entries: Vec<_> = (0..count).map(one).collect();
        hard::file(Format::Safetensors, &entries)
    };
    let folder = Folder::new();
    folder.write("many.safetensors", &many(100));
    folder.write("tied.safetensors", &many(4));
    for (args, field) in [(["--stats", "--values=2"], "stats"), (["--values=9999999"; 2], "values")]
    {
        let (few, why) = shown(&folder, &[&["many.safetensors"], &args[..1]].concat(), field);
        assert!((8..=16).contains(&few), "{few} of 100 {field}");
        assert!(why.iter().any(|why| why.as_str().is_some_and(|why| why.contains("share"))));
        let (all, _) = shown(&folder, &[&["tied.safetensors"], &args[..1]].concat(), field);
        assert_eq!(all, 4);
    }
    // A few elements per tensor take no more than the entries themselves.
    assert_eq!(shown(&folder, &["many.safetensors", "--values=4"], "values").0, 100);
}

/// Many columns share one block, which decodes to a thousand times its length.
#[test]
fn shared_blocks_are_shown_within_bound() {
    use weighbridge_tests::encode::idv::{self, Cell, Codec, Column, Compression, Number};
    const ROWS: usize = 256;
    let column = |i: usize| {
        // For all but the first column, only the place of the table counts.
        let row = Cell::dense(&vec![0; if i == 0 { 4096 } else { 0 }]);
        let codec = Codec::vector(Codec::Number(Number::SByte), &[0]);
        let column = Column::new(&format!("c{i:03}"), codec, vec![row; ROWS]);
        column.rows_per_block(ROWS as _).compressed(Compression::Deflate)
    };
    let columns = (0..200).map(column).collect();
    let mut out = idv::encode(&idv::File::new(ROWS as _, columns));
    let table = (out.columns[0].lookup as i64).to_le_bytes();
    for place in &out.columns {
        out.bytes[place.lookup_offset..place.lookup_offset + 8].copy_from_slice(&table);
    }
    let folder = Folder::new();
    folder.write("a.idv", &out.bytes);
    assert_eq!(shown(&folder, &["a.idv", "--values=0"], "values").0, 200, "nothing is decoded");
    let (few, why) = shown(&folder, &["a.idv", "--values=1"], "values");
    assert!((40..=120).contains(&few), "{few} of 200 columns");
    assert!(why.iter().any(|why| why.as_str().is_some_and(|why| why.contains("decode"))));
}

/// A model of TensorFlow Lite: a constant with a scale for each of three columns, and a custom
/// operator beside the one of the sample.
#[test]
fn inspect_of_graph_counts_operators_and_shows_scales() {
    use weighbridge_tests::encode::flatbuffer::Table;
    use weighbridge_tests::encode::tflite::{self, model};
    let mut graph = tflite::sample();
    let scales = Table::new().floats(2, &[0.5, 0.25, 2.0]).longs(3, &[0, 7, -3]).int(6, 1);
    graph.list(model::CODES).push(tflite::code(32, 2).text(1, "Resampler"));
    graph.list(model::BUFFERS)[1] = tflite::buffer(&[1, 2, 3]);
    let main = &mut graph.list(model::SUBGRAPHS)[0];
    main.list(0)[1].change(|tensor| tensor.byte(1, 9).table(4, scales));
    main.list(3).push(tflite::operator(1, &[2], &[3]));
    main.list(0).push(tflite::tensor("z", &[1, 3], 0));
    let folder = Folder::new();
    folder.write("a.tflite", &tflite::encode(&graph).bytes);

    let json = run(&folder, &["inspect", "a.tflite", "--json"]).json();
    let expected = json!([
        {"name": "ADD", "custom": false, "version": 1, "count": 1},
        {"name": "Resampler", "custom": true, "version": 2, "count": 1},
    ]);
    assert_eq!(json["operators"], expected);
    let quantization = json!({
        "scheme": "asymmetric", "axis": 1, "scales": [0.5, 0.25, 2.0], "zero_points": [0, 7, -3],
    });
    assert_eq!(json["tensors"][1]["quantization"], quantization);
    assert_eq!(json["tensors"][0]["quantization"], json!(null));

    let text = run(&folder, &["inspect", "a.tflite"]).out;
    assert!(text.contains("1 × ADD, version 1\n"), "{text}");
    assert!(text.contains("1 × Resampler, version 2, custom\n"), "{text}");
    assert!(text.contains("quantized"), "{text}");
}

/// The constants of a graph are parameters; what it computes takes memory alone.
#[test]
fn summary_of_tflite_tells_constants_from_activations() {
    let folder = Folder::new();
    let (mut constants, mut computed) = (0, 0);
    let sound = fixtures::tflite::all().into_iter().filter(|it| it.breaks.is_empty());
    for fixture in sound {
        folder.write("m.tflite", &fixture.bytes);
        let json = run(&folder, &["inspect", "m.tflite", "--summary", "--json"]).json();
        let tensors = json["tensors"].as_array().expect("an array");
        let count = |has_data: bool| {
            let is_empty =
                |it: &Value| it["shape"].as_array().is_some_and(|it| it.contains(&json!(0)));
            let all = tensors.iter().filter(|it| !is_empty(it));
            all.filter(|it| it["chunks"].as_array().is_some_and(|it| !it.is_empty()) == has_data)
                .count()
        };
        let without = &json["summary"]["without_data"];
        assert_eq!(without["tensors"], count(false), "{}: {json}", fixture.name);
        computed += count(false);
        constants += count(true);
    }
    assert!(constants > 10 && computed > 10, "{constants} {computed}");
}
