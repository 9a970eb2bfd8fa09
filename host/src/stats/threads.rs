//! Statistics on several threads: this one reads and decodes, others sum up.

use super::{Sums, after, in_turn, part, part_len, pieces};
use crate::access::Access;
use crate::error::Error;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;
use weighbridge_core::{File, Histogram, Summary, Tensor};

/// The most threads that sum up: one that reads has no work for more.
const MOST: usize = 4;

/// How many threads sum up on this machine.
pub(super) fn count() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST)
}

/// A part: the number of its first element, and its bytes.
type Part = (u64, Vec<u8>);

/// A part that was summed up: its buffer, which is used again.
type Done = (u64, Option<Summary>, Vec<u8>);

/// Summaries of parts, merged in their order.
#[derive(Default)]
struct Merged {
    /// The first element of the next part.
    next: u64,
    /// Parts after it.
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

/// As [`in_turn`], on so many more threads, with the same result. Where the system gives
/// fewer, those do the work; where it gives none, this one does.
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
        // Only the threads hold it now: if all of them end, sending ends too.
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
            // Without receivers a thread has panicked, and so does this one below.
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

/// Sums up parts until there are no more; returns the counts of all.
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
        // If the reader has given up, so does this thread, at its next part.
        let _ = results.send((first, summary, bytes));
    }
}
