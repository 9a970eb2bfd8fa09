//! Files on servers: what is read and printed, and what happens if a server fails or lies.

mod buckets;
mod faults;
mod hub;
mod server;
mod torch;

use super::*;
use serde_json::json;
use server::{Answer, Request, Server};
use std::ops::Range;
use std::time::Duration;
use weighbridge_tests::encode::safetensors::{File, Tensor};
use weighbridge_tests::encode::shards::Index;
use weighbridge_tests::encode::{gguf, onnx};
use weighbridge_tests::fixtures::gguf::part;

/// A command without proxies or delays between retries.
fn ask(folder: &Folder, args: &[&str]) -> Command {
    let mut command = command(folder, args);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    command
}

/// A run of `check`.
fn check(args: &[&str]) -> Run {
    finish(ask(&Folder::new(), &[&["check"], args].concat()))
}

fn check_json(args: &[&str]) -> (i32, Value) {
    let run = check(&[args, &["--json"]].concat());
    (run.code, run.json())
}

fn tensors(names: &[&str]) -> Vec<u8> {
    let tensors = names.iter().map(|name| Tensor::new(name, "F32", &[2])).collect();
    File { metadata: None, tensors }.encode()
}

/// A file that begins with these bytes, followed by zeros.
fn sparse(head: Vec<u8>, len: u64) -> impl Fn(&Request) -> Answer + Send + Sync + 'static {
    let answer = at_once(head, len);
    move |request| Answer { wait: Duration::from_millis(50), ..answer(request) }
}

fn at_once(head: Vec<u8>, len: u64) -> impl Fn(&Request) -> Answer + Send + Sync + 'static {
    move |request| {
        let read = |range: Range<u64>| {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            let from = (range.start as usize).min(head.len());
            let known = &head[from..(range.end as usize).min(head.len())];
            bytes[..known.len()].copy_from_slice(known);
            bytes
        };
        Answer::ranged(len, request, read)
    }
}

/// The header of a safetensors file of 6 GB.
fn six_gigabytes() -> (Vec<u8>, u64) {
    const TENSORS: u64 = 3_000;
    const LEN: u64 = 2_000_000;
    let entry = |i: u64| {
        let (begin, end) = (i * LEN, (i + 1) * LEN);
        format!(
            "\"model.layers.{i}.weight\":{{\"dtype\":\"F16\",\"shape\":[1000,1000],\
             \"data_offsets\":[{begin},{end}]}}"
        )
    };
    let entries: Vec<_> = (0..TENSORS).map(entry).collect();
    let mut json = format!("{{{}}}", entries.join(",")).into_bytes();
    json.resize(json.len().next_multiple_of(8), b' ');
    let mut head = (json.len() as u64).to_le_bytes().to_vec();
    head.extend(json);
    let len = head.len() as u64 + TENSORS * LEN;
    (head, len)
}

#[test]
fn index_of_large_file_takes_few_round_trips() {
    let (head, len) = six_gigabytes();
    let index = head.len() as u64;
    let server = Server::new(sparse(head, len));
    let (code, line) = check_json(&[&server.url("model.safetensors")]);
    assert_eq!((code, &line["verdict"], &line["size"]), (0, &json!("valid"), &json!(len)));
    assert_eq!(line["checked"], json!(["structure"]));
    assert_eq!(line["unchecked"][0]["why"], "payloads not asked for");
    let read = &line["read"];
    assert!(read["round_trips"].as_u64().is_some_and(|trips| (1..=4).contains(&trips)), "{read}");
    let bytes = read["bytes"].as_u64().expect("a number");
    assert!((index..index + (1 << 20)).contains(&bytes), "{read} of an index of {index}");
    let requests = server.requests();
    assert_eq!(read["requests"], requests.len());
    let asked: u64 = requests.iter().filter_map(|it| it.range()).map(|it| it.end - it.start).sum();
    assert_eq!(asked, bytes);
    let human = check(&[&server.url("model.safetensors")]);
    assert!(human.out.contains("bytes in 1 request, 1 round trip\n"), "{human:?}");
    assert!(human.out.contains("unchecked payloads not asked for"), "{human:?}");
}

