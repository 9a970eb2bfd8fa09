//! `weighbridge.toml`: what a project asks of its files, once for all calls.
//!
//! The file is looked for in the current folder and those above it, never in what is
//! checked: whoever made that could otherwise weaken the check.

mod date;

pub(crate) use date::Date;

use serde::Deserialize;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use weighbridge::core::general;
use weighbridge::{Format, Options, Profile, Severity, Text};

/// The name of the file.
pub(crate) const NAME: &str = "weighbridge.toml";

/// The settings, as the file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Config {
    profile: ProfileName,
    depth: Depth,
    pub(crate) deny: Vec<String>,
    select: Option<Vec<String>>,
    ignore: Vec<Ignore>,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) skip_unknown: bool,
    pub(crate) follow_links: bool,
    limits: Limits,
    /// Where it is; `None` if there is none.
    #[serde(skip)]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ProfileName {
    #[default]
    Strict,
    Lenient,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Depth {
    Structure,
    #[default]
    Payloads,
}

/// A rule whose breaches do not count, for a while.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    rule: String,
    reason: String,
    /// The last day.
    until: Date,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Limits {
    work: Option<u64>,
    memory: Option<u64>,
    buffer: Option<u64>,
}

/// Why breaches of a rule do not count.
#[derive(Debug)]
pub(crate) struct Ignored {
    pub(crate) rule: &'static str,
    pub(crate) reason: String,
    pub(crate) until: Option<Date>,
}

impl Config {
    /// The settings of `path`, or else of the nearest file of that name in the current folder
    /// and those above it.
    ///
    /// # Errors
    /// A sentence, when the file cannot be read or says what is not known.
    pub(crate) fn load(path: Option<&Path>) -> Result<Self, String> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => match nearest()? {
                Some(path) => path,
                None => return Ok(Config::default()),
            },
        };
        let shown = Text::from(path.as_path());
        let text = fs::read_to_string(&path).map_err(|err| format!("{shown}: {err}"))?;
        let config: Config = toml::from_str(&text).map_err(|err| {
            let line = err.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let why = Text::from(err.message()).to_string();
            format!("{shown}: line {line}: {why}")
        })?;
        Ok(Config { path: Some(path), ..config })
    }

    pub(crate) fn is_lenient(&self) -> bool {
        self.profile == ProfileName::Lenient
    }

    pub(crate) fn is_structure_only(&self) -> bool {
        self.depth == Depth::Structure
    }

    /// Sets limits and the rules that do not count. What is denied by its id counts all the
    /// same.
    ///
    /// # Errors
    /// A sentence, when there is no such rule, or when it cannot be ignored.
    pub(crate) fn apply(
        &self,
        mut options: Options,
        today: Date,
    ) -> Result<(Options, Rules), String> {
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
        let mut rules = Rules::default();
        let name = self.path.as_deref().map(Text::from).unwrap_or_default();
        for Ignore { rule, reason, until } in &self.ignore {
            let found = matching(rule).map_err(|why| format!("{name}: {why}"))?;
            if reason.trim().is_empty() {
                return Err(format!("{name}: the rule {rule:?} is ignored without a reason"));
            }
            if *until < today {
                rules
                    .notes
                    .push(format!("{name}: {rule} was ignored until {until}, and counts again"));
                continue;
            }
            for id in found {
                options = options.ignore(id).map_err(|why| format!("{name}: {why}"))?;
                rules.ignored.push(Ignored {
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
                rules.ignored.push(Ignored { rule: id, reason, until: None });
            }
        }
        Ok((options, rules))
    }
}

/// What the settings say of rules.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    ignored: Vec<Ignored>,
    /// What is to be said once: what is ignored no more.
    pub(crate) notes: Vec<String>,
}

impl Rules {
    /// Why breaches of a rule do not count.
    pub(crate) fn why(&self, rule: &str) -> Option<&Ignored> {
        self.ignored.iter().find(|ignored| ignored.rule == rule)
    }
}

