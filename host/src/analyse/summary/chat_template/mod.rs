//! Analyses chat templates, reading the subset of Jinja that they use.

mod lexer;

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use lexer::{Lexer, Token};

/// Maximum number of items listed of each kind: templates have about a dozen.
const MOST: usize = 128;

/// What a chat template reads, calls and writes.
///
/// ```
/// use weighbridge::Template;
///
/// let template = Template::of("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}");
/// assert_eq!(template.variables, ["messages"]);
/// assert_eq!(template.roles, ["user"]);
/// assert!(template.warnings.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Template {
    /// Variables that it reads without setting them first.
    pub variables: Vec<String>,
    /// Functions that it calls, except those of Jinja and its own macros.
    pub functions: Vec<String>,
    /// Filters that it applies.
    pub filters: Vec<String>,
    /// Roles that it compares against.
    pub roles: Vec<String>,
    /// Special tokens and tags that it writes.
    pub markers: Vec<String>,
    /// Constructs that no chat template needs, but that attacks use.
    pub warnings: Vec<TemplateWarning>,
}

/// A construct to inspect before the template is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TemplateWarning {
    /// Offset in the template, in bytes.
    pub offset: u64,
    /// Its line, counted from 1.
    pub line: u64,
    /// The text of the construct.
    pub text: String,
    /// Why it is noteworthy, as a sentence without a full stop.
    pub why: &'static str,
}

/// A piece of a template, by its kind: `text`, `comment`, `delimiter`, `keyword`, `string`,
/// `code` or `warning`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplatePiece<'t> {
    /// The kind.
    pub kind: &'static str,
    /// The text.
    pub text: &'t str,
}

const UNDERSCORES: &str =
    "names with two underscores lead to Python internals, as in the attack of CVE-2024-34359";
const INNER: &str = "leads to Python internals";
const BY_NAME: &str = "accesses attributes by name";
const OTHERS: &str = "loads another template";

/// Attributes without underscores that give access beyond a template.
const INSIDE: &[&str] = &[
    "cr_code",
    "cr_frame",
    "f_builtins",
    "f_globals",
    "f_locals",
    "func_code",
    "func_globals",
    "gi_code",
    "gi_frame",
    "mro",
    "tb_frame",
];
/// Jinja's own names.
const BUILT_IN: &[&str] = &[
    "caller",
    "cycler",
    "dict",
    "joiner",
    "kwargs",
    "lipsum",
    "loop",
    "namespace",
    "range",
    "self",
    "super",
    "varargs",
];

impl Template {
    /// Analyses a template in a single pass, without rendering it.
    ///
    /// ```
    /// use weighbridge::Template;
    ///
    /// let template = Template::of("{{ ().__class__ }}");
    /// assert_eq!(template.warnings[0].text, "__class__");
    /// assert_eq!(Template::of("{{ raise_exception('no') }}").functions, ["raise_exception"]);
    /// ```
    pub fn of(text: &str) -> Self {
        let mut reader = Reader { text, ..Reader::default() };
        for (token, at) in Lexer::new(text) {
            reader.token(token, at);
        }
        reader.name_ends(None);
        let listed = |set: BTreeSet<String>| set.into_iter().collect();
        Template {
            variables: listed(reader.variables),
            functions: listed(reader.functions),
            filters: listed(reader.filters),
            roles: listed(reader.roles),
            markers: listed(reader.markers),
            warnings: reader.warnings,
        }
    }

    /// Splits a template into pieces in order; together they are its whole text.
    ///
    /// ```
    /// use weighbridge::Template;
    ///
    /// let kinds: Vec<_> = Template::pieces("a{# b #}").iter().map(|it| it.kind).collect();
    /// assert_eq!(kinds, ["text", "comment"]);
    /// ```
    pub fn pieces(text: &str) -> Vec<TemplatePiece<'_>> {
        let mut pieces: Vec<(&'static str, usize, usize)> = Vec::new();
        for (token, at) in Lexer::new(text) {
            let kind = match &token {
                Token::Text(_) => "text",
                Token::Comment(_) => "comment",
                Token::Open { .. } | Token::Close => "delimiter",
                Token::Name(name) if is_inner(name) => "warning",
                Token::Name(name) if lexer::is_keyword(name) => "keyword",
                Token::Str(text) if has_inner(text) => "warning",
                Token::Str(_) => "string",
                Token::Name(_) | Token::Other(_) => "code",
            };
            let end = at + token.len(text, at);
            match pieces.last_mut() {
                Some((last, _, to)) if *last == kind => *to = end,
                // Spaces between tokens belong to the piece before them.
                Some((_, _, to)) => {
                    *to = at;
                    pieces.push((kind, at, end));
                }
                None => pieces.push((kind, 0, end)),
            }
        }
        if let Some((_, _, to)) = pieces.last_mut() {
            *to = text.len();
        }
        let piece =
            |(kind, from, to)| TemplatePiece { kind, text: text.get(from..to).unwrap_or_default() };
        pieces.into_iter().map(piece).collect()
    }
}