/// A vocabulary of several megabytes precedes the tensors.
#[test]
fn long_index_is_read_in_growing_pieces() {
    let words: Vec<_> = (0..150_000).map(|i| format!("a word of the vocabulary, {i:06}")).collect();
    let mut file =
        gguf::File { tensors: vec![gguf::Tensor::new("t", 0, &[8])], ..Default::default() };
    let key = b"general.vocabulary".to_vec();
    file.metadata = vec![(key, gguf::Value::texts(&words))];
    let mut encoded = file.encode();
    let at = encoded.extent(0, 0);
    encoded.set(at, 8, 1_500_000_000);
    let (head, len) = (encoded.bytes, encoded.data_at as u64 + 6_000_000_000);
    let index = head.len() as u64;
    assert!(index > 5 << 20);
    let server = Server::new(sparse(head, len));
    let (code, line) = check_json(&[&server.url("model.gguf")]);
    assert_eq!((code, &line["verdict"]), (0, &json!("valid")), "{line}");
    let read = &line["read"];
    assert!(read["round_trips"].as_u64().is_some_and(|trips| (2..=4).contains(&trips)), "{read}");
    assert!(read["bytes"].as_u64().is_some_and(|bytes| bytes < 4 * index), "{read}");
}

/// A GGUF file of `count` tensors of 160 kB and a few bytes, with padding after each.
fn padded(count: usize) -> (Vec<u8>, u64) {
    const ELEMENTS: u64 = 40_003;
    let tensor = |i| gguf::Tensor::new(&format!("t{i}"), 0, &[8]);
    let file = gguf::File { tensors: (0..count).map(tensor).collect(), ..Default::default() };
    let mut encoded = file.encode();
    let stride = (4 * ELEMENTS).next_multiple_of(32);
    for i in 0..count {
        let at = encoded.extent(i, 0);
        encoded.set(at, 8, ELEMENTS).set(at + 12, 8, i as u64 * stride);
    }
    let (data_at, mut head) = (encoded.data_at, encoded.bytes);
    head.truncate(data_at);
    (head, data_at as u64 + count as u64 * stride)
}

/// Each missing range takes a round trip, and there are as many as tensors.
#[test]
fn round_trips_are_bounded() {
    let check = |count| {
        let (head, len) = padded(count);
        check_json(&[&Server::new(at_once(head, len)).url("a.gguf")])
    };
    let (code, line) = check(30);
    assert_eq!((code, &line["verdict"]), (0, &json!("valid")), "{line}");
    assert!(line["read"]["round_trips"].as_u64().is_some_and(|trips| trips <= 31), "{line}");
    let (code, line) = check(5_000);
    assert_eq!((code, &line["verdict"]), (2, &Value::Null), "{line}");
    assert!(line["error"].as_str().is_some_and(|why| why.contains("round trips")), "{line}");
}

#[test]
fn remote_verdict_equals_local_verdict() {
    let folder = Folder::new();
    for (name, bytes) in [
        ("a.stb", sound().encode()),
        ("b.stb", with_flags()),
        ("c.stb", with_unknown_type()),
        ("d.stb", Vec::new()),
        ("e.safetensors", tensors(&["x"])),
        ("f.pt", b"\x80\x02}q\0.".to_vec()),
        ("g.safetensors", tensors(&["x"])[..60].to_vec()),
        ("h", b"<!DOCTYPE html><html></html>".to_vec()),
    ] {
        folder.write(name, &bytes);
        let server = Server::with(bytes);
        for depth in ["--structure", "--payloads"] {
            let on_disk = if depth == "--payloads" { vec![] } else { vec![depth] };
            let disk = run(&folder, &[&["check", name, "--json"], &on_disk[..]].concat());
            let (code, line) = check_json(&[&server.url(name), depth]);
            let mut expected = disk.json();
            expected["file"] = json!(server.url(name));
            expected["read"] = line["read"].clone();
            assert_eq!((code, line), (disk.code, expected), "{name}");
        }
    }
}

