//! Requests and windows of a store.

use super::*;
use alloc::vec;

/// The store of a file of `len` zero bytes.
fn parts(len: u64, limits: Windows) -> Parts {
    match Store::parts(len, limits).bytes {
        Stored::Parts(parts) => parts,
        Stored::Whole(_) => unreachable!(),
    }
}

/// A store that reads no more than was requested.
fn plain(len: u64, kept: u64, granule: u64) -> Parts {
    let wanted = kept / 4;
    parts(len, Windows { granule, kept, count: usize::MAX, wanted, ahead: 0, whole: 0 })
}

fn absent(at: u64, need: u64, want: u64) -> Absent {
    Absent { offset: at, need, want }
}

/// Reads what is missing, as a host does.
fn fetch(parts: &mut Parts, absent: Absent) {
    parts.lack(absent, &[]);
    let Span { offset: at, len } = parts.first().expect("it may be read");
    parts.supply(at, vec![0; len as usize]);
    assert!(parts.has(&parts.needed));
}

fn asked(parts: &Parts) -> Vec<(u64, u64)> {
    parts.asked.iter().map(|range| (range.offset, end(range))).collect()
}

fn run(parts: &Parts, at: u64) -> usize {
    Source::windows(parts.len, &parts.windows()).run(at).len()
}

#[test]
fn requests_are_rounded_and_joined() {
    let mut parts = plain(1000, 400, 64);
    parts.lack(absent(70, 10, 10), &[absent(130, 5, 5), absent(900, 1, 1)]);
    assert_eq!(asked(&parts), [(64, 192), (896, 960)]);
    parts.lack(absent(990, 10, 10), &[]);
    assert_eq!(asked(&parts), [(960, 1000)]);
}

#[test]
fn read_ahead_respects_budget_but_needs_exceed_it() {
    let mut parts = plain(1 << 40, 1 << 20, 1 << 10);
    parts.lack(absent(0, 8, 1 << 39), &[absent(1 << 39, 1 << 18, 1 << 18)]);
    assert_eq!(asked(&parts), [(0, 1 << 18), (1 << 39, (1 << 39) + (1 << 18))]);
    parts.lack(absent(5, 2 << 20, 2 << 20), &[]);
    assert_eq!(asked(&parts), [(0, (2 << 20) + (1 << 10))]);
}

#[test]
fn needed_windows_stay_until_request_is_complete() {
    let wide = Windows { granule: 4 << 20, ..Windows::CHEAP };
    for (limits, held) in [(Windows::CHEAP, 48), (wide, 0)] {
        let mut parts = parts(1 << 40, limits);
        (1..=held).for_each(|n| parts.supply(n << 24, vec![0; 1024]));
        let more: Vec<_> = (100..120).map(|n| absent((n << 24) + 256, 512, 512)).collect();
        parts.lack(absent(50 << 24, 8, 8), &more);
        for Span { offset, len } in parts.asked.clone() {
            parts.supply(offset, vec![0; len as usize]);
        }
        assert!(parts.has(&parts.needed), "{limits:?}");
    }
}

#[test]
fn pieces_become_one_window() {
    let mut parts = parts(1 << 20, Windows::CHEAP);
    let wanted = absent(1000, 3000, 3000);
    parts.lack(wanted, &[]);
    let first = parts.first().expect("fits");
    for at in (first.offset..end(&first)).step_by(512) {
        assert!(!parts.has(&parts.needed));
        parts.lack(wanted, &[]);
        assert_eq!(parts.first(), Some(first), "asked again");
        parts.supply(at, vec![0; 512]);
    }
    assert!(parts.has(&parts.needed) && parts.asked.is_empty());
    assert_eq!(parts.resident(), first.len);
}

#[test]
fn pieces_come_in_any_order_and_overlap() {
    let mut parts = plain(100, 1000, 1);
    parts.lack(absent(10, 20, 20), &[]);
    parts.supply(20, vec![2; 10]);
    parts.supply(10, vec![1; 12]);
    assert!(parts.asked.is_empty());
    assert_eq!((run(&parts, 10), parts.resident()), (20, 20));
}

#[test]
fn unrequested_piece_stays_separate() {
    let mut parts = plain(100, 40, 1);
    for at in 0..10 {
        parts.supply(at * 10, vec![0; 10]);
    }
    assert_eq!(parts.resident(), 40);
}

#[test]
fn sequential_reads_grow() {
    let mut parts = parts(1 << 20, Windows::CHEAP);
    let (mut at, mut fetches) = (0, 0);
    while at < parts.len {
        if run(&parts, at) == 0 {
            fetch(&mut parts, absent(at, 1, 1));
            fetches += 1;
        }
        at += run(&parts, at) as u64;
    }
    assert!(fetches <= 12, "{fetches} reads for a megabyte");
    assert!(parts.supplied < (1 << 20) + 8 * Windows::CHEAP.granule);
}

/// The headers of a ZIP archive of short members, for example.
#[test]
fn reads_with_short_gaps_grow() {
    for (step, most) in [(300, 12), (3000, 12), (5000, 210)] {
        let mut parts = parts(1 << 20, Windows::CHEAP);
        let mut fetches = 0;
        for at in (0..parts.len - 30).step_by(step) {
            if run(&parts, at) < 30 {
                fetch(&mut parts, absent(at, 30, 30));
                fetches += 1;
            }
        }
        assert!(fetches <= most, "{fetches} reads, one each {step} bytes");
    }
}

