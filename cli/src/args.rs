//! The arguments of the command, as `--help` tells them.

use clap::{Args, Parser, Subcommand, ValueHint};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use weighbridge::{Format, Options, Profile};

/// Checks, inspects and extracts tensor files from strangers.
#[derive(Debug, Parser)]
#[command(name = "weighbridge", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit status: 0 all that was asked for is valid, 1 a file is invalid, \
2 wrong usage or a file could not be read, 3 something could not be checked or is of a format \
that is not read.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check files, and folders of files, against the rules of their formats
    Check(CheckArgs),
    /// Show what a file holds
    Inspect(InspectArgs),
    /// Write one tensor to a file of its own
    Extract(ExtractArgs),
    /// Print the rule catalogue
    Rules(RulesArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// The format that is called `name`.
///
/// # Errors
/// A sentence, when there is none of that name.
pub(crate) fn by_name(name: &str) -> Result<Format, String> {
    Format::by_name(name).filter(|format| format.is_available()).ok_or_else(|| {
        let known: Vec<_> = available().map(Format::name).collect();
        format!("unknown format {name:?}; known are {}", known.join(", "))
    })
}

/// The formats that this build reads.
pub(crate) fn available() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied().filter(|format| format.is_available())
}

/// What every command that opens a file takes.
#[derive(Args, Debug)]
pub(crate) struct OpenArgs {
    /// Read files as this format instead of recognising it
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
}

impl OpenArgs {
    /// The format that was chosen.
    ///
    /// # Errors
    /// A sentence, when there is none of that name.
    pub(crate) fn format(&self) -> Result<Option<Format>, String> {
        self.format.as_deref().map(by_name).transpose()
    }

    /// How files are opened and checked.
    ///
    /// # Errors
    /// As [`format`](Self::format).
    pub(crate) fn options(&self, lenient: bool) -> Result<Options, String> {
        let profile = if lenient { Profile::Lenient } else { Profile::Strict };
        let options = Options::new().profile(profile);
        Ok(match self.format()? {
            Some(format) => options.format(format),
            None => options,
        })
    }
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Files and folders; a folder is walked
    #[arg(required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
    /// Accept what breaks the specification but can be read safely
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Stop before the payloads
    #[arg(long)]
    pub(crate) structure: bool,
    /// Do this much work at most to decode payloads, in decoded bytes [default: 2 GiB
    /// and 2048 for each byte of the file]; what is left is not checked
    #[arg(long, value_name = "N", conflicts_with = "structure")]
    pub(crate) max_work: Option<u64>,
    /// Count remarks as faults: `lint` for all of them, or the id of a rule
    #[arg(long, value_name = "lint|RULE")]
    pub(crate) deny: Vec<String>,
    /// Print the SHA-256 of each file
    #[arg(long)]
    pub(crate) sha256: bool,
    /// Check this many files at a time, 128 at most
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) jobs: NonZeroUsize,
    /// Print one JSON object a line, one line a file
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// The file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
    /// Accept what breaks the specification but can be read safely
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Print the first N elements of each tensor
    #[arg(long, value_name = "N")]
    pub(crate) values: Option<u64>,
    /// Print statistics of the elements of each tensor
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// The file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Name of the tensor (of STB, its number)
    pub(crate) name: OsString,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
    /// Where to write, `-` for standard output; without it `tensor.npy`, or the first
    /// free `tensor-N.npy`
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write the bytes of the payload as they are, without the .npy header
    #[arg(long)]
    pub(crate) raw: bool,
    /// Write even where the checksum is wrong, the data breaks a rule that is fatal, or
    /// several tensors have the name, of which the first is taken
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RulesArgs {
    /// Only the rules of this format
    #[arg(value_name = "FORMAT")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
    /// Print one JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn formats_have_the_names_of_the_catalogue() {
        for format in available() {
            assert_eq!(by_name(format.name()), Ok(format));
        }
        assert!(by_name("nothing").is_err_and(|err| err.contains("stb")));
    }

    #[test]
    fn deny_is_repeatable_and_jobs_is_not_zero() {
        let cli = Cli::try_parse_from([
            "weighbridge",
            "check",
            "a",
            "b",
            "--deny",
            "lint",
            "--deny",
            "HDR-MAGIC",
        ]);
        let Ok(Cli { command: Command::Check(check) }) = cli else { panic!("{cli:?}") };
        assert_eq!(check.deny, ["lint", "HDR-MAGIC"]);
        assert_eq!(check.paths.len(), 2);
        assert_eq!(check.jobs.get(), 1);
        assert!(Cli::try_parse_from(["weighbridge", "check", "a", "--jobs", "0"]).is_err());
        assert!(Cli::try_parse_from(["weighbridge", "check"]).is_err());
    }
}
