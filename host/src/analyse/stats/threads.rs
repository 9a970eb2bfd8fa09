//! Statistics on several threads: this one reads and decodes, the others sum up.

use super::{Sums, after, in_turn, part, part_len, pieces};
use crate::base::error::Error;
use crate::check::access::Access;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;
use weighbridge_core::{File, Histogram, Summary, Tensor};

/// Maximum number of threads that sum up: a single reader cannot keep more busy.
const MOST: usize = 4;

/// The number of threads for summing up on this machine.
pub(super) fn count() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST)
}

/// A part: the index of its first element, and its bytes.
type Part = (u64, Vec<u8>);

/// The result for a part, with its buffer for reuse.
type Done = (u64, Option<Summary>, Vec<u8>);

/// Merges the summaries of parts in order.
#[derive(Default)]
struct Merged {
    /// The first element of the next part.
    next: u64,
    /// Later parts that wait for it.
    waiting: BTreeMap<u64, Summary>,
    all: Option<Summary>,
}

impl Merged {
    fn put(&mut self, first: u64, part: Option<Summary>, len: u64) {
        self.waiting.extend(part.map(|part| (first, part)));
        while let Some(part) = self.waiting.remove(&self.next) {
            self.all = Some(after(self.all.take(), part));
            self.next += len;
        }
    }
}

/// Like [`in_turn`], on up to `threads` additional threads, with the same result. If the system
/// provides fewer threads, those do the work; if it provides none, this one does.
pub(super) fn sum_up(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    threads: usize,
) -> Result<Option<Sums>, Error> {
    let (parts, todo) = sync_channel::<Part>(threads);
    let todo = Arc::new(Mutex::new(todo));
    let (results, done) = channel();
    thread::scope(|scope| {
        let start = |_| {
            let (todo, results) = (Arc::clone(&todo), results.clone());
            let builder = thread::Builder::new().name("statistics".into());
            builder.spawn_scoped(scope, move || work(tensor, &todo, &results)).ok()
        };
        let running: Vec<_> = (0..threads).map_while(start).collect();
        // Only the threads hold the receiver now: when all of them end, sending fails.
        drop(todo);
        if running.is_empty() {
            return in_turn(access, file, tensor);
        }
        let (mut first, mut bytes) = (0, Vec::new());
        let (mut merged, len) = (Merged::default(), part_len(tensor.dtype));
        let mut send = |bytes: &mut Vec<u8>| {
            let mut next = Vec::new();
            while let Ok((first, part, buffer)) = done.try_recv() {
                merged.put(first, part, len);
                next = buffer;
            }
            // Sending fails only if a thread has panicked; joining it below panics too.
            let _ = parts.send((first, core::mem::replace(bytes, next)));
            first += len;
        };
        let read = pieces(access, file, tensor, |piece, ends| {
            bytes.extend_from_slice(piece);
            if ends {
                send(&mut bytes);
            }
        });
        if !bytes.is_empty() {
            send(&mut bytes);
        }
        drop(parts);
        let mut words = vec![0; Histogram::WORDS];
        for thread in running {
            let mut counted = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            let all = Histogram::new(tensor.dtype, &mut words);
            if let (Some(mut all), Some(more)) = (all, Histogram::new(tensor.dtype, &mut counted)) {
                all.merge(&more);
            }
        }
        read?;
        // All threads have ended.
        done.try_iter().for_each(|(first, part, _)| merged.put(first, part, len));
        Ok(merged.all.map(|summary| Sums { summary, words }))
    })
}

/// Sums up parts until there are no more, and returns the histogram counts.
fn work(tensor: &Tensor, todo: &Mutex<Receiver<Part>>, results: &Sender<Done>) -> Vec<u64> {
    let mut words = vec![0; Histogram::WORDS];
    loop {
        let next = todo.lock().map(|todo| todo.recv());
        let Ok(Ok((first, mut bytes))) = next else { return words };
        let summary = part(tensor, first).map(|mut stats| {
            stats.add(&bytes, Histogram::new(tensor.dtype, &mut words).as_mut());
            stats.summary()
        });
        bytes.clear();
        // If the reader has given up, this thread ends at its next part.
        let _ = results.send((first, summary, bytes));
    }
}
