//! `weighbridge.toml`: the settings of a project, for every gate it uses.
//!
//! The file is looked up from the current folder upwards, never relative to the checked files:
//! their author could otherwise weaken the check.

mod date;
mod settings;

pub use date::Date;

use crate::base::text::Text;
use crate::check::folders;
use crate::check::options::{Goal, Options};
use crate::input::reader::open_regular;
use std::path::{Path, PathBuf};
use std::prelude::rust_2024::*;
use std::{env, format, fs, io};
use weighbridge_core::{Format, Profile, RuleInfo, Severity, general};

/// The name of the file.
const NAME: &str = "weighbridge.toml";

/// A project's requirements for its files, read from `weighbridge.toml`.
///
/// ```
/// use weighbridge::policy::Policy;
/// use weighbridge::{Options, Profile, check_with};
///
/// let policy = Policy::parse(r#"
///     deny = ["lint", "pickle"]
///
///     [[ignore]]
///     rule = "GAP"
///     reason = "the old exporter aligned tensors to pages"
///     until = 2999-12-31
/// "#)?;
/// let (options, exceptions) = policy.apply(Options::new())?;
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let report = check_with(&bytes, &options).unwrap();
/// assert!(report.verdict(Profile::Strict).is_valid());
/// assert_eq!(exceptions.why("GAP").unwrap().until.unwrap().to_string(), "2999-12-31");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Policy {
    profile: ProfileName,
    depth: Depth,
    /// What counts as a fault: rule ids, `lint`, `pickle`.
    pub deny: Vec<String>,
    /// Names that pickles may import, as `MODULE.NAME`.
    pub allow_global: Vec<String>,
    select: Option<Vec<String>>,
    ignore: Vec<Ignore>,
    /// Patterns of the files in a folder to check; empty for all.
    pub include: Vec<String>,
    /// Patterns of the files in a folder to leave out.
    pub exclude: Vec<String>,
    /// Whether to leave out files in a folder that have no known format.
    pub skip_unknown: bool,
    /// Whether code in a folder is allowed, pickles included.
    pub allow_code: bool,
    /// Whether to follow links that lead out of a folder.
    pub follow_links: bool,
    limits: Limits,
    /// The path of the file; `None` if there is none.
    pub path: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProfileName {
    #[default]
    Strict,
    Lenient,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Depth {
    Structure,
    #[default]
    Payloads,
}

/// A rule whose breaches are ignored for a limited time.
#[derive(Debug)]
struct Ignore {
    rule: String,
    reason: String,
    /// The last day of the exception.
    until: Date,
}

#[derive(Debug, Default)]
struct Limits {
    work: Option<u64>,
    memory: Option<u64>,
    buffer: Option<u64>,
}

/// Why breaches of a rule do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exception {
    /// The id of the rule.
    pub rule: &'static str,
    /// The reason.
    pub reason: String,
    /// The last day of the exception; `None` for no end.
    pub until: Option<Date>,
}