/// The nearest file of settings in the current folder and those above it.
fn nearest() -> Result<Option<PathBuf>, String> {
    let here = env::current_dir().map_err(|err| format!("the current folder: {err}"))?;
    // One that cannot be reached, such as a link to nothing, is an error when it is read.
    let missing = |path: &PathBuf| {
        fs::symlink_metadata(path).is_err_and(|err| err.kind() == std::io::ErrorKind::NotFound)
    };
    let found = here.ancestors().map(|folder| folder.join(NAME)).find(|path| !missing(path));
    // As it is called from here, where that is shorter.
    Ok(found.map(|path| if path.parent() == Some(&*here) { PathBuf::from(NAME) } else { path }))
}

fn catalogue() -> impl Iterator<Item = &'static weighbridge::core::RuleInfo> {
    Format::ALL.iter().flat_map(|format| format.rules()).chain(general::RULES)
}

/// The ids of rules that say something is wrong but not fatal: whether something was checked
/// is no matter of choice.
fn selectable() -> impl Iterator<Item = &'static str> {
    let chosen = [Severity::Lint, Severity::Violation];
    let ids = catalogue().filter(move |rule| chosen.contains(&rule.severity)).map(|rule| rule.id);
    let unique: std::collections::BTreeSet<_> = ids.collect();
    unique.into_iter()
}

/// The ids of rules that an id names, or a part of one that ends with a star. A part stands
/// for rules that can be ignored.
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

/// The profile of the command line and of the settings.
pub(crate) fn profile(lenient: bool) -> Profile {
    if lenient { Profile::Lenient } else { Profile::Strict }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        toml::from_str(text).map_err(|err| err.to_string())
    }

    #[test]
    fn all_settings_are_read() {
        let config = parse(
            "profile = \"lenient\"\ndepth = \"structure\"\ndeny = [\"lint\", \"pickle\"]\n\
             select = [\"KEYS-*\"]\ninclude = [\"*.gguf\"]\nexclude = [\".git\"]\n\
             skip-unknown = true\nfollow-links = true\n[limits]\nwork = 1\nmemory = 2\nbuffer = 3\n\
             [[ignore]]\nrule = \"TRAILING\"\nreason = \"an old writer\"\nuntil = 2999-12-31\n",
        );
        let config = config.expect("it is valid");
        assert!(config.is_lenient() && config.is_structure_only());
        let today = Date::of_day(20_000);
        let (_, rules) = config.apply(Options::new(), today).expect("the rules exist");
        assert_eq!(rules.why("TRAILING").map(|it| &*it.reason), Some("an old writer"));
        assert_eq!(rules.why("GAP").map(|it| &*it.reason), Some("not selected"));
        assert!(rules.why("KEYS-TEMPLATE").is_none() && rules.notes.is_empty());
    }

    #[test]
    fn what_is_not_known_is_named() {
        for (text, words) in [
            ("profil = \"strict\"", "profil"),
            ("[limits]\nwrok = 1", "wrok"),
            ("profile = \"loose\"", "loose"),
            ("[[ignore]]\nrule = \"GAP\"\nuntil = 2999-01-01", "reason"),
            ("[[ignore]]\nrule = \"GAP\"\nreason = \"x\"", "until"),
            ("[[ignore]]\nrule = \"GAP\"\nreason = \"x\"\nuntil = 2999-01-01T10:00:00", "a day"),
        ] {
            let why = parse(text).expect_err(text);
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
            let config = parse(text).expect(text);
            let why = config.apply(Options::new(), Date::of_day(0)).expect_err(text);
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn what_is_ignored_ends() {
        let config = "[[ignore]]\nrule = \"GAP\"\nreason = \"x\"\nuntil = 2024-02-29\n";
        let config = parse(config).expect("it is valid");
        let day = 19_782; // 2024-02-29
        for (today, ignored) in [(day, true), (day + 1, false)] {
            let (_, rules) = config.apply(Options::new(), Date::of_day(today)).expect("it exists");
            assert_eq!((rules.why("GAP").is_some(), rules.notes.is_empty()), (ignored, ignored));
        }
    }
}
