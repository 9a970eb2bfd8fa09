//! Work on many inputs at once, results in the order of the inputs.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, mpsc};
use std::thread;

/// Calls `work` for each input on `jobs` threads, and `take` for each result,
/// on this thread and in input order, until it breaks.
///
/// No more than twice as many results as threads wait for their turn, so that
/// a slow first file does not fill the memory with the reports of the others.
pub(crate) fn in_order<I: Sync, R: Send>(
    inputs: &[I],
    jobs: NonZeroUsize,
    work: impl Fn(&I) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let jobs = jobs.get().min(inputs.len());
    if jobs <= 1 {
        for input in inputs {
            if take(work(input)).is_break() {
                return;
            }
        }
        return;
    }
    let (tickets, todo) = mpsc::channel::<usize>();
    let todo = Mutex::new(todo);
    let (results, done) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (todo, work, results) = (&todo, &work, results.clone());
            scope.spawn(move || {
                loop {
                    let ticket = todo.lock().map(|todo| todo.recv());
                    let Ok(Ok(n)) = ticket else { return };
                    let Some(input) = inputs.get(n) else { return };
                    if results.send((n, work(input))).is_err() {
                        return;
                    }
                }
            });
        }
        // Only the threads hold it now: if all of them end, waiting ends too.
        drop(results);

        let mut issued = 0;
        let mut waiting = BTreeMap::new();
        for next in 0..inputs.len() {
            while issued < inputs.len() && issued < next + 2 * jobs {
                if tickets.send(issued).is_err() {
                    return;
                }
                issued += 1;
            }
            let result = loop {
                if let Some(result) = waiting.remove(&next) {
                    break result;
                }
                let Ok((n, result)) = done.recv() else { return };
                waiting.insert(n, result);
            };
            if take(result).is_break() {
                break;
            }
        }
        // No more tickets: the threads finish what they have and end.
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
            let work = |input: &u64| {
                thread::sleep(Duration::from_micros(input * 37 % 11 * 50));
                input * 2
            };
            in_order(&inputs, jobs(n), work, |result| {
                taken.push(result);
                ControlFlow::Continue(())
            });
            assert!(taken.iter().copied().eq((0..200).map(|input| input * 2)), "{n} jobs");
        }
    }

    #[test]
    fn a_break_ends_it_soon() {
        let started = AtomicUsize::new(0);
        let inputs = vec![(); 10_000];
        let mut taken = 0;
        let work = |_: &()| started.fetch_add(1, Ordering::Relaxed);
        in_order(&inputs, jobs(3), work, |_| {
            taken += 1;
            if taken == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(taken, 5);
        assert!(started.load(Ordering::Relaxed) < 20);
    }

    #[test]
    fn no_input_is_no_work() {
        in_order(&[] as &[u8], jobs(4), |_| (), |()| panic!("there is nothing to take"));
    }
}
