//! Buckets: a server that implements as much of S3 as the client uses. `scripts/remote.sh`
//! tests against a third-party server.

use super::*;

const KEYS: [&str; 4] = ["a.stb", "models/b c.stb", "models/deep/x.safetensors", "notes.md"];

fn file(key: &str) -> Option<Vec<u8>> {
    // Some clients escape names like this.
    match key.replace("%2E", ".").rsplit('/').next()? {
        "a.stb" | "b%20c.stb" => Some(sound().encode()),
        "x.safetensors" => Some(tensors(&["x"])),
        "notes.md" => Some(b"# notes".to_vec()),
        _ => None,
    }
}

/// A page of a listing with these keys and lengths, and the start of the next page.
fn page(keys: &[(&str, u64)], next: Option<usize>) -> Answer {
    let contents = keys.iter().map(|(key, len)| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <ETag>\"{key}\"</ETag><Size>{len}</Size></Contents>"
        )
    });
    let contents: String = contents.collect();
    let token = |next| format!("<NextContinuationToken>{next}</NextContinuationToken>");
    let next = next.map(token).unwrap_or_default();
    Answer::text(format!(
        "<?xml version=\"1.0\"?><ListBucketResult>{contents}{next}</ListBucketResult>"
    ))
}

/// The keys with the prefix of a request, two per page.
fn list(query: &str) -> Answer {
    let get = |name: &str| {
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        pair.unwrap_or_default().replace("%2F", "/")
    };
    let from: usize = get("continuation-token").parse().unwrap_or(0);
    let keys: Vec<_> = KEYS.into_iter().filter(|key| key.starts_with(&get("prefix"))).collect();
    let some: Vec<_> = keys.iter().skip(from).take(2).map(|key| (*key, 1)).collect();
    page(&some, (from + 2 < keys.len()).then_some(from + 2))
}

fn bucket() -> Server {
    bucket_of(list)
}

/// A bucket that answers listings with `list`.
fn bucket_of(list: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Server {
    Server::new(move |request| {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        match path.strip_prefix("/box") {
            Some("" | "/") => list(query),
            Some(key) => file(key).map_or(Answer::status(404), |bytes| {
                let mut answer = Answer::of(&bytes, request);
                let date = "Thu, 01 Jan 2026 00:00:00 GMT".to_owned();
                answer.headers.push(("Last-Modified", date));
                answer
            }),
            None => Answer::status(404),
        }
    })
}

fn check_s3(server: &Server, folder: &Folder, args: &[&str]) -> Run {
    let mut command = ask(folder, &[&["check", "--json", "--retries", "1"], args].concat());
    command
        .env("AWS_ENDPOINT_URL", format!("http://{}", server.address()))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "ID")
        .env("AWS_SECRET_ACCESS_KEY", "SECRET");
    finish(command)
}

