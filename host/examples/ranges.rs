//! Reads a model over HTTP ranges without blocking: the session says which ranges it needs, and
//! the caller fetches them. `fetch` stands for the HTTP client.

use weighbridge::{Error, Goal, Options, Poll, Report, Session, Span};

/// Checks a remote file of `len` bytes; `fetch` returns ranges of it.
async fn check<F: Future<Output = Vec<u8>>>(
    len: u64,
    fetch: impl Fn(Span) -> F,
) -> Result<Report, Error> {
    let mut session = Session::new(len, Options::new().granule(64 << 10));
    while let Poll::Need(ranges) = session.poll(Goal::Payloads)? {
        for range in ranges {
            session.supply(range.offset, fetch(range).await);
        }
    }
    for tensor in session.tensors() {
        println!("{} lies at {:?}", tensor.name(), tensor.span());
    }
    Ok(session.report())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let server = std::fs::read(path)?;
    let report = wait(check(server.len() as u64, |range| get(&server, range)))?;
    println!("{:?}: {} findings", report.format(), report.total());
    Ok(())
}

/// A `GET` with the header `Range: bytes=offset-`.
async fn get(server: &[u8], Span { offset, len }: Span) -> Vec<u8> {
    server[offset as usize..][..len as usize].to_vec()
}

/// A minimal executor: this future is never pending.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!("nothing here waits"),
    }
}

#[test]
fn a_remote_file_is_checked() {
    let server = weighbridge_tests::samples::safetensors();
    let report = wait(check(server.len() as u64, |range| get(&server, range)));
    let verdict = report.expect("reads").verdict(weighbridge::Profile::Strict);
    assert!(verdict.is_valid());
}
