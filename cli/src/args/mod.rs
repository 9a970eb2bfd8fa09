//! The command-line arguments, with the text of `--help`.

mod values;

pub(crate) use values::{WITHOUT_FORMAT, available};

use crate::partition::Shard;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use values::{dequantised, formats, rules, size};
use weighbridge::remote::Servers;
use weighbridge::save::Float;
use weighbridge::{Format, Options, Profile};

/// Checks, inspects and extracts untrusted tensor files.
#[derive(Debug, Parser)]
#[command(name = "weighbridge", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit status: 0 everything requested is valid, 1 a file is invalid, \
2 usage error, nothing to check, or a file could not be read, 3 something could not be checked or \
is in an unsupported format.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check files, and folders of files, against the rules of their formats
    Check(Box<CheckArgs>),
    /// Show what a file holds
    Inspect(InspectArgs),
    /// Write one tensor to a file of its own
    Extract(ExtractArgs),
    /// Write a model as safetensors, whatever its format
    Convert(ConvertArgs),
    /// Print the SHA-256 of files and of each tensor in them, or compare two files
    Digest(DigestArgs),
    /// Read all weights: statistics of each tensor, and anything noteworthy
    Stats(StatsArgs),
    /// Print the rule catalogue
    Rules(RulesArgs),
    /// Explain a rule: its text, an example, and the advisories it addresses
    Explain(ExplainArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or that of a command
    Man {
        /// The command
        command: Option<String>,
    },
}

/// What every command that opens a file takes.
#[derive(Args, Debug)]
pub(crate) struct OpenArgs {
    /// Read files as this format instead of recognising it
    #[arg(long, visible_alias = "as", value_name = "NAME", value_parser = formats())]
    #[arg(hide_possible_values = true)]
    format: Option<Format>,
}

impl OpenArgs {
    /// The requested format.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format
    }

    /// Options for opening files.
    pub(crate) fn options(&self) -> Options {
        match self.format {
            Some(format) => Options::new().format(format),
            None => Options::new(),
        }
    }
}

/// What every command takes that says whether a file is valid.
#[derive(Args, Debug)]
pub(crate) struct VerdictArgs {
    #[command(flatten)]
    open: OpenArgs,
    /// Accept files that break the specification but can be read safely
    #[arg(long)]
    pub(crate) lenient: bool,
}

impl VerdictArgs {
    pub(crate) fn profile(&self) -> Profile {
        profile(self.lenient)
    }

    /// Options for opening and checking files.
    pub(crate) fn options(&self) -> Options {
        self.open.options().profile(self.profile())
    }
}

pub(crate) const fn profile(lenient: bool) -> Profile {
    if lenient { Profile::Lenient } else { Profile::Strict }
}

/// How files on servers are read.
#[derive(Args, Debug)]
pub(crate) struct RemoteArgs {
    /// Wait this long for a server to answer a request [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Retry a failed request up to N times [default: 10]
    #[arg(long, value_name = "N")]
    retries: Option<usize>,
}

impl RemoteArgs {
    pub(crate) fn servers(&self) -> Servers {
        let servers = Servers::default();
        let servers = self.retries.into_iter().fold(servers, Servers::retries);
        self.timeout.map(Duration::from_secs).into_iter().fold(servers, Servers::timeout)
    }
}

/// How a command prints what it found.
#[derive(Args, Debug)]
pub(crate) struct PrintArgs {
    /// Output format
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    output: Shape,
    /// The same as `--output json`
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Shape {
    #[default]
    Human,
    Json,
}

impl PrintArgs {
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.output == Shape::Json
    }
}

/// How `check` prints what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Human-readable text
    #[default]
    Human,
    /// JSON lines, one object per file
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub Actions annotations
    Github,
    /// JUnit XML, one test case per file
    Junit,
}

