//! Alternates our task and the others, so that background load slows down all of them. Each result
//! is the processor time of the fastest run, because any disturbance can only add time.
//!
//! `scripts/figures.sh` sets `WEIGHBRIDGE_FIGURES` to the file that each race appends its lines to,
//! and sets `WEIGHBRIDGE_SHORT` to run fewer rounds.
#![allow(dead_code, reason = "no benchmark uses all items")]

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::time::Duration;

/// Number of rounds in a short run.
const SHORT: usize = 7;

/// A table of races.
#[derive(Debug)]
pub(crate) struct Table {
    name: &'static str,
    rounds: usize,
    out: Option<File>,
}

/// The unit of a time or speed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Milliseconds in total.
    Whole,
    /// Nanoseconds per item, for this many items.
    Items(u64),
    /// Gigabytes per second, for this many bytes.
    Bytes(u64),
}

impl Table {
    /// A table whose rows run `rounds` rounds each.
    pub(crate) fn new(name: &'static str, rounds: usize) -> Self {
        println!(
            "{name}: processor time of the fastest of runs that take turns; x: how often ours fits into theirs"
        );
        let short = std::env::var_os("WEIGHBRIDGE_SHORT").is_some();
        let rounds = match (measures(), short) {
            (false, _) => 1,
            (true, true) => rounds.min(SHORT),
            (true, false) => rounds,
        };
        let file = std::env::var_os("WEIGHBRIDGE_FIGURES");
        let open = |path| OpenOptions::new().append(true).create(true).open(path);
        let out = file.map(|path| open(path).expect("the file for figures opens"));
        Table { name, rounds, out }
    }

    /// Alternates our task with the others, and prints one line for each of the others.
    pub(crate) fn race<const N: usize>(
        &mut self,
        row: &str,
        unit: Unit,
        others: [&str; N],
        ours: &mut dyn FnMut(),
        mut theirs: [&mut dyn FnMut(); N],
    ) {
        let mut own = f64::INFINITY;
        let mut times = [f64::INFINITY; N];
        for _ in 0..self.rounds {
            own = own.min(seconds(ours));
            for (task, time) in theirs.iter_mut().zip(&mut times) {
                *time = time.min(seconds(*task));
            }
        }
        for (other, time) in others.iter().zip(times) {
            let ratio = number(time / own);
            let (mine, other_s, name) = (unit.of(own), unit.of(time), unit.name());
            println!("{row:<46}{mine:>9} {name:<5}  {other:<26}{other_s:>9} {name:<5}{ratio:>8} x");
            let Some(out) = &mut self.out else { continue };
            let fields = [self.name, row, &mine, other, &other_s, name, &ratio].join("\t");
            writeln!(out, "{fields}").expect("the figures are written");
        }
    }
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Unit::Whole => "ms",
            Unit::Items(_) => "ns",
            Unit::Bytes(_) => "GB/s",
        }
    }

    /// Formats a time in this unit.
    fn of(self, seconds: f64) -> String {
        number(match self {
            Unit::Whole => seconds * 1e3,
            Unit::Items(count) => seconds * 1e9 / count as f64,
            Unit::Bytes(bytes) => bytes as f64 / 1e9 / seconds,
        })
    }
}

/// Formats a number with at least three digits.
fn number(value: f64) -> String {
    let digits = [100.0, 10.0, 1.0, 0.1].iter().take_while(|least| value < **least).count();
    format!("{value:.digits$}")
}

/// Whether to measure: `cargo test --benches` only checks that the benchmarks run.
pub(crate) fn measures() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

fn seconds(task: &mut dyn FnMut()) -> f64 {
    let start = now();
    task();
    (now() - start).as_secs_f64().max(1e-9)
}

/// The processor time of this thread, which excludes other programs.
#[cfg(unix)]
pub(crate) fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
pub(crate) fn now() -> Duration {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}
