//! Settings and templates: texts that may make a loader run code.

use super::content;
use super::examined::{Class, Examined};
use super::file_names::extension;
use super::{agree, code_in_settings};
use crate::analyse::summary::Template;
use crate::base::error::ReadError;
use crate::base::python_json::Json;
use crate::base::text::plural;
use crate::input::place::Place;
use crate::input::reader::Input;
use alloc::format;
use alloc::string::String;

/// Longest settings that are parsed, by their name or because they end in `.json`.
pub(super) const SETTINGS: u64 = 16 << 20;
const OTHER_SETTINGS: u64 = 2 << 20;

/// A JSON file: settings that may load code.
pub(super) fn json(
    input: &dyn Input,
    name: &str,
    is_text: bool,
    place: Option<&dyn Place>,
    whole: bool,
) -> Result<Examined, ReadError> {
    let unread = Examined::new(Class::Unknown, "unreadable settings");
    if !is_text {
        return Ok(unread.because("not text"));
    }
    let decides = code_in_settings::NAMES.contains(&&*name.to_ascii_lowercase());
    let is_read = code_in_settings::is_read(name);
    let most = if decides || is_read && whole { SETTINGS } else { OTHER_SETTINGS };
    let Some(bytes) = content::whole(input, most)? else {
        if decides {
            return Ok(unread.because(format!("longer than {}", plural(most, "byte"))));
        }
        let cut_off = is_read && !content::is_closed(input)?;
        return Ok(if cut_off { unread.because("cut off") } else { Examined::companion("JSON") });
    };
    let text = str::from_utf8(&bytes).unwrap_or_default();
    let Some(json) = Json::parse(text.strip_prefix('\u{FEFF}').unwrap_or(text)) else {
        // Such as JSON with comments, or one object per line.
        return Ok(if is_read { unread.because("not JSON") } else { Examined::companion("text") });
    };
    if is_read && code_in_settings::is_message(&json) {
        return Ok(unread.because("a server's message in place of a file"));
    }
    let present = |what: &str| place.is_some_and(|place| place.beside(what).open().is_ok());
    let loads = code_in_settings::loads(name, &json).into_iter();
    let mut loads = loads.filter(|load| !load.if_present || present(&load.what)).peekable();
    let first = loads.peek().cloned();
    Ok(match loads.find(|load| load.runs).or(first) {
        Some(load) if load.runs => {
            let why = format!("{} loads {}", load.by, load.what);
            Examined::new(Class::Code, "settings that load code").because(why).runs()
        }
        Some(load) => {
            let why = format!("{} imports {}", load.by, load.what);
            Examined::new(Class::Code, "settings that import code").because(why)
        }
        None => {
            let contradictions = place.filter(|_| whole).map(|at| agree::compare(name, &json, at));
            Examined::companion("JSON").contradicted(contradictions.unwrap_or_default())
        }
    })
}

/// Whether files with this extension are settings or templates.
pub(super) fn is_settings(extension: &str) -> bool {
    matches!(extension, "json" | "jsonc" | "jinja" | "jinja2" | "j2" | "yaml" | "yml")
}

/// Settings or a template in an archive, which are all the bytes of a member.
pub(super) fn member(bytes: &[u8], name: &str) -> Result<Examined, ReadError> {
    let input = &super::Lent(bytes);
    if bytes.is_empty() {
        return Ok(super::empty(name, "", None));
    }
    let is_text = content::is_text(input, u64::MAX)?;
    match &*extension(name) {
        "json" | "jsonc" => json(input, name, is_text, None, true),
        "yaml" | "yml" => Ok(yaml(input, is_text)?.unwrap_or(Examined::companion("text"))),
        _ => template(input, is_text),
    }
}

/// A manifest of a store of models, if it is one.
#[cfg(feature = "std")]
pub(super) fn manifest(input: &dyn Input, name: &str, place: &dyn Place) -> Option<Examined> {
    let bytes = content::whole(input, OTHER_SETTINGS).ok()??;
    super::manifest::examine(name, &Json::parse(str::from_utf8(&bytes).ok()?)?, place)
}

/// A template of chats, which may be an attack.
pub(super) fn template(input: &dyn Input, is_text: bool) -> Result<Examined, ReadError> {
    let bytes = if is_text { content::whole(input, SETTINGS)? } else { None };
    let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Ok(Examined::new(Class::Unknown, "unreadable template"));
    };
    Ok(match Template::of(&text).warnings.first() {
        Some(warning) => {
            let why = format!("line {}: {}: {}", warning.line, warning.text, warning.why);
            Examined::new(Class::Code, "template").because(why).runs()
        }
        None => Examined::companion("template"),
    })
}