impl Output {
    /// Whether the output is a single document for all files.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Output::Sarif | Output::Junit)
    }
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Files and folders; a folder is walked, `-` is standard input. Also https://…,
    /// hf://owner/name[@revision][/path], s3://…, gs://…, az://…
    #[arg(required_unless_present = "files_from", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Check the files listed in this file, one path per line or NUL-terminated; `-` is
    /// standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files_from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Stop before the payloads
    #[arg(long)]
    pub(crate) structure: bool,
    /// Also check the payloads of files on servers, which reads the whole files
    #[arg(long, conflicts_with = "structure")]
    pub(crate) payloads: bool,
    /// Limit the work of decoding payloads, in decoded bytes [default: 2 GiB plus 2048
    /// for each byte of the file]; the rest is not checked
    #[arg(long, value_name = "N", conflicts_with = "structure")]
    pub(crate) max_work: Option<u64>,
    /// Decode zstd streams with a second decoder as well, and report differences
    #[arg(long, conflicts_with = "structure")]
    pub(crate) second_opinion: bool,
    /// Treat as faults: `lint` for all lints, `pickle` for files that can run code when
    /// loaded, or the id of a rule
    #[arg(long, value_name = "lint|pickle|RULE", value_parser = rules(&["lint", "pickle"]))]
    #[arg(hide_possible_values = true)]
    pub(crate) deny: Vec<String>,
    /// Let pickles import this name, off the list of torch.load(weights_only=True)
    #[arg(long, value_name = "MODULE.NAME")]
    pub(crate) allow_global: Vec<String>,
    /// Accept code in folders and lists: pickles, modules that settings load, scripts, native code
    #[arg(long)]
    pub(crate) allow_code: bool,
    /// Do not compare the blobs of stores with their names, which are digests
    #[arg(long)]
    pub(crate) no_digest: bool,
    /// Skip files of unknown format in folders and lists that show no sign of danger
    #[arg(long)]
    pub(crate) skip_unknown: bool,
    /// Follow links in folders, and links to shards that leave the folder
    #[arg(long)]
    pub(crate) follow_links: bool,
    /// Check only matching files in folders and lists
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// Leave out matching paths in folders and lists
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Read settings from this file, instead of the nearest weighbridge.toml in the current
    /// folder or above it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Ignore settings files
    #[arg(long, conflicts_with = "config")]
    pub(crate) no_config: bool,
    /// Print the SHA-256 of each file
    #[arg(long)]
    pub(crate) sha256: bool,
    /// Check the Kth of N parts of all files: which part a file belongs to depends on its
    /// path alone
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<Shard>,
    /// Record checked files in this file, and skip recorded files that have not changed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// Check this many files at a time, at most 128
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) jobs: NonZeroUsize,
    /// Output format
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    output: Output,
    /// The same as `--output json`
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// List all files, instead of groups of them
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print nothing about valid files, and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl CheckArgs {
    pub(crate) fn output(&self) -> Output {
        if self.json { Output::Json } else { self.output }
    }
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// The file; also https://… and the like
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Open this member of an archive of models (DDUF, llamafile)
    #[arg(long, value_name = "NAME")]
    pub(crate) member: Option<String>,
    /// Follow links to shards that leave the folder
    #[arg(long)]
    pub(crate) follow_links: bool,
    /// Print the first N elements of each tensor
    #[arg(long, value_name = "N")]
    pub(crate) values: Option<u64>,
    /// Print statistics of the elements of each tensor
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print what the model is (parameters, settings, memory) instead of lists of metadata and
    /// tensors; in JSON in addition to them
    #[arg(long, conflicts_with_all = ["values", "stats"])]
    pub(crate) summary: bool,
    /// Print up to 64 KiB of the texts in a metadata list, instead of the first 256
    #[arg(long)]
    pub(crate) full: bool,
    /// Print names as a tree of paths
    #[arg(long, conflicts_with = "summary")]
    pub(crate) tree: bool,
    /// Print the operations of pickles around each finding and each import off the list, N before and
    /// after (8 if N is not given)
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "8")]
    pub(crate) opcodes: Option<usize>,
    /// Print operations around this offset as well
    #[arg(long, value_name = "OFFSET", requires = "opcodes")]
    pub(crate) at: Vec<u64>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// The file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Name of the tensor (for STB, its number)
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
    /// Write even if the checksum is wrong, the data breaks a fatal rule, or several tensors
    /// have the name (the first is written)
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// The model: a file, an index of shards, or the first part of a split GGUF model
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Where to write, usually a name that ends with .safetensors
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Write quantised elements as numbers of this type, instead of refusing them
    #[arg(long, visible_alias = "dequantize", value_name = "f32|f16|bf16")]
    #[arg(value_parser = dequantised(), hide_possible_values = true)]
    pub(crate) dequantise: Option<Float>,
    /// Write several files with at most this much data each, such as 5GB, and an index
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_shard_size: Option<u64>,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Convert an invalid model too, and leave out what cannot be written
    #[arg(long)]
    pub(crate) force: bool,
    /// Follow links to shards that leave the folder
    #[arg(long)]
    pub(crate) follow_links: bool,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DigestArgs {
    /// The files
    #[arg(required_unless_present = "compare", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Compare the tensors of two files, whatever their formats
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "files")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) compare: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Follow links to shards that leave the folder
    #[arg(long)]
    pub(crate) follow_links: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

/// How `stats` prints what it found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsOutput {
    /// Human-readable text
    #[default]
    Human,
    /// One JSON object
    Json,
    /// CSV, one line per tensor
    Csv,
}

#[derive(Args, Debug)]
pub(crate) struct StatsArgs {
    /// The file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Output format
    #[arg(long, value_name = "KIND", value_enum, default_value_t)]
    output: StatsOutput,
    /// The same as `--output json`
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

impl StatsArgs {
    pub(crate) fn output(&self) -> StatsOutput {
        if self.json { StatsOutput::Json } else { self.output }
    }
}

#[derive(Args, Debug)]
pub(crate) struct RulesArgs {
    /// Only the rules of this format
    #[arg(value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    pub(crate) name: Option<Format>,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The id of the rule; several formats may share an id
    #[arg(value_name = "RULE", value_parser = rules(&[]), hide_possible_values = true)]
    pub(crate) rule: String,
    #[command(flatten)]
    pub(crate) open: OpenArgs,
    #[command(flatten)]
    pub(crate) print: PrintArgs,
}