#[test]
fn remote_digest_equals_local_digest() {
    let server = Server::with(sound().encode());
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let expected = run(&folder, &["check", "a.stb", "--sha256", "--json"]).json();
    let (code, line) = check_json(&[&server.url("a.stb"), "--sha256"]);
    assert_eq!((code, &line["sha256"]), (0, &expected["sha256"]));
}

#[test]
fn remote_index_is_checked_with_its_shards() {
    const ONE: &str = "model-00001-of-00002.safetensors";
    const TWO: &str = "model-00002-of-00002.safetensors";
    let index = Index::of(Some(32), &[("a", ONE), ("b", ONE), ("c", TWO), ("d", TWO)]).encode();
    let serve = |whole: bool| {
        let index = index.clone();
        Server::new(move |request| match request.target.rsplit('/').next() {
            Some(ONE) => Answer::of(&tensors(&["a", "b"]), request),
            Some(TWO) if whole => Answer::of(&tensors(&["c", "d"]), request),
            Some("model.safetensors.index.json") => Answer::of(&index, request),
            _ => Answer::status(404),
        })
    };
    let server = serve(true);
    let (code, line) = check_json(&[&server.url("m/model.safetensors.index.json")]);
    assert_eq!((code, &line["findings"]), (0, &json!([])), "{line}");
    assert_eq!(line["read"]["requests"], 3);
    let (code, line) = check_json(&[&serve(false).url("m/model.safetensors.index.json")]);
    assert_eq!((code, &line["findings"][0]["rule"]), (1, &json!("SHARD-MISSING")), "{line}");
    assert_eq!(line["findings"][0]["entry"], TWO);
}

/// A server lists no folder, so the other shards are looked for by their names.
#[test]
fn remote_shard_of_an_incomplete_set_is_not_valid() {
    let serve = |present: &'static [u64]| {
        Server::new(move |request| {
            let no = present.iter().find(|no| request.target.contains(&format!("-{no:05}-of-")));
            match no {
                Some(no) => Answer::of(&tensors(&[&format!("t{no}")]), request),
                None => Answer::status(404),
            }
        })
    };
    let name = "m/model-00002-of-00003.safetensors";
    let (code, line) = check_json(&[&serve(&[1, 2, 3]).url(name)]);
    assert_eq!((code, &line["verdict"]), (0, &json!("valid")), "{line}");
    let server = serve(&[2, 3]);
    let (code, line) = check_json(&[&server.url(name)]);
    let why = "1 of 3 shards was not found: model-00001-of-00003.safetensors";
    assert!(code == 3 && line["unchecked"].to_string().contains(why), "{line}");
    let asked = server.requests();
    assert_eq!(
        asked.len(),
        6,
        "itself, an index, two shards, and the names of those here: {asked:?}"
    );
}

#[test]
fn remote_model_is_read_with_its_data() {
    let mut model = onnx::Model::new(&[]);
    let tensor = onnx::Tensor::new("a", &[2, 3]);
    let head = tensor.head().text(8, "a").message(13, onnx::pair("location", "data/w 1.bin"));
    model.graph.push((5, head.int(14, 1)));
    let (model, data) = (model.encode(), tensor.data);
    let serve = |len: usize| {
        let (model, data) = (model.clone(), data[..len].to_vec());
        Server::new(move |request| match &*request.target {
            "/m/model.onnx" => Answer::of(&model, request),
            "/m/data/w%201.bin" if !data.is_empty() => Answer::of(&data, request),
            _ => Answer::status(404),
        })
    };
    let (code, line) = check_json(&[&serve(24).url("m/model.onnx"), "--payloads"]);
    assert_eq!((code, &line["findings"]), (0, &json!([])), "{line}");
    assert_eq!(line["read"]["requests"], 2, "{line}");
    let (code, line) = check_json(&[&serve(20).url("m/model.onnx")]);
    assert_eq!((code, &line["findings"][0]["rule"]), (1, &json!("E-PAST")), "{line}");
    let (code, line) = check_json(&[&serve(0).url("m/model.onnx")]);
    assert_eq!((code, &line["unchecked"][1]["entry"]), (3, &json!("data/w 1.bin")), "{line}");
}