impl Policy {
    /// Parses the text of a policy file.
    ///
    /// # Errors
    /// A message with the line if the text is not valid TOML, or a key is unknown or has a wrong
    /// value.
    ///
    /// ```
    /// use weighbridge::policy::Policy;
    ///
    /// assert!(Policy::parse("profile = \"lenient\"")?.is_lenient());
    /// assert!(Policy::parse("profil = \"lenient\"").unwrap_err().contains("line 1"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        settings::read(text)
    }

    /// Loads the policy from `path`, or else from the nearest `weighbridge.toml` in the current
    /// folder and its parents. Without such a file, returns a policy without exceptions.
    ///
    /// # Errors
    /// A message if the file cannot be read, is not a regular file, or is not valid.
    ///
    /// ```
    /// use weighbridge::policy::Policy;
    ///
    /// assert!(Policy::load(Some("no such file".as_ref())).is_err());
    /// ```
    pub fn load(path: Option<&Path>) -> Result<Self, String> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => match nearest()? {
                Some(path) => path,
                None => return Ok(Policy::default()),
            },
        };
        let shown = Text::from(path.as_path());
        let file = open_regular(&path).map_err(|err| format!("{shown}: {err}"))?;
        let text = io::read_to_string(file).map_err(|err| format!("{shown}: {err}"))?;
        let policy = Policy::parse(&text).map_err(|why| format!("{shown}: {why}"))?;
        Ok(Policy { path: Some(path), ..policy })
    }

    /// Whether the policy selects the lenient profile.
    ///
    /// ```
    /// assert!(!weighbridge::policy::Policy::default().is_lenient());
    /// ```
    pub fn is_lenient(&self) -> bool {
        self.profile == ProfileName::Lenient
    }

    /// Whether only the structure is checked, not the payloads.
    ///
    /// ```
    /// use weighbridge::policy::Policy;
    /// assert!(Policy::parse("depth = \"structure\"")?.is_structure_only());
    /// # Ok::<(), String>(())
    /// ```
    pub fn is_structure_only(&self) -> bool {
        self.depth == Depth::Structure
    }

    /// Adds the policy to `options`, and returns them with the rules that do not count today. A
    /// rule denied by its id counts nevertheless. The goal becomes the policy's; a lenient
    /// profile stays. `include`, `exclude` and `skip_unknown` are for the caller that lists the
    /// files.
    ///
    /// # Errors
    /// A message if a rule does not exist or cannot be ignored.
    ///
    /// ```
    /// use weighbridge::Options;
    /// use weighbridge::policy::Policy;
    ///
    /// let unknown = Policy::parse("deny = [\"NO-RULE\"]")?;
    /// assert!(unknown.apply(Options::new()).is_err());
    /// # Ok::<(), String>(())
    /// ```
    pub fn apply(&self, options: Options) -> Result<(Options, Exceptions), String> {
        self.apply_on(options, Date::today())
    }

    fn apply_on(&self, mut options: Options, today: Date) -> Result<(Options, Exceptions), String> {
        let name = self.path.as_deref().map_or_else(|| Text::from(NAME), Text::from);
        options = options.goal(match self.depth {
            Depth::Structure => Goal::Structure,
            Depth::Payloads => Goal::Payloads,
        });
        if self.is_lenient() {
            options = options.profile(Profile::Lenient);
        }
        if self.follow_links {
            options = options.follow_links();
        }
        for what in &self.deny {
            options = options.deny(what).map_err(|why| format!("{name}: {why}"))?;
        }
        for what in &self.allow_global {
            options = options.allow_global(what).map_err(|why| format!("{name}: {why}"))?;
        }
        let Limits { work, memory, buffer } = self.limits;
        for (limit, set) in [
            (work, Options::work as fn(Options, u64) -> Options),
            (memory, Options::memory),
            (buffer, Options::buffer),
        ] {
            options = match limit {
                Some(limit) => set(options, limit),
                None => options,
            };
        }
        let mut exceptions = Exceptions::default();
        for Ignore { rule, reason, until } in &self.ignore {
            let found = matching(rule).map_err(|why| format!("{name}: {why}"))?;
            if reason.trim().is_empty() {
                return Err(format!("{name}: the rule {rule:?} is ignored without a reason"));
            }
            if *until < today {
                exceptions
                    .notes
                    .push(format!("{name}: {rule} was ignored until {until}, and counts again"));
                continue;
            }
            for id in found {
                options = options.ignore(id).map_err(|why| format!("{name}: {why}"))?;
                exceptions.rules.push(Exception {
                    rule: id,
                    reason: reason.clone(),
                    until: Some(*until),
                });
            }
        }
        if let Some(select) = &self.select {
            let mut selected = Vec::new();
            for pattern in select {
                selected.extend(matching(pattern).map_err(|why| format!("{name}: {why}"))?);
            }
            for id in selectable().filter(|id| !selected.contains(id)) {
                options = options.ignore(id).map_err(|why| format!("{name}: {why}"))?;
                let reason = "not selected".to_owned();
                exceptions.rules.push(Exception { rule: id, reason, until: None });
            }
        }
        Ok((options, exceptions))
    }
}

/// The rules that do not count.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Exceptions {
    rules: Vec<Exception>,
    /// Notes about exceptions that have expired.
    pub notes: Vec<String>,
}

impl Exceptions {
    /// The ignored rules, in the order of the settings; rules that are not selected come last.
    ///
    /// ```
    /// use weighbridge::Options;
    /// use weighbridge::policy::Policy;
    ///
    /// let policy = Policy::parse("select = [\"KEYS-*\"]")?;
    /// let (_, exceptions) = policy.apply(Options::new())?;
    /// assert!(exceptions.rules().iter().all(|it| it.reason == "not selected"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn rules(&self) -> &[Exception] {
        &self.rules
    }

    /// Why breaches of a rule do not count; `None` if they do.
    ///
    /// ```
    /// assert_eq!(weighbridge::policy::Exceptions::default().why("GAP"), None);
    /// ```
    pub fn why(&self, rule: &str) -> Option<&Exception> {
        self.rules.iter().find(|exception| exception.rule == rule)
    }
}

/// The nearest policy file in the current folder and its parents.
fn nearest() -> Result<Option<PathBuf>, String> {
    let here = env::current_dir().map_err(|err| format!("the current folder: {err}"))?;
    // A file that exists but cannot be reached, such as a dangling link, fails when it is read.
    let missing = |path: &PathBuf| {
        fs::symlink_metadata(path).is_err_and(|err| err.kind() == io::ErrorKind::NotFound)
    };
    let found = here.ancestors().map(|folder| folder.join(NAME)).find(|path| !missing(path));
    // A file in the current folder is shown by its name alone.
    Ok(found.map(|path| if path.parent() == Some(&*here) { PathBuf::from(NAME) } else { path }))
}