fn is_inner(name: &str) -> bool {
    name.starts_with("__") && name.len() > 2
}

/// Whether a quoted string contains such a name, after decoding its escapes.
fn has_inner(text: &str) -> bool {
    let text = lexer::unescaped(text);
    let whole = text.trim_start_matches('_');
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let inner = words.any(|word| {
        let name = word.split_once("__").map_or("", |(_, after)| after.trim_start_matches('_'));
        name.ends_with("__") || (!name.is_empty() && name == whole)
    });
    // Half of such a name, to be concatenated.
    inner || text == "__" || (text.len() > 2 && text.ends_with("__"))
}

/// The names that a statement binds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Binds {
    #[default]
    Nothing,
    /// Names up to `=`, once the statement ends.
    Set,
    /// Names up to `in`.
    For,
    /// The next name, then those in parentheses.
    Macro,
    /// Names before `=`.
    With,
}

/// Progress in recognising a comparison with a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    #[default]
    No,
    Named,
    Compared,
    Among,
}

#[derive(Debug, Default)]
struct Reader<'t> {
    text: &'t str,
    variables: BTreeSet<String>,
    functions: BTreeSet<String>,
    filters: BTreeSet<String>,
    roles: BTreeSet<String>,
    markers: BTreeSet<String>,
    warnings: Vec<TemplateWarning>,
    bound: BTreeSet<String>,
    /// Names to bind when the statement ends.
    later: Vec<String>,
    binds: Binds,
    role: Role,
    depth: u32,
    /// Whether the next name is the keyword of a statement.
    begins: bool,
    /// A name whose use depends on the next token.
    name: Option<&'t str>,
    /// Whether the name follows `=`.
    assigned: bool,
    /// The token before the next one: a name or an operator.
    before: &'t str,
    /// An offset, and the number of lines before it.
    line: (usize, u64),
}

fn list(set: &mut BTreeSet<String>, name: &str) {
    if set.len() < MOST && !set.contains(name) {
        set.insert(name.to_string());
    }
}

impl<'t> Reader<'t> {
    fn token(&mut self, token: Token<'t>, at: usize) {
        self.name_ends(Some(&token));
        self.compare(&token);
        match token {
            Token::Text(text) => self.markers_of(text),
            Token::Comment(_) => {}
            Token::Open { statement } => {
                self.begins = statement;
                self.binds = Binds::Nothing;
                self.before = "";
                self.depth = 0;
            }
            Token::Close => {
                let later = core::mem::take(&mut self.later);
                self.bound.extend(later);
                self.binds = Binds::Nothing;
            }
            Token::Str(text) => {
                if has_inner(text) {
                    self.warn(at, text, UNDERSCORES);
                } else if INSIDE.contains(&lexer::unescaped(text).as_str()) {
                    self.warn(at, text, INNER);
                } else if self.before == "''" {
                    // Adjacent strings are concatenated.
                    self.warn(at, text, BY_NAME);
                }
                self.markers_of(text);
                self.before = "''";
            }
            Token::Name(name) => self.name(name, at),
            Token::Other(sign) => {
                match sign {
                    "(" | "[" | "{" => self.depth += 1,
                    ")" | "]" | "}" => self.depth = self.depth.saturating_sub(1),
                    "=" if self.binds == Binds::Set && self.depth == 0 => {
                        self.binds = Binds::Nothing
                    }
                    _ => {}
                }
                self.before = sign;
            }
        }
    }

