//! The command `weighbridge`: checks, inspects and extracts tensor files that
//! that come from strangers.

mod args;
mod blocks;
mod cbor;
mod check;
mod column;
mod data;
mod extract;
mod form;
mod formats;
mod human;
mod inspect;
mod jobs;
mod json;
mod metadata;
mod npy;
mod outcome;
mod output;
mod particulars;
mod progress;
mod report;
mod rules;
mod session;
mod shards;
mod splits;
mod stats;
mod tensors;
mod terminal;
mod text;
mod values;
mod view;
mod walk;
mod windows;

use args::{Cli, Command};
use clap::{CommandFactory as _, Parser as _};
use outcome::Outcome;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Check(args) => check::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Extract(args) => extract::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Completions { shell } => Ok(completions(shell)),
    };
    let outcome = result.unwrap_or_else(|why| {
        terminal::note(why);
        Outcome::Failed
    });
    outcome.into()
}

/// Prints a completion script.
fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "weighbridge", &mut script);
    let mut out = std::io::stdout();
    let written = out.write_all(&script).and_then(|()| out.flush());
    terminal::written(written, Outcome::Valid)
}
