//! What the names of files suggest.

use alloc::format;
use alloc::string::String;
use weighbridge_core::Format;

/// Extensions of formats with code or calls of functions, which nothing here reads.
const PROGRAMS: &[(&str, &str)] = &[
    ("pb", "a graph of TensorFlow"),
    ("pdmodel", "a graph of Paddle"),
    ("rda", "an object of R"),
    ("rdata", "an object of R"),
    ("rds", "an object of R"),
    ("t7", "an object of Torch 7"),
];

/// Extensions of pickles.
const PICKLES: &[&str] = &["dill", "joblib", "pickle", "pkl"];
/// Extensions under which PyTorch and others save pickles, among other things.
const MAYBE_PICKLES: &[&str] =
    &["bin", "ckpt", "jit", "mar", "model", "nemo", "ot", "pt", "pt2", "pth", "ptl", "sav", "th"];
/// Extensions of other files that hold a model, and are never empty.
const MODELS: &[&str] =
    &["h5", "hdf5", "keras", "mlmodel", "msgpack", "npy", "npz", "onnx", "pdparams", "tflite"];
/// Extensions of code, with what it is.
const CODE: &[(&str, &str)] = &[
    ("applescript", "AppleScript"),
    ("awk", "shell script"),
    ("bash", "shell script"),
    ("bat", "Windows script"),
    ("cjs", "JavaScript"),
    ("class", "Java"),
    ("cmd", "Windows script"),
    ("com", "native code (Windows)"),
    ("command", "shell script"),
    ("cpl", "native code (Windows)"),
    ("csh", "shell script"),
    ("desktop", "shortcut"),
    ("dll", "native code (Windows)"),
    ("dylib", "native code (Mach-O)"),
    ("exe", "native code (Windows)"),
    ("fish", "shell script"),
    ("groovy", "Groovy"),
    ("hta", "Windows script"),
    ("ipynb", "notebook"),
    ("jar", "Java"),
    ("js", "JavaScript"),
    ("jse", "Windows script"),
    ("jsx", "JavaScript"),
    ("jl", "Julia"),
    ("ksh", "shell script"),
    ("lnk", "shortcut"),
    ("lua", "Lua"),
    ("mjs", "JavaScript"),
    ("mk", "makefile"),
    ("msi", "Windows installer"),
    ("php", "PHP"),
    ("pif", "native code (Windows)"),
    ("pl", "Perl"),
    ("pm", "Perl"),
    ("ps1", "Windows script"),
    ("psm1", "Windows script"),
    ("py", "Python"),
    ("pyc", "compiled Python"),
    ("pyd", "native code (Windows)"),
    ("pyw", "Python"),
    ("pyx", "Python"),
    ("r", "R"),
    ("rb", "Ruby"),
    ("reg", "Windows registry"),
    ("sage", "Python"),
    ("scpt", "AppleScript"),
    ("scr", "native code (Windows)"),
    ("sct", "Windows script"),
    ("sh", "shell script"),
    ("so", "native code (ELF)"),
    ("tcl", "Tcl"),
    ("ts", "TypeScript"),
    ("tsx", "TypeScript"),
    ("url", "shortcut"),
    ("vbe", "Windows script"),
    ("vbs", "Windows script"),
    ("wasm", "WebAssembly"),
    ("webloc", "shortcut"),
    ("wsf", "Windows script"),
    ("wsh", "Windows script"),
    ("xonsh", "shell script"),
    ("zsh", "shell script"),
];
/// Names of files, in lower case, that tools run or take commands from.
const SCRIPTS: &[(&str, &str)] = &[
    (".bash_profile", "shell script"),
    (".bashrc", "shell script"),
    (".envrc", "shell script"),
    (".profile", "shell script"),
    (".zshenv", "shell script"),
    (".zshrc", "shell script"),
    ("containerfile", "container build"),
    ("dockerfile", "container build"),
    ("gnumakefile", "makefile"),
    ("jenkinsfile", "Groovy"),
    ("justfile", "makefile"),
    ("makefile", "makefile"),
    ("rakefile", "Ruby"),
    ("vagrantfile", "Ruby"),
];
/// Extensions of files that downloaders keep beside an unfinished file.
const CONTROLS: &[&str] = &["aria2", "crdownload", "download", "incomplete", "part", "partial"];

/// Least digits of the number of a shard.
const DIGITS: usize = 5;
/// Extensions of two letters that are no place among pieces, beside those of code.
const TWO_LETTERS: &[&str] = &[
    "br", "cc", "cs", "db", "go", "gz", "hh", "kt", "lz", "md", "mm", "pb", "pt", "rs", "th", "xz",
];

