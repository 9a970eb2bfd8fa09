//! Statistics on several threads: this one reads and decodes, others sum up.

use super::{Sums, after, in_turn, part, pieces};
use crate::access::Access;
use crate::error::Error;
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
    let (spent, free) = channel();
    thread::scope(|scope| {
        let start = |_| {
            let (todo, spent) = (Arc::clone(&todo), spent.clone());
            let builder = thread::Builder::new().name("statistics".into());
            builder.spawn_scoped(scope, move || work(tensor, &todo, &spent)).ok()
        };
        let running: Vec<_> = (0..threads).map_while(start).collect();
        // Only the threads hold it now: if all of them end, sending ends too.
        drop(todo);
        if running.is_empty() {
            return in_turn(access, file, tensor);
        }
        let (mut first, mut bytes) = (0, Vec::new());
        let mut send = |bytes: &mut Vec<u8>| {
            let next = free.try_recv().unwrap_or_default();
            // Without receivers a thread has panicked, and so does this one below.
            let _ = parts.send((first, core::mem::replace(bytes, next)));
            first += super::PART;
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
        let mut summaries = Vec::new();
        for thread in running {
            let (some, mut counted) = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            summaries.extend(some);
            let all = Histogram::new(tensor.dtype, &mut words);
            if let (Some(mut all), Some(more)) = (all, Histogram::new(tensor.dtype, &mut counted)) {
                all.merge(&more);
            }
        }
        read?;
        summaries.sort_unstable_by_key(|(first, _)| *first);
        let parts = summaries.into_iter().map(|(_, part)| part);
        let summary = parts.fold(None, |before, part| Some(after(before, part)));
        Ok(summary.map(|summary| Sums { summary, words }))
    })
}

/// Sums up parts until there are no more: their summaries, and the counts of all.
fn work(
    tensor: &Tensor,
    todo: &Mutex<Receiver<Part>>,
    spent: &Sender<Vec<u8>>,
) -> (Vec<(u64, Summary)>, Vec<u64>) {
    let mut words = vec![0; Histogram::WORDS];
    let mut done = Vec::new();
    loop {
        let next = todo.lock().map(|todo| todo.recv());
        let Ok(Ok((first, mut bytes))) = next else { return (done, words) };
        if let Some(mut stats) = part(tensor, first) {
            stats.add(&bytes, Histogram::new(tensor.dtype, &mut words).as_mut());
            done.push((first, stats.summary()));
        }
        bytes.clear();
        // Nobody reads any more at the end.
        let _ = spent.send(bytes);
    }
}
