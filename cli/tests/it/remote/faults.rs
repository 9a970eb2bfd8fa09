//! Servers that fail or lie: the result is a retry or an error that names the server, never
//! a verdict.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that takes more than one request.
fn large() -> (Vec<u8>, u64) {
    let tensors: Vec<_> =
        (0..10_000).map(|i| Tensor::new(&format!("{i:090}"), "U8", &[1])).collect();
    let bytes = File { metadata: None, tensors }.encode();
    let len = bytes.len() as u64;
    assert!(len > 1 << 20);
    (bytes, len)
}

/// The single line on standard error of a run that exits with 2 and prints no verdict.
fn fails(server: &Server, args: &[&str]) -> String {
    let url = server.url("model.safetensors");
    let args = [&[&*url, "--json", "--retries", "1", "--timeout", "2"], args].concat();
    let folder = Folder::new();
    let mut command = ask(&folder, &[&["check"], &args[..]].concat());
    let run = Run::of(&command.output().expect("the command runs"));
    let line = run.json();
    assert_eq!((run.code, &line["verdict"], &line["findings"]), (2, &Value::Null, &json!([])));
    let [sentence] = &run.err.lines().collect::<Vec<_>>()[..] else { panic!("{run:?}") };
    assert_eq!(
        line["error"].as_str().map(|why| format!("weighbridge: {url}: {why}")).as_deref(),
        Some(*sentence)
    );
    (*sentence).to_owned()
}

#[test]
fn server_without_ranges_is_named() {
    let server = Server::new(|_| Answer::text(tensors(&["a"])));
    let why = fails(&server, &[]);
    assert!(why.contains(&format!("{} does not support ranges", server.address())), "{why}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn error_status_is_reported() {
    for status in [400, 401, 403, 404, 410] {
        let server = Server::new(move |_| Answer::status(status));
        let why = fails(&server, &[]);
        assert!(why.contains(&format!("{} answered {status}", server.address())), "{why}");
        assert_eq!(server.requests().len(), 1, "{status} is final");
    }
    let server = Server::new(|_| Answer::status(503));
    let why = fails(&server, &[]);
    assert!(why.contains("answered 503 Service Unavailable"), "{why}");
    assert_eq!(server.requests().len(), 2, "once more");
}

#[test]
fn recovering_server_is_retried() {
    let count = AtomicUsize::new(0);
    let server = Server::new(move |request| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Answer::status(500),
        1 => Answer { cut: Some(50), ..Answer::of(&tensors(&["a"]), request) },
        _ => Answer::of(&tensors(&["a"]), request),
    });
    let (code, line) = check_json(&[&server.url("a.safetensors")]);
    assert_eq!((code, &line["verdict"]), (0, &json!("valid")), "{line}");
    assert_eq!(line["read"]["requests"], 3);
}

/// Without an ETag the library does not resume, so the whole range is requested again.
#[test]
fn broken_response_is_retried() {
    let count = AtomicUsize::new(0);
    let server = Server::new(move |request| {
        let mut answer = Answer::of(&tensors(&["a"]), request);
        answer.headers.retain(|(name, _)| *name != "ETag");
        let first = count.fetch_add(1, Ordering::Relaxed) == 0;
        Answer { cut: first.then_some(50), ..answer }
    });
    let (code, line) = check_json(&[&server.url("a.safetensors")]);
    assert_eq!((code, &line["verdict"]), (0, &json!("valid")), "{line}");
}

#[test]
fn server_failure_during_read_is_error() {
    let (bytes, len) = large();
    for tagged in [true, false] {
        let bytes = bytes.clone();
        let server = Server::new(move |request| {
            let mut answer = Answer::of(&bytes, request);
            if !tagged {
                answer.headers.retain(|(name, _)| *name != "ETag");
            }
            let second = request.range().is_some_and(|range| range.start > 0);
            Answer { cut: second.then_some(1000), ..answer }
        });
        let why = fails(&server, &[]);
        assert!(why.contains("received ") || why.contains("closed the connection"), "{why}");
        assert!(server.requests().len() < 20, "{len}");
    }
}

#[test]
fn silent_server_times_out() {
    let server = Server::new(|_| Answer { wait: Duration::from_secs(60), ..Answer::status(200) });
    let why = fails(&server, &[]);
    assert!(why.contains("did not answer in time"), "{why}");
}

#[test]
fn absent_server_is_error() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    let url = format!("http://{}/a.gguf", port.expect("it is bound"));
    let run = check(&[&url, "--retries", "0"]);
    assert!(run.code == 2 && run.err.contains("cannot be reached"), "{run:?}");
}

