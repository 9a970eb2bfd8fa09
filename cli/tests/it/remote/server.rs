//! Servers on the loopback address, sound and faulty: the tests define each answer.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A client's request.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    headers: Vec<(String, String)>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let named = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        self.headers.iter().find(named).map(|(_, value)| value.as_str())
    }

    /// The requested range.
    pub(super) fn range(&self) -> Option<Range<u64>> {
        let (from, to) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some(from.parse().ok()?..to.parse::<u64>().ok()? + 1)
    }
}

/// A server's answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    /// Closes the connection after this many bytes of the body.
    pub(super) cut: Option<usize>,
    /// Delay before the answer.
    pub(super) wait: Duration,
}

impl Answer {
    pub(super) fn status(status: u16) -> Self {
        Answer { status, ..Answer::default() }
    }

    pub(super) fn text(body: impl Into<Vec<u8>>) -> Self {
        Answer { status: 200, body: body.into(), ..Answer::default() }
    }

    /// A sound server's answer for a file with these bytes.
    pub(super) fn of(file: &[u8], request: &Request) -> Self {
        let read = |range: Range<u64>| file[range.start as usize..range.end as usize].to_vec();
        Answer::ranged(file.len() as u64, request, read)
    }

    /// A sound server's answer for a file whose bytes are generated on demand.
    pub(super) fn ranged(
        len: u64,
        request: &Request,
        read: impl FnOnce(Range<u64>) -> Vec<u8>,
    ) -> Self {
        let etag = ("ETag", "\"1\"".to_owned());
        if request.method == "HEAD" {
            let length = ("Content-Length", len.to_string());
            return Answer { status: 200, headers: vec![etag, length], ..Answer::default() };
        }
        let range = request.range().unwrap_or(0..len);
        if range.start >= len {
            return Answer::status(416);
        }
        let range = range.start..range.end.min(len);
        let content = format!("bytes {}-{}/{len}", range.start, range.end - 1);
        let headers = vec![etag, ("Content-Range", content)];
        Answer { status: 206, headers, body: read(range), ..Answer::default() }
    }
}

/// A server that runs until the test ends.
pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// A server that answers with `answer`.
    pub(super) fn new(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                // A disconnecting client is not a server fault.
                thread::spawn(move || serve(stream, &seen, &*answer).ok());
            }
        });
        Server { address, requests }
    }

    /// A server with a single file, returned for every path.
    pub(super) fn with(file: Vec<u8>) -> Self {
        Server::new(move |request| Answer::of(&file, request))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests, in order of arrival.
    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no thread panics").clone()
    }
}

fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    answer: &(impl Fn(&Request) -> Answer + ?Sized),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    loop {
        let mut request = Request::default();
        let Some(first) = lines.next() else { return Ok(()) };
        let first = first?;
        let mut words = first.split(' ').map(str::to_owned);
        (request.method, request.target) =
            (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        for line in lines.by_ref() {
            let line = line?;
            let Some((name, value)) = line.split_once(':') else { break };
            request.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        seen.lock().expect("no thread panics").push(request.clone());
        let Answer { status, headers, body, cut, wait } = answer(&request);
        thread::sleep(wait);
        let mut head = format!("HTTP/1.1 {status} Said\r\n");
        for (name, value) in &headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !headers.iter().any(|(name, _)| matches!(*name, "Content-Length" | "Transfer-Encoding"))
        {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        if request.method != "HEAD" {
            stream.write_all(&body[..cut.unwrap_or(body.len())])?;
        }
        if cut.is_some() {
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
}
