//! How long the crate takes to check a file, in nanoseconds: `check PATH TIMES` prints the minimum
//! for bytes in memory and for the file on disk. bench.py compares against it.

use std::hint::black_box;
use std::time::Instant;
use weighbridge::Options;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a path");
    let times: usize = arguments.next().and_then(|times| times.parse().ok()).expect("how often");
    let bytes = std::fs::read(&path).expect("the file is read");
    let memory = least(times, || {
        black_box(weighbridge::check(black_box(&bytes)).expect("it is checked"));
    });
    let disk = least(times, || {
        black_box(weighbridge::check_path(&path, &Options::new()).expect("it is checked"));
    });
    println!("{memory} {disk}");
}

fn least(times: usize, mut run: impl FnMut()) -> u128 {
    let taken = (0..times).map(|_| {
        let begun = Instant::now();
        run();
        begun.elapsed().as_nanos()
    });
    taken.min().unwrap_or_default()
}