/// The extension in lower case; empty if there is none. Versions of libraries, as in
/// `libx.so.1`, are left out.
pub(super) fn extension(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or_default();
    // Windows takes such ends away, and runs what is left.
    let mut name = name.trim_end_matches([' ', '.']).to_ascii_lowercase();
    while let Some((rest, last)) = name.rsplit_once('.')
        && rest.contains(".so")
        && !last.is_empty()
        && last.bytes().all(|byte| byte.is_ascii_digit())
    {
        name.truncate(rest.len());
    }
    name.rsplit_once('.').map(|(_, extension)| extension.into()).unwrap_or_default()
}

pub(super) fn is_pickled(extension: &str) -> bool {
    PICKLES.contains(&extension)
}

pub(super) fn may_be_pickled(extension: &str) -> bool {
    MAYBE_PICKLES.contains(&extension)
}

/// Whether a file with this extension holds a model, or a part of one.
pub(super) fn is_model(extension: &str) -> bool {
    is_pickled(extension)
        || may_be_pickled(extension)
        || PROGRAMS.iter().any(|(known, _)| *known == extension)
        || MODELS.contains(&extension)
}

pub(super) fn is_code(extension: &str) -> bool {
    code(extension).is_some()
}

/// The kind of code with this extension.
pub(super) fn code(extension: &str) -> Option<&'static str> {
    CODE.iter().find(|(known, _)| *known == extension).map(|(_, kind)| *kind)
}

/// The kind of code that a file of this name has, without an extension.
pub(super) fn script(name: &str) -> Option<&'static str> {
    let name = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    if name.starts_with("dockerfile.") || name.ends_with(".dockerfile") {
        return Some("container build");
    }
    SCRIPTS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// What a file of this name is that runs when it is loaded, if it is one.
pub(super) fn program(name: &str, extension: &str, is_text: bool) -> Option<&'static str> {
    if name.rsplit('/').next() == Some("saved_model.pbtxt") {
        return Some("a graph of TensorFlow");
    }
    // Text of this name is a Protocol Buffers message of settings.
    let is_settings = extension == "pb" && is_text;
    PROGRAMS.iter().find(|(known, _)| *known == extension && !is_settings).map(|(_, what)| *what)
}

/// The file whose download this one controls, if its name says so.
pub(super) fn controlled(name: &str) -> Option<&str> {
    if let Some(file) = partial_blob(name) {
        return Some(file);
    }
    let (file, extension) = name.rsplit_once('.')?;
    let known = CONTROLS.iter().any(|known| extension.eq_ignore_ascii_case(known));
    known.then_some(file)
}

/// The blob of an Ollama store that a file of this name is a part of: `sha256-…-partial`, and
/// `sha256-…-partial-3` for what it knows of a piece.
fn partial_blob(name: &str) -> Option<&str> {
    let (blob, rest) = name.rsplit_once("-partial")?;
    let is_piece =
        rest.strip_prefix('-').is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    (blob.starts_with("sha256-") && (rest.is_empty() || is_piece)).then_some(blob)
}

/// The file that this one locks, if its name says so.
pub(super) fn locked(name: &str) -> Option<&str> {
    name.strip_suffix(".lock").filter(|file| !file.is_empty())
}

/// The names of control files that downloaders keep beside a file of this name.
pub(super) fn controls(name: &str) -> impl Iterator<Item = String> + '_ {
    CONTROLS.iter().chain(&["lock"]).map(move |control| alloc::format!("{name}.{control}"))
}

/// Which piece of a file that was split by bytes the name says this is: the name of the whole,
/// and the place.
pub(crate) fn piece(name: &str) -> Option<(&str, String)> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((whole, place)) = name.rsplit_once("-split-")
        && !place.is_empty()
        && place.len() < 6
        && place.bytes().all(|byte| byte.is_ascii_lowercase())
    {
        return Some((whole, place.into()));
    }
    let (whole, last) = name.rsplit_once('.')?;
    if let Some(place) = last.strip_prefix("part") {
        let place = place.strip_prefix('-').unwrap_or(place);
        if let Some((part, count)) = place.split_once("of") {
            let both = digits(part) && digits(count);
            return both.then(|| (whole, alloc::format!("{part} of {count}")));
        }
        let letters = place.len() == 1 || place.len() == 2;
        let letters = letters && place.bytes().all(|byte| byte.is_ascii_lowercase());
        return (digits(place) || letters).then(|| (whole, place.into()));
    }
    // `split x.gguf x.gguf.` without options. Other ends of two letters are extensions.
    let letters = last.len() == 2 && last.bytes().all(|byte| byte.is_ascii_lowercase());
    if letters && is_whole(whole) && !is_code(last) && !TWO_LETTERS.contains(&last) {
        return Some((whole, last.into()));
    }
    (last.len() == 3 && digits(last) && whole.contains('.')).then(|| (whole, last.into()))
}

