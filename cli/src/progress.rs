//! A progress bar, for people who wait.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// How long a file may take before a bar is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// The bars of all files that are being worked on; none where standard error
/// is not a terminal.
#[derive(Debug)]
pub(crate) struct Bars(Option<MultiProgress>);

impl Bars {
    pub(crate) fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Bars(terminal.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr())))
    }

    /// The bar of one file of `len` bytes, which does not show yet.
    pub(crate) fn file(&self, name: String, len: u64) -> Bar<'_> {
        Bar { bars: self, name, len, since: Instant::now(), shown: None }
    }

    /// Prints while no bar is in the way.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.0 {
            Some(bars) => bars.suspend(print),
            None => print(),
        }
    }
}

/// The progress of one file.
#[derive(Debug)]
pub(crate) struct Bar<'a> {
    bars: &'a Bars,
    name: String,
    len: u64,
    since: Instant,
    shown: Option<ProgressBar>,
}

impl<'a> Bar<'a> {
    /// The bars that this is one of.
    pub(crate) fn all(&self) -> &'a Bars {
        self.bars
    }

    /// `at` of the file's bytes are done.
    pub(crate) fn at(&mut self, at: u64) {
        let Some(bars) = &self.bars.0 else { return };
        if self.shown.is_none() && self.since.elapsed() >= PATIENCE {
            let bar = bars.add(ProgressBar::new(self.len));
            let style = "{bar:30} {binary_bytes:>11} of {binary_total_bytes:11} {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar.set_message(self.name.clone());
            self.shown = Some(bar);
        }
        if let Some(bar) = &self.shown {
            bar.set_position(at.min(self.len));
        }
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
