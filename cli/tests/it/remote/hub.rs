//! Repositories of a hub, which lists files in pages and redirects downloads elsewhere.

use super::*;

const REPOSITORY: &str = "/api/models/me/model/tree/main";

fn node(kind: &str, path: &str) -> Value {
    json!({"type": kind, "path": path, "size": 1, "oid": path})
}

/// A hub with one repository, whose content is on another server.
fn hub(content: &Server) -> Server {
    // Another name of the same machine: secrets stay with the hub.
    let elsewhere = format!("http://localhost:{}", content.port());
    let address = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let own = std::sync::Arc::clone(&address);
    let server = Server::new(move |request| {
        let own = own.get().cloned().unwrap_or_default();
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        match path {
            REPOSITORY if query == "recursive=true" => {
                let page =
                    [node("directory", "sub"), node("file", "README.md"), node("file", "a.stb")];
                let next =
                    format!("<http://{own}{REPOSITORY}?recursive=true&cursor=2>; rel=\"next\"");
                let headers = vec![("Link", next)];
                Answer { headers, ..Answer::text(json!(page).to_string()) }
            }
            REPOSITORY => Answer::text(json!([node("file", "sub/b c.stb")]).to_string()),
            "/api/models/me/model/tree/v1/sub" => {
                Answer::text(json!([node("file", "sub/b c.stb")]).to_string())
            }
            path if path.starts_with("/me/model/resolve/") => {
                let location = vec![("Location", format!("{elsewhere}{path}"))];
                Answer { headers: location, ..Answer::status(302) }
            }
            _ => Answer::status(404),
        }
    });
    address.set(server.address()).expect("it is set once");
    server
}

fn content() -> Server {
    Server::new(|request| match request.target.rsplit('/').next() {
        Some("a.stb" | "b%20c.stb") => Answer::of(&sound().encode(), request),
        Some("README.md") => Answer::of(b"# A model", request),
        _ => Answer::status(404),
    })
}

fn check_hub(hub: &Server, args: &[&str]) -> Run {
    let folder = Folder::new();
    let mut command = ask(&folder, &[&["check", "--json", "--retries", "1"], args].concat());
    command.env("HF_ENDPOINT", format!("http://{}/", hub.address())).env("HF_TOKEN", "SECRET");
    finish(command)
}

fn verdicts(run: &Run) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("null").to_owned();
    run.lines().iter().map(|line| (text(&line["file"]), text(&line["verdict"]))).collect()
}

#[test]
fn repository_is_listed_page_by_page() {
    let content = content();
    let hub = hub(&content);
    let run = check_hub(&hub, &["hf://me/model"]);
    let expected = [
        ("hf://me/model/README.md", "valid"),
        ("hf://me/model/a.stb", "valid"),
        ("hf://me/model/sub/b c.stb", "valid"),
    ];
    let expected = expected.map(|(file, verdict)| (file.to_owned(), verdict.to_owned()));
    assert_eq!((run.code, verdicts(&run)), (0, expected.to_vec()), "{run:?}");
    let some = check_hub(&hub, &["hf://me/model", "--include", "sub/*.stb"]);
    assert_eq!((some.code, verdicts(&some)), (0, expected[2..].to_vec()));
    let none = check_hub(&hub, &["hf://me/model", "--exclude", "sub", "--skip-unknown"]);
    assert_eq!((none.code, verdicts(&none)), (0, expected[..2].to_vec()));
}

/// A hub with these files in one repository.
fn repository(files: Vec<(&'static str, Vec<u8>)>) -> Server {
    Server::new(move |request| {
        let path = request.target.split('?').next().unwrap_or_default();
        if path == REPOSITORY {
            let nodes: Vec<_> = files.iter().map(|(name, _)| node("file", name)).collect();
            return Answer::text(json!(nodes).to_string());
        }
        let name = path.strip_prefix("/me/model/resolve/main/").unwrap_or_default();
        match files.iter().find(|(known, _)| *known == name) {
            Some((_, bytes)) => Answer::of(bytes, request),
            None => Answer::status(404),
        }
    })
}

/// Each file of a repository is told what it is, as in a folder on disk.
#[test]
fn files_of_a_repository_are_what_their_content_says() {
    let files = || {
        vec![
            ("README.md", b"# A model".to_vec()),
            ("config.json", b"{}".to_vec()),
            ("model.safetensors", tensors(&["a"])),
            ("tokenizer.json", b"{}".to_vec()),
        ]
    };
    let classes = |run: &Run| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of = |line: &Value| {
            (text(&line["file"]).replace("hf://me/model/", ""), text(&line["class"]))
        };
        run.lines().iter().map(of).filter(|(_, class)| class != "companion").collect()
    };
    let plain = check_hub(&repository(files()), &["hf://me/model"]);
    assert_eq!(plain.code, 0, "{plain:?}");
    assert_eq!(classes(&plain), [("model.safetensors".into(), "model".into())]);
    let auto_map = br#"{"auto_map": {"AutoModel": "modeling_x.Model"}}"#.to_vec();
    let pickle = b"\x80\x02cposix\nsystem\nX\x01\0\0\0x\x85R.".to_vec();
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n".to_vec();
    for (name, bytes, code, class) in [
        ("custom/config.json", auto_map, 1, "code"),
        ("training_args.bin", pickle, 1, "code"),
        ("tool.py", b"print()".to_vec(), 3, "code"),
        ("tokenizer.model", pointer.clone(), 1, "download"),
        // Under the name of a model as well.
        ("other.safetensors", pointer, 1, "download"),
        ("table.xyz", vec![255; 300], 3, "unknown"),
        ("model-00001-of-00002.safetensors", tensors(&["b"]), 3, "model"),
    ] {
        let all = [files(), vec![(name, bytes)]].concat();
        let run = check_hub(&repository(all), &["hf://me/model"]);
        assert_eq!(run.code, code, "{name}: {run:?}");
        assert!(classes(&run).contains(&(name.into(), class.into())), "{name}: {run:?}");
    }
}