    fn name(&mut self, name: &'t str, at: usize) {
        if is_inner(name) {
            self.warn(at, name, UNDERSCORES);
        }
        if core::mem::take(&mut self.begins) {
            self.binds = match name {
                "set" => Binds::Set,
                "for" => Binds::For,
                "macro" => Binds::Macro,
                "with" => Binds::With,
                _ => Binds::Nothing,
            };
            if matches!(name, "include" | "import" | "extends" | "from") {
                self.warn(at, name, OTHERS);
            }
            self.before = if name == "filter" { "|" } else { name };
            return;
        }
        match self.before {
            "." => {
                if INSIDE.contains(&name) {
                    self.warn(at, name, INNER);
                }
            }
            "|" => {
                list(&mut self.filters, name);
                if name == "attr" {
                    self.warn(at, name, BY_NAME);
                }
            }
            // A test, as in `is defined` and `is not none`.
            "is" => {
                if name == "not" {
                    return;
                }
            }
            _ if name == "in" && self.binds == Binds::For => {
                self.binds = Binds::Nothing;
                let later = core::mem::take(&mut self.later);
                self.bound.extend(later);
            }
            _ if lexer::is_keyword(name) => {}
            before => (self.name, self.assigned) = (Some(name), before == "="),
        }
        self.before = name;
    }

    /// Classifies the last name by the token that follows it.
    fn name_ends(&mut self, next: Option<&Token<'t>>) {
        let Some(name) = self.name.take() else { return };
        let sign = match next {
            Some(Token::Other(sign)) => *sign,
            _ => "",
        };
        match self.binds {
            Binds::Set | Binds::For if sign != "." && sign != "[" => {
                return self.later.push(name.to_string());
            }
            Binds::Macro
                if !self.assigned
                    && (self.depth == 0 || sign == "=" || sign == "," || sign == ")") =>
            {
                self.bound.insert(name.to_string());
                return;
            }
            Binds::With if sign == "=" && self.depth == 0 => {
                return self.later.push(name.to_string());
            }
            _ => {}
        }
        if (sign == "=" && self.depth > 0) || self.bound.contains(name) {
            // The name of an argument, or a name that the template binds.
        } else if BUILT_IN.contains(&name) {
        } else if sign == "(" {
            list(&mut self.functions, name);
        } else {
            list(&mut self.variables, name);
        }
    }

    fn compare(&mut self, token: &Token<'t>) {
        self.role = match (self.role, token) {
            (_, Token::Name("role")) => Role::Named,
            (Role::Compared | Role::Among, Token::Str(text)) => {
                let role = lexer::unescaped(text);
                if !role.is_empty() && role.len() <= 64 {
                    list(&mut self.roles, &role);
                }
                if self.role == Role::Among { Role::Among } else { Role::No }
            }
            (_, Token::Str(text)) if matches!(*text, "'role'" | "\"role\"") => Role::Named,
            (Role::Named, Token::Other("]" | ")")) | (Role::Named, Token::Name("not")) => {
                Role::Named
            }
            (Role::Named, Token::Other("==" | "!=")) => Role::Compared,
            (Role::Named, Token::Name("in")) => Role::Among,
            (Role::Among, Token::Other("[" | "(" | ",")) => Role::Among,
            _ => Role::No,
        };
    }

    fn warn(&mut self, at: usize, text: &str, why: &'static str) {
        if self.warnings.len() >= MOST {
            return;
        }
        let (from, line) = self.line;
        let between = self.text.get(from..at).unwrap_or_default();
        let line = line + between.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.line = (at, line);
        let text = text.chars().take(80).collect();
        self.warnings.push(TemplateWarning { offset: at as u64, line: line + 1, text, why });
    }

    /// Collects special tokens and tags: `<|…|>`, `<…>`, `[INST]`.
    fn markers_of(&mut self, text: &str) {
        for (open, close) in [('<', '>'), ('[', ']')] {
            let mut rest = text;
            while let Some((_, after)) = rest.split_once(open) {
                rest = after;
                if self.markers.len() >= MOST {
                    return;
                }
                // Of `<<SYS>>`, the inner tag.
                let most: usize = after.chars().take(48).map(char::len_utf8).sum();
                let near = after.get(..most).unwrap_or_default();
                let Some((name, _)) = near.split_once(close) else { continue };
                let fits = if open == '<' {
                    let begins = name.trim_start_matches(['/', '|', '｜']);
                    begins.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                        && !name.contains(|c: char| c.is_whitespace() || "<'\"={}".contains(c))
                } else {
                    let inner = name.trim_start_matches('/');
                    inner.len() > 2 && inner.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                };
                if fits {
                    let marker: String =
                        [open].into_iter().chain(name.chars()).chain([close]).collect();
                    list(&mut self.markers, &marker);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