/// Settings in YAML that make a loader call functions: `None` if they do not.
pub(super) fn yaml(input: &dyn Input, is_text: bool) -> Result<Option<Examined>, ReadError> {
    let bytes = if is_text { content::whole(input, SETTINGS)? } else { None };
    let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        // PyYAML reads UTF-16 as well.
        let unread = Examined::new(Class::Unknown, "unreadable settings");
        return Ok(Some(unread.because("neither UTF-8 nor short enough")));
    };
    Ok(of_yaml(&text).map(|(why, runs)| {
        let found = Examined::new(Class::Code, "YAML").because(why);
        if runs { found.runs() } else { found }
    }))
}

/// What in YAML makes a loader call functions, and whether that may be any function: tags of PyYAML,
/// however they are written, tags of HyperPyYAML, and what Hydra makes objects of.
fn of_yaml(text: &str) -> Option<(String, bool)> {
    const TAGS: [(&str, bool); 6] = [
        ("!!python/", true),
        ("!python/", true),
        ("yaml.org,2002:python", true),
        ("!new:", false),
        ("!apply:", false),
        ("!name:", false),
    ];
    const TARGET: &str = "_target_";
    if let Some((tag, runs)) = TAGS.iter().find(|(tag, _)| text.contains(tag)) {
        return Some((format!("it has the tag {tag}"), *runs));
    }
    if text.lines().any(|line| line.starts_with("%TAG")) {
        return Some((String::from("its directive %TAG gives tags other names"), true));
    }
    let mut words = text.split(|it: char| it.is_whitespace() || "[]{},".contains(it));
    if words.any(|word| word.starts_with('!') && word.contains('%')) {
        return Some((String::from("it has a tag with escapes"), true));
    }
    let end = |it: char| !it.is_alphanumeric() && it != '.' && it != '_';
    let mut runs = hidden_key(text).map(|how| {
        // Whose value it is nobody knows.
        let any =
            text.split(end).any(|it| it.contains('.') && code_in_settings::can_run_anything(it));
        (format!("{how} may be {TARGET}"), any)
    });
    runs = runs.or_else(|| loader_module(text));
    for (at, _) in text.match_indices(TARGET) {
        let after = text.get(at + TARGET.len()..).unwrap_or_default();
        let after = after.trim_start_matches(['"', '\'', ' ', '\t', '\r', '\n']);
        let Some(value) = after.strip_prefix(':') else { continue };
        let value = value.trim_start_matches([' ', '\t', '"', '\'', '\r', '\n']);
        let name = value.split(end).next().unwrap_or_default();
        // An escape hides what it calls.
        let hidden = value.get(name.len()..).is_some_and(|rest| rest.starts_with('\\'));
        let any = hidden || code_in_settings::can_run_anything(name);
        let found = (format!("{TARGET} calls {name}"), any);
        if found.1 || runs.is_none() {
            runs = Some(found);
        }
    }
    runs
}

/// The module that MLflow imports to load a model, and whether it can run anything.
fn loader_module(text: &str) -> Option<(String, bool)> {
    const KEY: &str = "loader_module";
    let found = text.lines().filter_map(|line| {
        let line = line.trim_start_matches([' ', '-', '"', '\'']);
        let rest =
            line.strip_prefix(KEY)?.trim_start_matches(['"', '\'', ' ']).strip_prefix(':')?;
        let module = rest.trim().trim_matches(['"', '\'']);
        code_in_settings::import(KEY, module, module.into())
    });
    found
        .max_by_key(|load| load.runs)
        .map(|load| (format!("{KEY} imports {}", load.what), load.runs))
}

