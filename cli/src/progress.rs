//! Progress bars.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weighbridge::{Options, Progress, Text};

/// How long a file may take before a bar is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// The bars of all files in progress; none if standard error is not a terminal.
#[derive(Clone, Debug)]
pub(crate) struct Bars(Option<Arc<Terminal>>);

#[derive(Debug)]
struct Terminal {
    bars: MultiProgress,
    files: Mutex<HashMap<Text, Bar>>,
}

/// The bar of one file, which is shown only after a delay.
#[derive(Debug)]
struct Bar {
    since: Instant,
    shown: Option<ProgressBar>,
}

impl Bars {
    pub(crate) fn new() -> Self {
        let new = || {
            let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            Arc::new(Terminal { bars, files: Mutex::default() })
        };
        Bars(std::io::stderr().is_terminal().then(new))
    }

    /// The options, with bars for everything that is read.
    pub(crate) fn watch(&self, options: Options) -> Options {
        match self.0.clone() {
            Some(terminal) => options.on_progress(move |progress| terminal.take(progress)),
            None => options,
        }
    }

    /// Prints while the bars are hidden.
    pub(crate) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.0 {
            Some(terminal) => terminal.bars.suspend(print),
            None => print(),
        }
    }

    /// Updates the number of bytes read from a file.
    pub(crate) fn at(&self, file: &Text, read: u64, len: u64) {
        if let Some(terminal) = &self.0 {
            terminal.show(file, read, len);
        }
    }
}

impl Terminal {
    fn take(&self, progress: &Progress<'_>) {
        let Some(file) = progress.file else { return };
        if progress.done {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(Bar { shown: Some(bar), .. }) = files.remove(file) {
                bar.finish_and_clear();
            }
        } else {
            self.show(file, progress.read, progress.len);
        }
    }

    fn show(&self, file: &Text, read: u64, len: u64) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.contains_key(file) {
            files.insert(file.clone(), Bar { since: Instant::now(), shown: None });
        }
        let Some(bar) = files.get_mut(file) else { return };
        if bar.shown.is_none() && bar.since.elapsed() >= PATIENCE {
            let new = self.bars.add(ProgressBar::new(len));
            let style = "{bar:30} {binary_bytes:>11} of {binary_total_bytes:11} {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(style) {
                new.set_style(style);
            }
            new.set_message(file.to_string());
            bar.shown = Some(new);
        }
        if let Some(shown) = &bar.shown {
            shown.set_position(read.min(len));
        }
    }
}
