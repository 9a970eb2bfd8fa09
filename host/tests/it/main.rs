//! The host layer over files of every format: verdicts, values, and sessions.

mod documented;
mod hidden;
mod inputs;
mod layers;
mod limits;
mod orders;
mod reports;
mod ruled;
mod shared;
mod summary;
mod tensors;

use weighbridge::{Goal, Options, Poll, Report, Session};

/// The report of a session that is supplied with `piece` bytes at a time.
fn in_pieces(file: &[u8], options: Options, piece: usize) -> Report {
    let goal = Goal::Payloads;
    let mut session = Session::new(file.len() as u64, options);
    let mut last = Vec::new();
    for _ in 0..20_000 {
        match session.poll(goal).expect("no file is too large here") {
            Poll::Done => return session.report(),
            Poll::Need(ranges) => {
                last.clone_from(&ranges);
                for range in ranges {
                    let from = range.offset as usize;
                    let bytes = &file[from..from + range.len as usize];
                    for (i, part) in bytes.chunks(piece).enumerate() {
                        session.supply((from + i * piece) as u64, part);
                    }
                }
            }
        }
    }
    panic!("the session does not come to an end: it asks for {last:?}");
}