/// How YAML may hide a key `_target_`: with an escape in it, or as a complex key or an alias whose text
/// is elsewhere. A file without that text, also if escapes are decoded, cannot have it.
fn hidden_key(text: &str) -> Option<&'static str> {
    let (mut decoded, mut pending, mut rest) = (String::new(), false, text);
    while let Some(at) = rest.find(['\\', '"']) {
        let (before, from) = rest.split_at(at);
        decoded.push_str(before);
        rest = from.get(1..).unwrap_or_default();
        if from.starts_with('"') {
            if pending && rest.trim_start_matches([' ', '\t']).starts_with(':') {
                return Some("a key with an escape");
            }
            pending = false;
            decoded.push('"');
        } else if let Some((letter, after)) = hides(rest) {
            pending = true;
            decoded.extend(letter);
            rest = after;
        } else {
            let mut chars = rest.chars();
            decoded.push('\\');
            decoded.extend(chars.next());
            rest = chars.as_str();
        }
    }
    decoded.push_str(rest);
    if !decoded.contains("_target_") && !text.contains("_target_") {
        return None;
    }
    let starts = |mark: char, is: &dyn Fn(&str) -> bool| {
        let mut found = text.match_indices(mark);
        found.any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().chars().next_back();
            before.is_none_or(|it| it.is_whitespace() || "[]{},\u{FEFF}".contains(it))
                && is(text.get(at + 1..).unwrap_or_default())
        })
    };
    let is_key = |rest: &str| {
        let end = |it: char| it.is_whitespace() || "[]{},:".contains(it);
        let (name, rest) = rest.split_at(rest.find(end).unwrap_or(rest.len()));
        !name.is_empty() && rest.trim_start().starts_with(':')
    };
    if starts('*', &is_key) {
        Some("an alias as a key")
    } else if starts('?', &|_| true) {
        Some("a complex key")
    } else {
        None
    }
}

/// What an escape stands for, given what follows its backslash, and what follows the escape: a letter or
/// sign of ASCII, or nothing if it joins two lines.
fn hides(rest: &str) -> Option<(Option<char>, &str)> {
    let first = rest.chars().next()?;
    let digits = match first {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => {
            let is_break = "\r\n\u{85}\u{2028}\u{2029}".contains(first);
            return is_break.then(|| (None, rest.trim_start()));
        }
    };
    let code = u32::from_str_radix(rest.get(1..=digits)?, 16).ok()?;
    let letter = char::from_u32(code).filter(char::is_ascii_graphic)?;
    Some((Some(letter), rest.get(digits + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_that_calls_functions_is_found_however_it_is_written() {
        for (text, runs) in [
            ("a: !!python/object/apply:os.system [id]", Some(true)),
            ("%TAG ! tag:yaml.org,2002:\n---\na: !python/object/apply:os.system [id]", Some(true)),
            ("%TAG !x! tag:yaml.org,2002:pyth\n---\na: !x!on/object/apply:os.system", Some(true)),
            ("a: !<tag:yaml.org,2002:python/object/apply:os.system> [id]", Some(true)),
            ("a: [!!pyth%6Fn/object/apply:os.system [id]]", Some(true)),
            ("m:\n  _target_: torch.nn.Linear\n  x: {\"_target_\": 'builtins.exec'}", Some(true)),
            ("_target_:\n  subprocess.run", Some(true)),
            ("m:\n  _target_: torch.nn.Linear", Some(false)),
            ("linear: !new:speechbrain.nnet.Linear", Some(false)),
            ("flavors:\n  python_function:\n    loader_module: os", Some(true)),
            ("loader_module: \"net.load\"", Some(false)),
            ("loader_module: mlflow.sklearn", None),
            ("a: ! b\nc: 100%\nd: !important 5\n_target_name: x", None),
            ("model:\n  target: ldm.models.Ddpm", None),
            ("\"_targ\\x65t_\": os.system", Some(true)),
            ("{\"_targ\\u0065t_\": \"torch.nn.Linear\"}", Some(false)),
            ("\"_target\\\n  _\": os.system", Some(true)),
            ("? _target_ # it\n: os.system", Some(true)),
            ("{?_target_ # it\n: os.system}", Some(true)),
            ("? \"_targ\\x65t_\"\n: os.system", Some(true)),
            ("k: &z _target_\nm:\n  *z : os.system", Some(true)),
            ("k: &z \"\\x5ftarget_\"\n*z: torch.nn.Linear", Some(false)),
            ("_target_: \"o\\x73.system\"", Some(true)),
            ("_target_\n: os.system", Some(true)),
            ("\"caf\\xE9\\n\": 1\nb: \"a\\x41\"\n\"c\": '\\u0041'", None),
            ("a: \"x\\\n  \\ y\"\nb: why ? x\nc: '\\u0041'\n? x\n: *b : 1", None),
            ("? [a, b]\n: 1\nk: &z x\n*z : os.path\n<<: *z", None),
        ] {
            assert_eq!(of_yaml(text).map(|(_, runs)| runs), runs, "{text}");
        }
    }
}