#[test]
fn gguf_part_is_checked_with_its_set() {
    let serve = |missing: &'static str| {
        Server::new(move |request| {
            let no = (0..3).find(|no| request.target.contains(&format!("-{:05}-of-", no + 1)));
            match no {
                Some(no) if missing.is_empty() || !request.target.contains(missing) => {
                    Answer::of(&part(no, &["a", "b", "c"]).bytes(), request)
                }
                _ => Answer::status(404),
            }
        })
    };
    let first = "big-00001-of-00003.gguf";
    let (code, line) = check_json(&[&serve("").url(first)]);
    assert_eq!((code, &line["findings"]), (0, &json!([])), "{line}");
    let (code, line) = check_json(&[&serve("-00003-of-").url(first)]);
    assert_eq!((code, &line["findings"][0]["rule"]), (1, &json!("KEYS-SPLIT-MISSING")), "{line}");
}

#[test]
fn inspect_reads_index_and_shown_values_only() {
    let (head, len) = six_gigabytes();
    let server = Server::new(sparse(head, len));
    let run = finish(ask(&Folder::new(), &["inspect", &server.url("a.safetensors"), "--json"]));
    let json = run.json();
    assert_eq!((run.code, json["tensors"].as_array().map(Vec::len)), (0, Some(3_000)));
    assert_eq!((&json["read"]["round_trips"], &json["size"]), (&json!(1), &json!(len)));
    let server = Server::with(sound().encode());
    let shown = finish(ask(&Folder::new(), &["inspect", &server.url("a.stb"), "--values", "1"]));
    assert!(shown.code == 0 && shown.out.contains("1 request, 1 round trip"), "{shown:?}");
}

#[test]
fn file_list_may_name_urls() {
    let server = Server::with(sound().encode());
    let folder = Folder::new();
    folder.write("list", format!("{}\n{}\n", server.url("a.stb"), server.url("b")).as_bytes());
    let run = finish(ask(&folder, &["check", "--files-from", "list", "--json", "--jobs", "2"]));
    let verdicts: Vec<_> = run.lines().iter().map(|line| line["verdict"].clone()).collect();
    assert_eq!((run.code, verdicts), (0, vec![json!("valid"); 2]));
}

/// A local folder whose name looks like a URL is not used.
#[cfg(unix)]
#[test]
fn url_is_never_a_path_on_disk() {
    let server = Server::with(sound().encode());
    let (url, folder) = (server.url("a.stb"), Folder::new());
    let local = folder.path().join(url.replace("//", "/"));
    std::fs::create_dir_all(&local).expect("room");
    std::fs::write(local.join("b.stb"), with_flags()).expect("room");
    folder.write("list", url.as_bytes());
    for args in [&["check", &url, "--json"][..], &["check", "--files-from", "list", "--json"]] {
        let run = finish(ask(&folder, args));
        assert_eq!((run.code, &run.json()["file"]), (0, &json!(url)), "{run:?}");
    }
    // A local file with the same name is irrelevant.
    let args = ["check", &url, "--json", "--resume", "journal"];
    let lines = || finish(ask(&folder, &args)).lines().len();
    assert_eq!((lines(), lines()), (1, 1));
}

/// The file name comes from the URL's path, whatever the query says.
#[test]
fn url_query_is_not_part_of_the_name() {
    let server = Server::with(b"nothing that is known".to_vec());
    let folder = Folder::new();
    folder.write("list", format!("{}?download=true\n", server.url("a.pkl")).as_bytes());
    let args = ["check", "--files-from", "list", "--json", "--skip-unknown"];
    let found = finish(ask(&folder, &args));
    assert_eq!((found.code, &found.json()["verdict"]), (1, &json!("invalid")), "{found:?}");
}

