//! What the settings of a model would load as code.

use crate::analyse::summary::Template;
use crate::base::python_json::Json;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// Files of settings that loaders read by these names. Others ending in `.json` are read too, up
/// to a smaller length.
pub(crate) const NAMES: &[&str] = &[
    "adapter_config.json",
    "chat_template.json",
    "config.json",
    "config_sentence_transformers.json",
    "feature_extractor_config.json",
    "generation_config.json",
    "image_processor_config.json",
    "model_index.json",
    "modules.json",
    "preprocessor_config.json",
    "processor_config.json",
    "router_config.json",
    "tokenizer_config.json",
    "video_preprocessor_config.json",
];

/// Files of data that loaders read by these names. Nothing in them decides what is loaded.
const DATA: &[&str] = &[
    "added_tokens.json",
    "params.json",
    "quantize_config.json",
    "scheduler_config.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "vocab.json",
];

/// Whether loaders read a file of this name as JSON, so that it must be that.
pub(super) fn is_read(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.contains(&&*name) || DATA.contains(&&*name)
}

/// Whether this is nothing but what a server says of an error.
pub(super) fn is_message(json: &Json) -> bool {
    const KEYS: [&str; 5] = ["detail", "error", "errors", "message", "status"];
    let mut keys = json.pairs().iter().map(|(key, _)| key.as_str());
    keys.len() > 0 && keys.all(|key| KEYS.contains(&key))
}

/// Libraries whose classes `model_index.json` names.
const LIBRARIES: &[&str] = &["diffusers", "flax", "onnxruntime", "optimum", "transformers"];

/// Modules of Python with functions that run code, start programs, or delete files. Settings that have
/// a library call functions by name need none of them.
const DANGEROUS: &[&str] = &[
    "asyncio",
    "bdb",
    "builtins",
    "code",
    "codeop",
    "commands",
    "ctypes",
    "importlib",
    "marshal",
    "multiprocessing",
    "nt",
    "os",
    "pdb",
    "pickle",
    "pkgutil",
    "posix",
    "profile",
    "pty",
    "runpy",
    "shutil",
    "socket",
    "subprocess",
    "sys",
    "timeit",
    "webbrowser",
];

/// Whether a function of this name, with its module, may run anything.
pub(super) fn can_run_anything(name: &str) -> bool {
    let module = name.split('.').next().unwrap_or_default();
    DANGEROUS.contains(&module)
}

/// Something that loading the model would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The setting that names it.
    pub(crate) by: String,
    /// The module that is loaded, as a path below the folder of the settings; otherwise the
    /// thing itself.
    pub(crate) what: String,
    /// Whether this is code only if the file exists: the name may also be that of a module that
    /// the library has.
    pub(crate) if_present: bool,
}

fn load(by: &str, what: String) -> Load {
    Load { by: by.into(), what, if_present: false }
}

/// What these settings, a file of this name, would load.
pub(crate) fn loads(name: &str, json: &Json) -> Vec<Load> {
    let mut found = Vec::new();
    json.each(&mut |key, value| match key {
        "auto_map" => {
            let mut add = |value: &Json| {
                found.extend(value.text().map(|text| load(key, module(text))));
            };
            for (_, value) in value.pairs() {
                add(value);
                value.items().iter().for_each(&mut add);
            }
            // Of a tokenizer saved by old releases: the slow and the fast one.
            value.items().iter().for_each(&mut add);
            add(value);
        }
        "custom_pipelines" => {
            for (_, pipeline) in value.pairs() {
                let name = pipeline.get("impl").and_then(Json::text).unwrap_or("a module");
                found.push(load(key, module(name)));
            }
        }
        "activation_function" => {
            let text = value.text().filter(|it| it.contains('.') && !it.starts_with("torch."));
            found.extend(text.map(|text| load(key, module(text))));
        }
        // Of a Keras model, and of Hydra.
        "class_name" if value.text() == Some("Lambda") => {
            found.push(load(key, "a Lambda layer".into()));
        }
        "_target_" | "module" => {
            let text = value.text().filter(|it| can_run_anything(it));
            found.extend(text.map(|text| load(key, text.into())));
        }
        "chat_template" => {
            let mut add = |value: &Json| {
                let text = value.text().unwrap_or_default();
                found.extend(Template::of(text).warnings.first().map(|warning| {
                    load(key, format!("{}, line {}: {}", warning.text, warning.line, warning.why))
                }));
            };
            add(value);
            value.pairs().iter().for_each(|(_, it)| add(it));
            for item in value.items() {
                add(item.get("template").unwrap_or(&Json::Null));
            }
        }
        _ => {}
    });
    match name {
        "modules.json" => {
            let kinds = json.items().iter().filter_map(|it| it.get("type")?.text());
            let own = kinds.filter(|it| !it.starts_with("sentence_transformers."));
            found.extend(own.map(|it| load("modules.json", module(it))));
        }
        // A router, or an asymmetric model, of sentence-transformers names its modules by class.
        "router_config.json" | "config.json" => {
            let types = json.get("types").map_or(&[][..], Json::pairs).iter();
            let classes = types.filter_map(|(_, it)| it.text()).filter(|it| it.contains('.'));
            let own = classes.filter(|it| !it.starts_with("sentence_transformers."));
            found.extend(own.map(|it| load("types", module(it))));
        }
        "model_index.json" => pipeline(json, &mut found),
        _ => {}
    }
    found
}