fn catalogue() -> impl Iterator<Item = &'static RuleInfo> {
    let of_formats = Format::ALL.iter().flat_map(|format| format.rules());
    of_formats.chain(general::RULES).chain(folders::RULES)
}

/// The ids of rules about faults that are not fatal. Rules about what was not checked cannot be
/// deselected.
fn selectable() -> impl Iterator<Item = &'static str> {
    let chosen = [Severity::Lint, Severity::Violation];
    let ids = catalogue().filter(move |rule| chosen.contains(&rule.severity)).map(|rule| rule.id);
    let unique: std::collections::BTreeSet<_> = ids.collect();
    unique.into_iter()
}

/// The ids of the rules that match an id, or the start of one with a star at its end. A pattern
/// with a star only matches rules that can be ignored.
fn matching(pattern: &str) -> Result<Vec<&'static str>, String> {
    let is = |id: &str| match pattern.strip_suffix('*') {
        Some(start) => id.get(..start.len()).is_some_and(|part| part.eq_ignore_ascii_case(start)),
        None => id.eq_ignore_ascii_case(pattern),
    };
    let whole = !pattern.ends_with('*');
    let rules = catalogue().filter(|rule| whole || rule.severity != Severity::Fatal);
    let mut found: Vec<_> = rules.map(|rule| rule.id).filter(|id| is(id)).collect();
    found.sort_unstable();
    found.dedup();
    match found.is_empty() {
        true => Err(format!("no rule has the id {pattern:?}")),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_settings_are_read() {
        let policy = Policy::parse(
            "profile = \"lenient\"\ndepth = \"structure\"\ndeny = [\"lint\", \"pickle\"]\n\
             select = [\"KEYS-*\"]\ninclude = [\"*.gguf\"]\nexclude = [\".git\"]\n\
             skip-unknown = true\nfollow-links = true\n[limits]\nwork = 1\nmemory = 2\nbuffer = 3\n\
             [[ignore]]\nrule = \"TRAILING\"\nreason = \"an old writer\"\nuntil = 2999-12-31\n",
        );
        let policy = policy.expect("it is valid");
        assert!(policy.is_lenient() && policy.is_structure_only());
        let today = Date::of_day(20_000);
        let (_, rules) = policy.apply_on(Options::new(), today).expect("the rules exist");
        assert_eq!(rules.why("TRAILING").map(|it| &*it.reason), Some("an old writer"));
        assert_eq!(rules.why("GAP").map(|it| &*it.reason), Some("not selected"));
        assert!(rules.why("KEYS-TEMPLATE").is_none() && rules.notes.is_empty());
    }

    #[test]
    fn unknown_rule_is_named() {
        for (text, words) in [
            ("profil = \"strict\"", "profil"),
            ("[limits]\nwrok = 1", "wrok"),
            ("profile = \"loose\"", "loose"),
            ("[[ignore]]\nrule = \"GAP\"\nuntil = 2999-01-01", "reason"),
            ("[[ignore]]\nrule = \"GAP\"\nreason = \"x\"", "until"),
            (
                "[[ignore]]\nrule = \"GAP\"\nreason = \"x\"\nuntil = 2999-01-01T10:00:00",
                "without quotes or a time",
            ),
        ] {
            let why = Policy::parse(text).expect_err(text);
            assert!(why.contains(words), "{why}");
        }
        for (text, words) in [
            (
                "[[ignore]]\nrule = \"NONE\"\nreason = \"x\"\nuntil = 2999-01-01",
                "no rule has the id",
            ),
            ("[[ignore]]\nrule = \"SHARD-PATH\"\nreason = \"x\"\nuntil = 2999-01-01", "is fatal"),
            ("[[ignore]]\nrule = \"GAP\"\nreason = \" \"\nuntil = 2999-01-01", "without a reason"),
            ("select = [\"NO*\"]\n", "no rule has the id"),
        ] {
            let policy = Policy::parse(text).expect(text);
            let why = policy.apply_on(Options::new(), Date::of_day(0)).expect_err(text);
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn exception_expires() {
        let policy = "[[ignore]]\nrule = \"GAP\"\nreason = \"x\"\nuntil = 2024-02-29\n";
        let policy = Policy::parse(policy).expect("it is valid");
        let day = 19_782; // 2024-02-29
        for (today, ignored) in [(day, true), (day + 1, false)] {
            let (_, rules) =
                policy.apply_on(Options::new(), Date::of_day(today)).expect("it exists");
            assert_eq!((rules.why("GAP").is_some(), rules.notes.is_empty()), (ignored, ignored));
        }
    }
}
