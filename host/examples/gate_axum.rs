//! An upload gate as an axum handler. Uploads go to a temporary file, so memory does not grow
//! with their size, and only a valid file is answered with 200.
//!
//! `cargo run --example gate_axum`, then `curl -T model.gguf localhost:3000`.

use axum::body::Body;
use axum::http::StatusCode;
use axum::routing::{Router, put};
use futures_util::StreamExt as _;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use weighbridge::{Options, Profile, check_reader};

/// The longest upload, in bytes.
const MOST: u64 = 64 << 30;

type Refusal = (StatusCode, String);

fn upload_gate() -> Router {
    Router::new().route("/", put(upload))
}

/// Checks an upload; refuses it with one line per problem.
async fn upload(body: Body) -> Result<&'static str, Refusal> {
    let file = spool(body).await?;
    // Checking blocks and computes, so it runs on its own thread.
    let check = tokio::task::spawn_blocking(move || check_reader(file, &Options::new()));
    let report = check.await.map_err(failed)?.map_err(failed)?;
    if report.verdict(Profile::Strict).is_valid() {
        return Ok("valid\n"); // the place to keep the file
    }
    let found = report.findings().iter().map(|it| format!("{}: {}\n", it.rule(), it.message()));
    let left = report.unchecked().iter().map(|it| format!("not checked: {}\n", it.why()));
    Err((StatusCode::UNPROCESSABLE_ENTITY, found.chain(left).collect()))
}

/// Writes an upload to an unnamed file, piece by piece.
async fn spool(body: Body) -> Result<std::fs::File, Refusal> {
    let mut file = File::from_std(tempfile::tempfile().map_err(failed)?);
    let mut pieces = body.into_data_stream();
    let mut len = 0;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        len += piece.len() as u64;
        if len > MOST {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, format!("over {MOST} bytes\n")));
        }
        file.write_all(&piece).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)?;
    Ok(file.into_std().await)
}

/// Reports an error that is not the file's fault.
fn failed(error: impl std::fmt::Display) -> Refusal {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, upload_gate()).await
}

/// The answer to a request that sends `file` in pieces.
#[cfg(test)]
async fn answer(file: &[u8]) -> std::io::Result<String> {
    use tokio::io::AsyncReadExt as _;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async { axum::serve(listener, upload_gate()).await });
    let mut client = tokio::net::TcpStream::connect(address).await?;
    let head =
        "PUT / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    client.write_all(head.as_bytes()).await?;
    for piece in file.chunks(50) {
        client.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
        client.write_all(piece).await?;
        client.write_all(b"\r\n").await?;
    }
    client.write_all(b"0\r\n\r\n").await?;
    let mut answer = String::new();
    client.read_to_string(&mut answer).await?;
    server.abort();
    Ok(answer)
}

#[tokio::test]
async fn an_upload_is_answered_with_its_verdict() -> std::io::Result<()> {
    let mut file = weighbridge_tests::samples::safetensors();
    let accepted = answer(&file).await?;
    assert!(accepted.starts_with("HTTP/1.1 200 ") && accepted.ends_with("valid\n"), "{accepted}");
    file.pop();
    let refused = answer(&file).await?;
    assert!(refused.starts_with("HTTP/1.1 422 "), "{refused}");
    assert!(refused.contains("beyond the buffer's 11 bytes"), "{refused}");
    Ok(())
}
