//! Processes many inputs in parallel, with results in input order.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, mpsc};
use std::thread;

/// Maximum number of threads, whatever was requested: each has windows of its file
/// and buffers, and more threads do not read faster.
const MOST: usize = 128;

/// Calls `work` for each input on `jobs` threads, and `take` for each result, on
/// this thread and in input order, until it breaks. If the system provides fewer
/// threads, those do the work; if it provides none, this one does.
///
/// A panic in `work` is propagated.
///
/// At most twice as many results as threads wait for their turn, so that a slow
/// first file does not fill the memory with the reports of the others.
pub(crate) fn in_order<I: Send, R: Send>(
    inputs: impl Iterator<Item = I>,
    jobs: NonZeroUsize,
    work: impl Fn(I) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<()>,
) {
    let named = || thread::Builder::new().name("check".to_owned());
    in_order_on(named, inputs, jobs, work, take);
}

fn in_order_on<I: Send, R: Send>(
    builder: impl Fn() -> thread::Builder,
    mut inputs: impl Iterator<Item = I>,
    jobs: NonZeroUsize,
    work: impl Fn(I) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let (tickets, todo) = mpsc::channel::<(usize, I)>();
    let todo = Mutex::new(todo);
    let (results, done) = mpsc::channel();
    let work = &work;
    thread::scope(|scope| {
        // At most as many threads as inputs.
        let first: Vec<I> = inputs.by_ref().take(jobs.get().min(MOST)).collect();
        let mut jobs = 0;
        if first.len() > 1 {
            let start = |_: &usize| {
                let (todo, results) = (&todo, results.clone());
                let run = move || {
                    loop {
                        let ticket = todo.lock().map(|todo| todo.recv());
                        let Ok(Ok((n, input))) = ticket else { return };
                        // Otherwise the receiver would wait for this result for
                        // ever.
                        let result = catch_unwind(AssertUnwindSafe(|| work(input)));
                        if results.send((n, result)).is_err() {
                            return;
                        }
                    }
                };
                builder().spawn_scoped(scope, run).is_ok()
            };
            jobs = (0..first.len()).take_while(start).count();
        }
        // Now only the threads hold the sender: if all of them end, waiting ends
        // too.
        drop(results);

        let mut inputs = first.into_iter().chain(inputs);
        if jobs == 0 {
            // There are no other threads.
            let _ = inputs.map(work).try_for_each(take);
            return;
        }
        let mut issued = 0;
        let mut waiting = BTreeMap::new();
        for next in 0.. {
            while issued < next + 2 * jobs {
                let Some(input) = inputs.next() else { break };
                if tickets.send((issued, input)).is_err() {
                    return;
                }
                issued += 1;
            }
            if next == issued {
                break;
            }
            let result = loop {
                if let Some(result) = waiting.remove(&next) {
                    break result;
                }
                let Ok((n, result)) = done.recv() else { return };
                waiting.insert(n, result);
            };
            let result = result.unwrap_or_else(|panic| resume_unwind(panic));
            if take(result).is_break() {
                break;
            }
        }
        // No more tickets: the threads finish their current work and end.
        drop(tickets);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn jobs(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).expect("not zero")
    }

    #[test]
    fn results_come_in_input_order() {
        let inputs: Vec<u64> = (0..200).collect();
        for n in [1, 2, 7, 500] {
            let mut taken = Vec::new();
            let work = |input: &u64| -> u64 {
                thread::sleep(Duration::from_micros(input * 37 % 11 * 50));
                input * 2
            };
            in_order(inputs.iter(), jobs(n), work, |result| {
                taken.push(result);
                ControlFlow::Continue(())
            });
            assert!(taken.iter().copied().eq((0..200).map(|input| input * 2)), "{n} jobs");
        }
    }

    /// An impossible stack size stands in for a system that provides no threads.
    #[test]
    fn jobs_run_without_threads() {
        let inputs: Vec<u64> = (0..20).collect();
        let here = thread::current().id();
        let none = || thread::Builder::new().stack_size(1 << 60);
        let mut taken = Vec::new();
        in_order_on(
            none,
            inputs.iter(),
            jobs(20_000),
            |n| (thread::current().id(), *n),
            |result| {
                taken.push(result);
                ControlFlow::Continue(())
            },
        );
        assert!(taken.into_iter().eq(inputs.iter().map(|n| (here, *n))));
    }

    #[test]
    fn thread_count_is_capped() {
        let inputs = [(); 5_000];
        let ids = Mutex::new(std::collections::HashSet::new());
        let work = |_: &()| ids.lock().map(|mut ids| ids.insert(thread::current().id())).is_ok();
        let mut taken = 0;
        in_order(inputs.iter(), jobs(20_000), work, |done| {
            taken += usize::from(done);
            ControlFlow::Continue(())
        });
        assert_eq!(taken, inputs.len());
        assert!(ids.lock().expect("no thread panics").len() <= MOST);
    }

    #[test]
    fn break_ends_jobs() {
        let started = AtomicUsize::new(0);
        let inputs = [(); 10_000];
        let mut taken = 0;
        let work = |_: &()| started.fetch_add(1, Ordering::Relaxed);
        in_order(inputs.iter(), jobs(3), work, |_| {
            taken += 1;
            if taken == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(taken, 5);
        assert!(started.load(Ordering::Relaxed) < 20);
    }

    #[test]
    #[should_panic = "the third one"]
    fn panic_in_job_ends_run() {
        let work = |n: u32| {
            if n == 3 {
                panic!("the third one")
            }
        };
        in_order(0..1_000, jobs(2), work, |()| ControlFlow::Continue(()));
    }
}