/// Payloads are not read for the sake of what lies between them.
#[test]
fn reads_with_long_gaps_stay_short() {
    let mut parts = parts(1 << 30, Windows::CHEAP);
    for at in (0..1 << 30).step_by(8 << 10) {
        fetch(&mut parts, absent(at, 30, 30));
    }
    assert!(parts.supplied <= (1 << 30) / (8 << 10) * Windows::CHEAP.granule);
}

#[test]
fn memory_stays_bounded() {
    let mut parts = parts(1 << 30, Windows::CHEAP);
    let Windows { kept, count, .. } = Windows::CHEAP;
    for n in 0..200 {
        fetch(&mut parts, absent(n * (5 << 20) % (1 << 30), 3 << 20, 3 << 20));
        let newest = AT_ONCE as u64 * (3 << 20);
        assert!(parts.resident() <= kept.max(newest) && parts.blocks.len() <= count);
    }
    for n in 0..200 {
        fetch(&mut parts, absent(n * (1 << 20), 1, 1));
        assert!(parts.blocks.len() <= count);
    }
}

#[test]
fn file_read_too_often_is_kept_as_a_whole() {
    let len = 100 << 20;
    let mut parts = parts(len, Windows::CHEAP);
    let mut reads = 0;
    while !parts.has(&Span::new(0, len)) {
        // Far apart, and more than are kept.
        fetch(&mut parts, absent(reads * (9 << 20) % len, 1 << 20, 1 << 20));
        reads += 1;
        assert!(parts.supplied <= (TOO_OFTEN + 2) * len, "after {reads} reads");
    }
    assert_eq!((parts.blocks.len(), parts.resident()), (1, len));
}

#[test]
fn file_above_the_limit_is_never_kept_as_a_whole() {
    let len = Windows::CHEAP.whole + 1;
    let mut parts = parts(len, Windows::CHEAP);
    for n in 0..1000 {
        fetch(&mut parts, absent(n * (9 << 20) % (len - (1 << 20)), 1 << 20, 1 << 20));
        assert!(parts.resident() <= Windows::CHEAP.kept);
    }
    assert!(parts.supplied / TOO_OFTEN > len);
}

#[test]
fn oldest_window_is_dropped_first() {
    let mut parts = plain(1000, 100, 1);
    for i in 0..10 {
        fetch(&mut parts, absent(i * 90, 20, 20));
    }
    assert_eq!(parts.resident(), 100);
    assert_eq!((run(&parts, 450), run(&parts, 360)), (20, 0));
}

#[test]
fn windows_of_one_request_are_kept_together() {
    let mut parts = plain(10_000, 100, 1);
    for at in [0, 100, 200, 4000] {
        let len = if at == 4000 { 1000 } else { 40 };
        parts.supply(at, vec![0; len]);
    }
    assert_eq!(parts.resident(), 1120);
    // Once windows are as small as the budget expects, the budget decides again.
    for at in 0..200 {
        parts.supply(5000 + at * 2, vec![0]);
    }
    assert_eq!(parts.resident(), 100);
}

#[test]
fn index_window_survives_small_reads() {
    let mut parts = parts(1 << 30, Windows::CHEAP);
    fetch(&mut parts, absent(0, 80_000, 80_000));
    for n in 1..500 {
        fetch(&mut parts, absent(n << 20, 8, 8));
        assert!(run(&parts, 0) >= 80_000);
    }
    assert!(parts.supplied < 81_000 + 500 * 512);
}

#[test]
fn request_beyond_memory_is_refused() {
    let mut parts = parts(1 << 40, Windows::CHEAP);
    parts.lack(absent(0, 1 << 39, 1 << 39), &[]);
    assert_eq!(parts.first(), None);
    parts.lack(absent(u64::MAX, 2, 2), &[]);
    assert_eq!(parts.first(), None);
}

#[test]
fn evicted_buffer_is_used_again() {
    let long = SPARE as u64;
    let mut parts = plain(64 * long, 4 * long, 1 << 10);
    for i in 0..4 {
        fetch(&mut parts, absent(i * long, long, long));
        assert!(parts.reuse(SPARE).is_none(), "nothing was evicted");
    }
    fetch(&mut parts, absent(4 * long, long, long));
    assert!(parts.reuse(SPARE + 1).is_none() && parts.reuse(SPARE / 4).is_none());
    assert_eq!(parts.reuse(SPARE).map(|buffer| buffer.len()), Some(SPARE));
    assert!(parts.reuse(SPARE).is_none(), "it was given away");
}

#[test]
fn buffer_of_a_huge_window_is_given_back_to_the_system() {
    let long = SPARE as u64;
    let mut parts = plain(64 * long, 4 * long, 1 << 10);
    fetch(&mut parts, absent(0, 8 * long, 8 * long));
    for i in 8..13 {
        fetch(&mut parts, absent(i * long, long, long));
    }
    assert!(parts.blocks.iter().all(|block| block.at > 0));
    assert!(parts.reuse(8 * SPARE).is_none());
}