/// The files that are no companions.
fn files(run: &Run) -> Vec<String> {
    let lines = run.lines().into_iter().filter(|line| line["class"] != "companion");
    lines.map(|line| line["file"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn bucket_and_prefix_are_listed() {
    let (server, folder) = (bucket(), Folder::new());
    let run = check_s3(&server, &folder, &["s3://box", "--skip-unknown"]);
    let all = ["s3://box/a.stb", "s3://box/models/b c.stb", "s3://box/models/deep/x.safetensors"];
    assert_eq!((run.code, files(&run)), (0, all.map(str::to_owned).to_vec()), "{run:?}");
    assert_eq!(run.lines()[0]["read"]["requests"], 1);
    let signed = |it: &Request| it.header("authorization").is_some_and(|it| it.contains("AWS4"));
    assert!(server.requests().iter().all(signed) && !format!("{run:?}").contains("SECRET"));
    let below = check_s3(&server, &folder, &["s3://box/models/", "--exclude", "deep"]);
    assert_eq!((below.code, files(&below)), (0, vec![all[1].to_owned()]), "{below:?}");
    let one = check_s3(&server, &folder, &["s3://box/a.stb"]);
    assert_eq!((one.code, files(&one)), (0, vec![all[0].to_owned()]));
    let missing = check_s3(&server, &folder, &["s3://box/none.stb"]);
    assert!(missing.code == 2 && missing.err.contains("answered 404"), "{missing:?}");
    let nothing = check_s3(&server, &folder, &["s3://box/none/"]);
    assert!(nothing.code == 2 && nothing.err.contains("nothing was checked"), "{nothing:?}");
}

/// The listing says whether an object has changed, so unchanged ones are not even opened.
#[test]
fn bucket_scan_resumes() {
    let (server, folder) = (bucket(), Folder::new());
    let args = ["s3://box", "--skip-unknown", "--resume", "journal"];
    let first = check_s3(&server, &folder, &args);
    let before = server.requests().len();
    let second = check_s3(&server, &folder, &args);
    assert_eq!((first.code, second.code), (0, 0));
    assert_eq!((first.out.lines().count(), &*second.out), (4, ""));
    assert_eq!(server.requests().len() - before, 2, "two pages of the listing");
}

#[test]
fn bucket_shards_cover_every_file() {
    let (server, folder) = (bucket(), Folder::new());
    let mut all = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let run = check_s3(&server, &folder, &["s3://box", "--skip-unknown", "--shard", shard]);
        assert_eq!(run.code, 0, "{run:?}");
        all.extend(files(&run));
    }
    all.sort();
    assert_eq!(all.len(), 3, "{all:?}");
}

/// No part knows what the rest of the listing would have contained.
#[test]
fn broken_listing_fails_in_every_part() {
    let server = bucket_of(|query| match query.contains("continuation-token") {
        true => Answer::status(500),
        false => list(query),
    });
    let folder = Folder::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let run = check_s3(&server, &folder, &["s3://box", "--skip-unknown", "--shard", shard]);
        assert!(run.code == 2 && run.err.contains("cannot be listed"), "{shard}: {run:?}");
    }
}

/// The library drops leading and trailing slashes of keys.
#[test]
fn keys_that_differ_by_a_slash_stay_distinct() {
    let folder = Folder::new();
    let run = check_s3(&bucket(), &folder, &["s3://box//a.stb"]);
    assert!(run.code == 2 && run.err.contains("begins with a slash"), "{run:?}");
    let run = finish(ask(&folder, &["inspect", "s3://box/a.stb/"]));
    assert!(run.code == 2 && run.err.contains("is a folder, not a file"), "{run:?}");
    for other in ["/a.stb", "a.stb/"] {
        let server = bucket_of(move |_| page(&[(other, 1), ("a.stb", 1)], None));
        let run = check_s3(&server, &folder, &["s3://box"]);
        assert!(run.code == 2 && run.err.contains("differ only by a slash"), "{other}: {run:?}");
    }
    let server = bucket_of(|_| page(&[("models/", 0), ("models/b c.stb", 1)], None));
    let run = check_s3(&server, &folder, &["s3://box/models/"]);
    assert_eq!((run.code, files(&run)), (0, vec!["s3://box/models/b c.stb".to_owned()]), "{run:?}");
}

#[test]
fn azure_and_google_buckets_are_read() {
    let server = bucket();
    let endpoint = format!("http://{}", server.address());
    for (url, variables) in [
        (
            "gs://box/a.stb",
            [
                ("GOOGLE_BASE_URL", &*endpoint),
                ("GOOGLE_SKIP_SIGNATURE", "true"),
                ("GOOGLE_ALLOW_HTTP", "true"),
                ("A", ""),
            ],
        ),
        (
            "az://box/a.stb",
            [
                ("AZURE_STORAGE_ENDPOINT", &*endpoint),
                ("AZURE_SKIP_SIGNATURE", "true"),
                ("AZURE_ALLOW_HTTP", "true"),
                ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ],
        ),
    ] {
        let folder = Folder::new();
        let mut command = ask(&folder, &["check", "--json", "--retries", "1", url]);
        command.envs(variables);
        let run = finish(command);
        assert_eq!((run.code, files(&run)), (0, vec![url.to_owned()]), "{run:?}");
    }
}