#[test]
fn remote_exit_code_table_matches_the_command() {
    let (unknown, pickle) = (with_unknown_type(), b"\x80\x02}q\0.".to_vec());
    let valid = Server::with(sound().encode());
    let invalid = Server::with(with_flags());
    let other = [Server::with(unknown), Server::with(pickle)];
    let broken = [Server::new(|_| Answer::status(404)), Server::new(|_| Answer::text("all"))];
    let urls = |servers: &[Server]| servers.iter().map(|it| it.url("a.stb")).collect::<Vec<_>>();
    let runs = [
        (0, vec![valid.url("a.stb")]),
        (1, vec![invalid.url("a.stb")]),
        (2, [urls(&broken), vec!["https://".to_owned(), "hf://x/y@".to_owned()]].concat()),
        (3, vec![urls(&other)[1].clone().replace("a.stb", "a.pt")]),
    ];
    for (code, urls) in &runs {
        for url in urls {
            let run = check(&[url, "--retries", "0"]);
            assert_eq!(run.code, *code, "{url}: {run:?}");
        }
    }
    assert_eq!(check(&[&valid.url("a.stb"), "--payloads"]).code, 0);
    assert_eq!(check(&[&invalid.url("a.stb"), "--lenient"]).code, 0);
    let row: Vec<_> =
        exit::table().into_iter().filter(|(name, ..)| name == "check https://…").collect();
    assert!(row.len() == runs.len() && row.iter().all(|(_, _, text)| text != "–"), "{row:?}");
}

/// Queries and passwords may be secrets, and logs are public.
#[test]
fn url_secrets_are_sent_but_not_shown() {
    let server = Server::with(sound().encode());
    let url = format!("http://{}/a%20b.stb?sig=SECRET", server.address());
    let run = check(&[&url, "--json"]);
    assert_eq!(run.json()["file"], format!("http://{}/a%20b.stb", server.address()));
    assert_eq!(server.requests()[0].target, "/a%20b.stb?sig=SECRET");
    let none = Server::new(|_| Answer::status(500));
    let url = format!("http://me:SECRET@{}/a.stb?sig=SECRET", none.address());
    let failed = check(&[&url, "--retries", "0"]);
    assert_eq!(failed.code, 2);
    assert!(!format!("{run:?}{failed:?}").contains("SECRET"), "{failed:?}");
}

/// One file here and one on a server, on either side.
#[test]
fn digests_are_compared_with_a_file_on_a_server() {
    let folder = Folder::new();
    let sound = tensors(&["a", "b"]);
    let mut damaged = sound.clone();
    *damaged.last_mut().expect("a byte") ^= 1;
    folder.write("damaged.safetensors", &damaged);
    folder.write("sound.safetensors", &sound);
    let len = sound.len() as u64;
    let server = Server::new(at_once(sound, len));
    let url = server.url("model.safetensors");
    let run = |args: &[&str]| finish(ask(&folder, &[&["digest"], args].concat()));
    for pair in [[&*url, "sound.safetensors"], ["sound.safetensors", &*url]] {
        let equal = run(&["--compare", pair[0], pair[1]]);
        assert_eq!((equal.code, &*equal.out), (0, "2 tensors: 2 equal\n"), "{equal:?}");
    }
    let found = run(&["--compare", "damaged.safetensors", &url]);
    let line = format!("bytes of {url} that differ: {}-{}", len - 8, len - 1);
    assert!(found.code == 1 && found.out.lines().any(|it| it == line), "{line}: {found:?}");
    assert_eq!(run(&[&url]).code, 0);
    let gone = Server::new(|_: &Request| Answer::status(404));
    assert_eq!(run(&["--compare", "sound.safetensors", &gone.url("x")]).code, 2);
}