/// The modules of a diffusers pipeline that its folder contains.
fn pipeline(json: &Json, found: &mut Vec<Load>) {
    for (key, value) in json.pairs() {
        let Some(library) = value.items().first().and_then(Json::text) else { continue };
        if key == "_class_name" {
            found.push(load("_class_name", format!("{library}.py")));
        } else if !LIBRARIES.contains(&library) {
            let what = format!("{key}/{library}.py");
            found.push(Load { by: key.to_string(), what, if_present: true });
        }
    }
}

/// The module of a class such as `modeling_x.Model`, which may be in another repository:
/// `owner/name--modeling_x.Model`.
fn module(class: &str) -> String {
    let (repository, class) = class.split_once("--").unwrap_or(("", class));
    let module = class.rsplit_once('.').map_or(class, |(module, _)| module).replace('.', "/");
    match repository {
        "" => format!("{module}.py"),
        repository => format!("{module}.py of {repository}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> Vec<String> {
        let json = Json::parse(text).expect("it is JSON");
        loads(name, &json).into_iter().map(|it| format!("{}: {}", it.by, it.what)).collect()
    }

    #[test]
    fn settings_that_load_code_name_it() {
        for (name, text, expected) in [
            (
                "config.json",
                r#"{"auto_map": {"AutoModel": "modeling_x.Model"}, "x": NaN}"#,
                "auto_map: modeling_x.py",
            ),
            (
                "config.json",
                r#"{"text_config": {"\u0061uto_map": {"AutoConfig": "me/other--conf.Conf"}}}"#,
                "auto_map: conf.py of me/other",
            ),
            (
                "tokenizer_config.json",
                r#"{"auto_map": {"AutoTokenizer": ["tok.Slow", null]}}"#,
                "auto_map: tok.py",
            ),
            (
                "config.json",
                r#"{"custom_pipelines": {"pair": {"impl": "pair.Pipeline"}}}"#,
                "custom_pipelines: pair.py",
            ),
            ("model_index.json", r#"{"_class_name": ["pipe", "Pipe"]}"#, "_class_name: pipe.py"),
            (
                "modules.json",
                r#"[{"idx": 0, "type": "sentence_transformers.models.Pooling"},
                    {"idx": 1, "type": "custom_st.Transformer"}]"#,
                "modules.json: custom_st.py",
            ),
            (
                "config.json",
                r#"{"activation_function": "os.path.Evil"}"#,
                "activation_function: os/path.py",
            ),
            (
                "model.json",
                r#"{"config": {"layers": [{"class_name": "Lambda"}]}}"#,
                "class_name: a Lambda layer",
            ),
            ("config.json", r#"{"_target_": "os.system"}"#, "_target_: os.system"),
            ("router_config.json", r#"{"types": {"0": "net.Net"}}"#, "types: net.py"),
        ] {
            assert_eq!(of(name, text), [expected], "{text}");
        }
        let escape = r#"{"chat_template": [{"name": "x", "template": "{{ ().__class__ }}"}]}"#;
        assert!(of("tokenizer_config.json", escape)[0].starts_with("chat_template: __class__"));
    }

    #[test]
    fn settings_that_load_nothing_name_nothing() {
        for (name, text) in [
            ("config.json", r#"{"auto_map": {}, "model_type": "bert"}"#),
            ("config.json", r#"{"activation_function": "torch.nn.modules.activation.Tanh"}"#),
            ("config.json", r#"{"activation_function": "gelu_new"}"#),
            ("config.json", r#"{"types": {"0": "sentence_transformers.models.Pooling"}}"#),
            ("x.json", r#"{"class_name": "Dense", "module": "keras.layers"}"#),
            ("x.json", r#"{"_target_": "torch.nn.Linear", "module": {"os": 1}}"#),
            ("model_index.json", r#"{"_class_name": "Pipe", "vae": ["diffusers", "Vae"]}"#),
            ("modules.json", r#"[{"type": "sentence_transformers.models.Pooling"}]"#),
            ("tokenizer_config.json", r#"{"chat_template": "{{ messages[0].content }}"}"#),
        ] {
            assert_eq!(of(name, text), [""; 0], "{text}");
        }
    }
}
