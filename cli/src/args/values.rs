//! Option values that are our own names: shells complete them, and a wrong one is
//! reported in one sentence, not with a list of hundreds.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use weighbridge::Format;
use weighbridge::repository;
use weighbridge::save::{self, Float};
use weighbridge::weighbridge_core::{RuleInfo, general};

/// The format called `name`.
///
/// # Errors
/// A sentence, if there is no such format.
fn by_name(name: &str) -> Result<Format, String> {
    Format::by_name(name).filter(|format| format.is_available()).ok_or_else(|| {
        let known: Vec<_> = available().map(Format::name).collect();
        format!("unknown format {name:?}; known formats: {}", known.join(", "))
    })
}

/// The formats that this build reads.
pub(crate) fn available() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied().filter(|format| format.is_available())
}

/// A function that parses the name of a format.
type ParseFormat = fn(&str) -> Result<Format, String>;

/// The names of formats.
pub(super) fn formats() -> Named<ParseFormat> {
    Named { parse: by_name, names: available().map(Format::name).collect() }
}

/// A function that parses the name of a type.
type ParseFloat = fn(&str) -> Result<Float, String>;

/// The names of the types that quantised elements become.
pub(super) fn dequantised() -> Named<ParseFloat> {
    let by_name: ParseFloat =
        |name| Float::by_name(name).ok_or_else(|| format!("{name:?} is not f32, f16 or bf16"));
    Named { parse: by_name, names: Float::ALL.map(|it| it.dtype().name()).to_vec() }
}

/// A number of bytes, such as `5GB`.
///
/// # Errors
/// A sentence, if it is none.
pub(super) fn size(text: &str) -> Result<u64, String> {
    save::size(text).ok_or_else(|| "a size is a number and a unit, like 5GB".into())
}

/// The catalogues that belong to no format: rules for every file, and for folders.
pub(crate) const WITHOUT_FORMAT: [&[RuleInfo]; 2] = [general::RULES, repository::RULES];

/// The ids of rules, and other `words`.
pub(super) fn rules(
    words: &[&'static str],
) -> Named<impl Fn(&str) -> Result<String, String> + Clone> {
    let catalogues = Format::ALL.iter().map(|format| format.rules()).chain(WITHOUT_FORMAT);
    // Several formats share rule ids.
    let ids: BTreeSet<_> = catalogues.flatten().map(|rule| rule.id).collect();
    let names: Vec<_> = words.iter().copied().chain(ids).collect();
    let known = names.clone();
    let parse = move |name: &str| match known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        true => Ok(name.to_owned()),
        false => Err(format!("no rule has the id {name:?}")),
    };
    Named { parse, names }
}

/// A named value.
#[derive(Clone)]
pub(super) struct Named<P> {
    parse: P,
    names: Vec<&'static str>,
}

impl<T, P> TypedValueParser for Named<P>
where
    T: Clone + Send + Sync + 'static,
    P: Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, cmd: &Command, _: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let parsed = (self.parse)(&value.to_string_lossy());
        parsed.map_err(|why| Error::raw(ErrorKind::InvalidValue, format!("{why}\n")).with_cmd(cmd))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}
