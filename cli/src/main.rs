//! The command `weighbridge`: checks, inspects and extracts untrusted tensor
//! files.

mod args;
mod check;
mod convert;
mod digest;
mod explain;
mod extract;
mod human;
mod inspect;
mod jobs;
mod journal;
mod json;
mod members;
mod outcome;
mod output;
mod partition;
mod pickles;
mod print;
mod progress;
mod rules;
mod show;
mod stats;
mod summary;
mod terminal;
mod tree;
mod walk;

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
        Command::Convert(args) => convert::run(&args),
        Command::Digest(args) => digest::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Rules(args) => Ok(rules::run(&args)),
        Command::Explain(args) => explain::run(&args),
        Command::Completions { shell } => Ok(completions(shell)),
        Command::Man { command } => man(command.as_deref()),
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
    print(&script)
}

/// Prints the manual page of the program, or of one of its commands.
///
/// # Errors
/// A sentence, if there is no such command.
fn man(name: Option<&str>) -> Result<Outcome, String> {
    let mut command = Cli::command();
    command.build();
    let command = match name {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name).cloned();
            found.ok_or_else(|| format!("there is no command {name:?}"))?
        }
    };
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|err| format!("the manual page: {err}"))?;
    Ok(print(&page))
}

fn print(text: &[u8]) -> Outcome {
    let mut out = std::io::stdout();
    let written = out.write_all(text).and_then(|()| out.flush());
    terminal::written(written, Outcome::Valid)
}
