//! Scans of pickles, in one piece and through one small window.

use crate::budget::{no_heap, within};
use crate::facts;
use weighbridge_core::pickle::{
    PickleEnd, PickleEvent, PickleItem, PickleMemory, PickleScan, PickleStop,
};
use weighbridge_core::{Source, Span, Window};

/// Steps per byte of input, and for an input of any length.
const PER_BYTE: u64 = 20_000;
const BASE: u64 = 200_000;

/// The scan ends after as many steps as the file has bytes, stays in the file, takes memory in
/// proportion to it, and gives the same events however the bytes arrive.
pub fn pickle(input: &[u8]) {
    let whole = within("whole", || scan(input, false), |_| BASE + PER_BYTE * input.len() as u64);
    for event in &whole.0 {
        let at = match event {
            PickleEvent::Import(import) => import.at + u64::from(import.len),
            PickleEvent::Call { at, .. } | PickleEvent::Fault { at, .. } => *at,
            PickleEvent::Kept { at, .. } => *at,
            _ => 0,
        };
        assert!(at <= input.len() as u64, "{event:?}");
    }
    let (PickleEnd::Stopped(at) | PickleEnd::Broken(at) | PickleEnd::Unchecked(at)) = whole.1
    else {
        return;
    };
    assert!(at <= input.len() as u64, "{:?}", whole.1);
    facts::note(&format!("{whole:?}"));
    assert_eq!(scan(input, true), whole, "through one window");
}

fn scan(input: &[u8], piecewise: bool) -> (Vec<PickleEvent>, PickleEnd) {
    let len = input.len() as u64;
    let (mut stack, mut memo) = (Vec::new(), Vec::new());
    // As many events as there can be.
    let mut events = Vec::with_capacity(4 * input.len() + 8);
    let mut scan = PickleScan::of(Span::new(0, len));
    let mut window = 0..0;
    for _ in 0..8 * input.len() + 100 {
        let resident = [Window { offset: window.start as u64, bytes: &input[window.clone()] }];
        let source = match piecewise {
            true => Source::windows(len, &resident),
            false => Source::whole(input),
        };
        let memory = PickleMemory { stack: &mut stack, memo: &mut memo };
        let ended = no_heap(|| scan.step(&source, memory, &mut |event| events.push(event)));
        match ended {
            Ok(end) => return (events, end),
            Err(PickleStop::NeedBytes(absent)) => {
                let end = absent.offset + absent.need;
                assert!(piecewise && absent.need > 0 && end <= len, "{absent:?}");
                window = absent.offset as usize..end as usize;
            }
            Err(PickleStop::NeedStack(need)) => {
                assert!(need > stack.len() && need <= input.len() + 1, "{need}");
                stack.resize(need, PickleItem::EMPTY);
            }
            Err(PickleStop::NeedMemo(need)) => {
                assert!(need > memo.len() && need <= 2 * input.len() + 300, "{need}");
                memo.resize(need, PickleItem::EMPTY);
            }
        }
    }
    panic!("it makes no progress")
}