#[test]
fn wrong_content_length_is_error() {
    let file = tensors(&["a"]);
    let len = file.len();
    let content = |range: &str| vec![("Content-Range", format!("bytes {range}"))];
    let with = |headers: Vec<(&'static str, String)>, body: &[u8]| Answer {
        status: 206,
        headers,
        body: body.to_vec(),
        ..Answer::default()
    };
    let longer = [&file[..], &[0; 10]].concat();
    for (name, answer, words) in [
        ("longer than it is", with(content("0-999/1000"), &file), "of 1000 bytes"),
        ("a range of nothing", with(vec![], &file), "makes no sense"),
        ("no number", with(content(&format!("0-{}/*", len - 1)), &file), "makes no sense"),
        (
            "the largest number",
            with(content("0-18446744073709551615/18446744073709551615"), &file),
            "makes no sense",
        ),
        ("longer than any file", with(content(&format!("0-9/{}", u64::MAX)), &file), "no sense"),
        ("backwards", with(content("9-0/10"), &file), "makes no sense"),
        ("another range", with(content(&format!("1-{}/{len}", len - 1)), &file), ""),
        ("a part of it", with(content(&format!("0-9/{len}")), &file[..10]), ""),
        ("more bytes", with(content(&format!("0-{}/{len}", len - 1)), &longer), "more bytes"),
        (
            "cut",
            Answer { cut: Some(9), ..with(content(&format!("0-{}/{len}", len - 1)), &file) },
            "",
        ),
        (
            "compressed",
            with(
                [
                    content(&format!("0-{}/{len}", len - 1)),
                    vec![("Content-Encoding", "gzip".to_owned())],
                ]
                .concat(),
                &file,
            ),
            "gzip",
        ),
    ] {
        let server = Server::new(move |_| answer.clone());
        let why = fails(&server, &[]);
        assert!(why.contains(words), "{name}: {why}");
    }
}

/// Half of one file and half of another is neither.
#[test]
fn replaced_file_is_error() {
    let (bytes, len) = large();
    for header in ["ETag", "Content-Range", "Last-Modified"] {
        let bytes = bytes.clone();
        let server = Server::new(move |request| {
            let mut answer = Answer::of(&bytes, request);
            if header == "Last-Modified" {
                answer.headers.retain(|(name, _)| *name != "ETag");
                let date = "Thu, 01 Jan 2026 00:00:00 GMT".to_owned();
                answer.headers.push((header, date));
            }
            if request.range().is_some_and(|range| range.start > 0) {
                for (name, value) in &mut answer.headers {
                    if *name == header && header == "ETag" {
                        *value = "\"2\"".to_owned();
                    } else if *name == header && header == "Last-Modified" {
                        *value = value.replace("00:00:00", "00:00:01");
                    } else if *name == header {
                        *value = value.replace(&format!("/{len}"), &format!("/{}", len + 1));
                    }
                }
            }
            answer
        });
        let why = fails(&server, &[]);
        assert!(why.contains("the file changed while it was read"), "{header}: {why}");
    }
}

#[test]
fn unsupported_url_is_error() {
    let long = format!("https://host/{}", "x".repeat(70_000));
    for (url, why) in [
        (&*long, "its name is too long"),
        ("https://cdn.example?sig=a/b", "its path is missing"),
        ("https:///index.json", "names no server"),
        ("https://cdn.example/models/", "web servers do not list folders: name its files"),
        ("https://cdn.example\\a/b", "backslash"),
        ("s3://a\u{1B}[1m/b", "the store s3://a\\u{1b}[1m"),
    ] {
        let folder = Folder::new();
        let mut command = ask(&folder, &["check", url, "--retries", "0"]);
        let run = Run::of(&command.output().expect("the command runs"));
        assert!(run.code == 2 && run.err.contains(why) && !run.err.contains('\u{1B}'), "{run:?}");
    }
}

/// The author of an index decides how many files it names.
#[test]
fn number_of_files_beside_the_named_file_is_bounded() {
    let names: Vec<_> = (0..4_100).map(|i| format!("{i:04}.safetensors")).collect();
    let entries: Vec<_> = names.iter().map(|name| (&name[..4], &**name)).collect();
    let index = Index::of(None, &entries).encode();
    let server = Server::new(move |request| {
        let name = request.target.rsplit('/').next().unwrap_or_default();
        match name.strip_suffix(".safetensors") {
            Some(name) => Answer::of(&tensors(&[name]), request),
            None => Answer::of(&index, request),
        }
    });
    let (code, line) = check_json(&[&server.url("model.safetensors.index.json")]);
    let why = line["error"].as_str().unwrap_or_default();
    assert!(code == 2 && why.contains("more than 4,096 files next to it"), "{line}");
    assert_eq!(server.requests().len(), 4_097);
}

#[test]
fn empty_listing_is_failure() {
    let run = check(&["https://"]);
    assert_eq!(run.code, 2, "{run:?}");
    let folder = Folder::new();
    let mut command = ask(&folder, &["check", "hf://owner"]);
    let run = Run::of(&command.output().expect("the command runs"));
    assert!(run.code == 2 && run.err.contains("hf://owner/name"), "{run:?}");
}