#[test]
fn files_and_folders_of_a_revision() {
    let content = content();
    let hub = hub(&content);
    let run = check_hub(&hub, &["hf://me/model@v1/a.stb", "hf://me/model@v1/sub/"]);
    let files: Vec<_> = verdicts(&run).into_iter().map(|(file, _)| file).collect();
    assert_eq!(
        (run.code, files),
        (0, vec!["hf://me/model@v1/a.stb".to_owned(), "hf://me/model@v1/sub/b c.stb".to_owned(),])
    );
    let targets: Vec<_> = content.requests().into_iter().map(|it| it.target).collect();
    assert_eq!(targets, ["/me/model/resolve/v1/a.stb", "/me/model/resolve/v1/sub/b%20c.stb"]);
    let missing = check_hub(&hub, &["hf://me/other", "hf://me/other/a.stb"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.err.contains("hf://me/other/: cannot be listed: the server answered 404"),
        "{missing:?}"
    );
}

#[test]
fn token_is_sent_to_the_hub_only() {
    let content = content();
    let hub = hub(&content);
    let run = check_hub(&hub, &["hf://me/model/a.stb", "hf://me/model/sub/"]);
    assert!(hub.requests().iter().all(|it| it.header("authorization") == Some("Bearer SECRET")));
    assert!(content.requests().iter().all(|it| it.header("authorization").is_none()));
    // The other server does not learn where the request came from either: a query may be a
    // secret.
    assert!(content.requests().iter().all(|it| it.header("referer").is_none()));
    assert!(!content.requests().is_empty() && !format!("{run:?}").contains("SECRET"));
}

/// A listing that ends early would be reported as a success without the remaining files.
#[test]
fn unreadable_next_page_is_error() {
    for (link, why) in [
        ("<https://hub.example/api>; rel=\"next\"", "another server"),
        ("</api/models/me/model/tree/main?cursor=2>; rel=next", "another server"),
        ("/api; rel=\"next\"", "is malformed"),
    ] {
        let hub = Server::new(move |_| Answer {
            headers: vec![("Link", "<a>; rel=\"first\"".to_owned()), ("Link", link.to_owned())],
            ..Answer::text("[]")
        });
        let run = check_hub(&hub, &["hf://me/model"]);
        assert!(run.code == 2 && run.err.contains(why), "{link}: {run:?}");
        assert_eq!(hub.requests().len(), 1);
    }
}

#[test]
fn rate_limited_hub_is_retried() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let hub = Server::new(move |request| {
        match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Answer::status(429),
            1 => Answer::text(json!([node("file", "a.stb")]).to_string()),
            _ => Answer::of(&sound().encode(), request),
        }
    });
    let run = check_hub(&hub, &["hf://me/model"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// A branch may move, and the hub need not identify a file's content; a commit does not
/// change.
#[test]
fn only_files_of_a_commit_have_stamps() {
    let hub = Server::new(|request| match request.target.contains("/tree/") {
        true => {
            let unnamed = json!({"type": "file", "path": "b.stb", "size": 1});
            Answer::text(json!([node("file", "a.stb"), unnamed]).to_string())
        }
        false => Answer::of(&sound().encode(), request),
    });
    let commit = format!("hf://me/model@{}", "0a".repeat(20));
    for (url, again) in [("hf://me/model", 2), (&*commit, 1)] {
        let folder = Folder::new();
        for files in [2, again] {
            let mut command = ask(&folder, &["check", "--json", url, "--resume", "journal"]);
            command.env("HF_ENDPOINT", format!("http://{}", hub.address()));
            let run = finish(command);
            assert_eq!((run.code, run.lines().len()), (0, files), "{url}: {run:?}");
        }
    }
}

#[test]
fn malformed_hub_listing_is_error() {
    for answer in ["<html>", "{\"error\":\"x\"}", "[{\"type\":\"file\"}]"] {
        let hub = Server::new(move |_| Answer::text(answer));
        let run = check_hub(&hub, &["hf://me/model"]);
        assert!(run.code == 2 && run.err.contains("not a JSON list of files"), "{run:?}");
    }
    let run = check_hub(&Server::new(|_| Answer::text("[]")), &["hf://me/model"]);
    assert!(run.code == 2 && run.err.contains("nothing was checked"), "{run:?}");
}
