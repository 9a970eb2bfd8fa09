//! Tasks that take turns, so that what else the machine does slows down all of them.

use std::time::Instant;

/// The median time of each task, in seconds, and how often the first fits into each.
#[derive(Debug)]
pub(crate) struct Turns<const N: usize> {
    pub(crate) seconds: [f64; N],
    /// Medians of the ratios of one round: of neighbours in time.
    pub(crate) ratios: [f64; N],
}

/// Runs each task so often, in turns.
pub(crate) fn take_turns<const N: usize>(
    rounds: usize,
    mut tasks: [&mut dyn FnMut(); N],
) -> Turns<N> {
    let mut times = [const { Vec::<f64>::new() }; N];
    for _ in 0..rounds {
        for (task, times) in tasks.iter_mut().zip(&mut times) {
            let start = Instant::now();
            task();
            times.push(start.elapsed().as_secs_f64().max(1e-9));
        }
    }
    let first = times[0].clone();
    let ratio =
        |times: &Vec<f64>| median(times.iter().zip(&first).map(|(time, first)| time / first));
    let ratios = times.each_ref().map(ratio);
    Turns { seconds: times.map(|times| median(times.into_iter())), ratios }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