/// Whether the name is that of weights, which are large enough to be split.
fn is_whole(name: &str) -> bool {
    let extension = extension(name);
    let mut formats = Format::ALL.iter().flat_map(|format| format.extensions());
    is_model(&extension) || formats.any(|known| *known == extension)
}

/// The command that joins the pieces `all` to `whole`; empty if a name would need quotes in a shell,
/// or begins like an option.
pub(super) fn command(name: &str, all: &str, whole: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+=@%".contains(c);
    match !name.starts_with('-') && name.chars().all(is_plain) {
        true => format!(": cat $(ls -v {all}) >{whole}"),
        false => String::new(),
    }
}

/// A pattern that the shell replaces with all pieces of `whole`, given the name of one.
pub(crate) fn pieces(name: &str, whole: &str) -> String {
    let rest = name.get(whole.len()..).unwrap_or_default();
    let start = ["-split-", ".part-", ".part", "."].into_iter().find(|it| rest.starts_with(it));
    let start = start.unwrap_or_default();
    let is_number =
        rest.get(start.len()..).is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    // After a dot alone, other extensions are as near.
    let places = match start {
        _ if is_number => "[0-9]*",
        "." => "[a-z][a-z]",
        _ => "*",
    };
    alloc::format!("{whole}{start}{places}")
}

/// The place of a file in a set of numbered files, by its name: the name before the number, the
/// number, counted from 1, and the count.
///
/// ```
/// use weighbridge::repository::shard_of;
///
/// let name = "model-00002-of-00003.safetensors";
/// assert_eq!(shard_of(name), Some(("model", 2, 3)));
/// assert_eq!(shard_of("model.safetensors"), None);
/// ```
pub fn shard_of(name: &str) -> Option<(&str, u64, u64)> {
    let (before, after) = name.rsplit_once("-of-")?;
    let (stem, no) = before.rsplit_once('-')?;
    let count = after.split('.').next()?;
    let number = |text: &str| {
        let digits = text.len() >= DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits)
    };
    let (no, count) = (number(no)?, number(count)?);
    (no > 0 && no <= count).then_some((stem, no, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_are_known_in_any_case() {
        for (name, kind) in [
            ("a/Modeling.PY", Some("Python")),
            ("libx.so.1.2", Some("native code (ELF)")),
            ("libx.so", Some("native code (ELF)")),
            ("notes.1", None),
            ("Makefile", None),
            ("x.py ", Some("Python")),
            ("x.BAT. .", Some("Windows script")),
        ] {
            assert_eq!(code(&extension(name)), kind, "{name}");
        }
        assert!(is_pickled(&extension("x.PKL")) && may_be_pickled(&extension("x.bin")));
        assert_eq!(
            (script("a/Dockerfile"), script("Dockerfiles")),
            (Some("container build"), None)
        );
    }

    #[test]
    fn shards_are_known_by_their_names() {
        for (name, expected) in [
            ("model-00001-of-00002.safetensors", Some(("model", 1, 2))),
            ("a-of-b-00002-of-00002.fp16.safetensors", Some(("a-of-b", 2, 2))),
            ("model-00003-of-00002.gguf", None),
            ("model-00000-of-00002.gguf", None),
            ("model-1-of-2.gguf", None),
            ("part-of-00002.gguf", None),
        ] {
            assert_eq!(shard_of(name), expected, "{name}");
        }
    }

    #[test]
    fn control_files_and_pieces_are_known_by_their_names() {
        assert_eq!(controlled("x.gguf.aria2"), Some("x.gguf"));
        assert_eq!(controlled("x.gguf"), None);
        assert_eq!(controlled("sha256-0a-partial-12"), Some("sha256-0a"));
        assert_eq!(controlled("sha256-0a-partial"), Some("sha256-0a"));
        assert_eq!(controlled("sha256-0a-partial-x"), None);
        for (name, expected) in [
            ("x.gguf.part1of2", Some(("x.gguf", "1 of 2"))),
            ("x.gguf.part00", Some(("x.gguf", "00"))),
            ("x.gguf.partaa", Some(("x.gguf", "aa"))),
            ("x.gguf-split-a", Some(("x.gguf", "a"))),
            ("x.gguf.part-aa", Some(("x.gguf", "aa"))),
            ("x.gguf.part-2of3", Some(("x.gguf", "2 of 3"))),
            ("x.gguf.ab", Some(("x.gguf", "ab"))),
            ("x.gguf.001", Some(("x.gguf", "001"))),
            ("x.bin.gz", None),
            ("x.tflite.cc", None),
            ("x.min.js", None),
            ("x.aa", None),
            ("train.en-fr.en", None),
            ("x.part", None),
            ("x.gguf.part1of", None),
            ("v1.100", None),
            ("x.gguf", None),
        ] {
            let found = piece(name);
            assert_eq!(found.as_ref().map(|(whole, at)| (*whole, &**at)), expected, "{name}");
        }
    }
}
