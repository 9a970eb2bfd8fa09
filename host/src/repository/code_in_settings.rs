//! What the settings of a model would load as code.

use crate::analyse::summary::Template;
use crate::base::python_json::Json;
use alloc::format;
use alloc::string::String;
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

/// Libraries of models, whose classes settings name.
const LIBRARIES: &[&str] = &[
    "diffusers",
    "flax",
    "keras",
    "lightning",
    "mlflow",
    "monai",
    "nemo",
    "onnxruntime",
    "optimum",
    "peft",
    "pytorch_lightning",
    "sentence_transformers",
    "timm",
    "torch",
    "torchaudio",
    "torchmetrics",
    "torchvision",
    "transformers",
];

/// Packages of layers that Keras imports as its own.
const KERAS: &[&str] = &[
    "keras_core",
    "keras_cv",
    "keras_hub",
    "keras_nlp",
    "tensorflow",
    "tensorflow_addons",
    "tensorflow_hub",
    "tf_keras",
];

/// Packages within `diffusers.pipelines` that have parts of their own: `model_index.json` names them
/// as it names libraries.
const PIPELINES: &[&str] = &[
    "ace_step",
    "alt_diffusion",
    "audioldm",
    "audioldm2",
    "blip_diffusion",
    "bria_fibo2",
    "consisid",
    "cosmos",
    "deepfloyd_if",
    "flux",
    "flux2",
    "hunyuan_video1_5",
    "ideogram4",
    "joyimage",
    "kandinsky",
    "kandinsky3",
    "kolors",
    "latent_diffusion",
    "longcat_image",
    "ltx",
    "ltx2",
    "marigold",
    "musicldm",
    "omnigen",
    "paint_by_example",
    "sana_wm",
    "shap_e",
    "spectrogram_diffusion",
    "stable_audio",
    "stable_audio_3",
    "stable_cascade",
    "stable_diffusion",
    "stable_diffusion_safe",
    "stable_diffusion_xl",
    "unclip",
    "unidiffuser",
    "versatile_diffusion",
    "visualcloze",
    "wan",
    "wuerstchen",
];

/// Modules of Python with functions that run code, start programs, or delete files. Settings that have
/// a library call functions by name need none of them.
const DANGEROUS: &[&str] = &[
    "_posixsubprocess",
    "asyncio",
    "bdb",
    "builtins",
    "cProfile",
    "cloudpickle",
    "code",
    "codeop",
    "commands",
    "ctypes",
    "dill",
    "distutils",
    "doctest",
    "imp",
    "importlib",
    "joblib",
    "marshal",
    "multiprocessing",
    "nt",
    "numpy.f2py",
    "os",
    "pdb",
    "pickle",
    "pip",
    "pkgutil",
    "posix",
    "profile",
    "pty",
    "runpy",
    "setuptools",
    "shutil",
    "socket",
    "subprocess",
    "sys",
    "timeit",
    "torch.hub",
    "torch.utils.cpp_extension",
    "trace",
    "webbrowser",
    "zipimport",
];

/// Whether a function of this name, with its module, may run anything.
pub(super) fn can_run_anything(name: &str) -> bool {
    is_of(DANGEROUS, name)
}

/// Whether a name is that of one of these modules, or of something in one.
fn is_of(modules: &[&str], name: &str) -> bool {
    let rest = |module: &&str| name.strip_prefix(module);
    modules.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a class of this name in Keras holds code, or a pickle.
pub(super) fn is_code_of_keras(class: &str) -> bool {
    matches!(class, "Lambda" | "TorchModuleWrapper" | "__lambda__")
}

/// Whether a function of this name in Keras lets a model load code, or writes files.
pub(super) fn unlocks_keras(function: &str) -> bool {
    matches!(function, "enable_unsafe_deserialization" | "get_file")
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
    /// Whether loading the model runs it for certain. Otherwise it is a module, maybe an installed
    /// one, of which nothing is known.
    pub(crate) runs: bool,
}

fn load(by: &str, what: String) -> Load {
    Load { by: by.into(), what, if_present: false, runs: true }
}

/// What a library imports by name, unless it belongs to a library of models.
pub(super) fn import(by: &str, module: &str, what: String) -> Option<Load> {
    let runs = can_run_anything(module);
    (runs || !is_of(LIBRARIES, module)).then(|| Load { runs, ..load(by, what) })
}

/// The module that Keras imports for a layer or function that is not its own.
fn layer(object: &Json) -> Option<Load> {
    let (module, class) = (object.get("module")?.text()?, object.get("class_name")?.text()?);
    let is_own = is_of(KERAS, module) || module.is_empty() || object.get("config").is_none();
    if is_own { None } else { import("module", module, format!("{module}.{class}")) }
}

/// What these settings, a file of this name, would load.
pub(crate) fn loads(name: &str, json: &Json) -> Vec<Load> {
    let mut found = Vec::new();
    json.all(&mut |value| found.extend(layer(value)));
    json.each(&mut |key, value| by_key(key, value, &mut found));
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

/// What the value of a key would load, at any depth.
fn by_key(key: &str, value: &Json, found: &mut Vec<Load>) {
    match key {
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
        "activation_fn"
        | "activation_function"
        | "default_activation_function"
        | "sbert_ce_default_activation_function" => {
            let text = value.text().filter(|it| it.contains('.') && !it.starts_with("torch."));
            found.extend(text.map(|text| load(key, module(text))));
        }
        // A kernel from the hub, which transformers fetches without asking.
        "_attn_implementation" | "_attn_implementation_internal" | "attn_implementation" => {
            let text = value.text().filter(|it| it.contains('/'));
            found.extend(text.map(|text| load(key, text.into())));
        }
        // Of a Keras model.
        "class_name" => {
            let text = value.text().filter(|it| is_code_of_keras(it));
            found.extend(text.map(|text| load(key, format!("a {text} layer"))));
        }
        "config" => {
            let text = value.text().filter(|it| unlocks_keras(it));
            found.extend(text.map(|text| load(key, text.into())));
        }
        // Of Keras, and of skops.
        "module" | "__module__" => {
            let text = value.text().filter(|it| can_run_anything(it));
            found.extend(text.map(|text| load(key, text.into())));
        }
        // Of Hydra, and of an adapter of PEFT.
        "_target_" | "parent_library" => {
            let text = value.text().filter(|it| !it.is_empty());
            found.extend(text.and_then(|text| import(key, text, text.into())));
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
    }
}

/// The modules of a diffusers pipeline: the ones in its folder, and libraries imported by name
/// other than diffusers itself.
fn pipeline(json: &Json, found: &mut Vec<Load>) {
    for (key, value) in json.pairs() {
        let Some(library) = value.items().first().and_then(Json::text) else { continue };
        if key == "_class_name" {
            found.push(load("_class_name", format!("{library}.py")));
            continue;
        }
        // Before a library, diffusers looks for a module of this name.
        let what = format!("{key}/{library}.py");
        found.push(Load { if_present: true, ..load(key, what) });
        if let [_, Json::Text(class)] = value.items()
            && !key.starts_with('_')
            && !PIPELINES.contains(&library)
        {
            found.extend(import(key, library, format!("{library}.{class}")));
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
        let found = loads(name, &json).into_iter().filter(|it| !it.if_present);
        found.map(|it| format!("{}: {}", it.by, it.what)).collect()
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
            (
                "model.json",
                r#"{"module": "keras", "config": "enable_unsafe_deserialization"}"#,
                "config: enable_unsafe_deserialization",
            ),
            (
                "config.json",
                r#"{"sentence_transformers": {"activation_fn": "net.Act"}}"#,
                "activation_fn: net.py",
            ),
            ("config.json", r#"{"_target_": "os.system"}"#, "_target_: os.system"),
            ("config.json", r#"{"_target_": "torch.hub.load"}"#, "_target_: torch.hub.load"),
            ("router_config.json", r#"{"types": {"0": "net.Net"}}"#, "types: net.py"),
        ] {
            assert_eq!(of(name, text), [expected], "{text}");
        }
        let layer = r#"{"class_name": "__lambda__"}"#;
        assert_eq!(of("model.json", layer), ["class_name: a __lambda__ layer"]);
        let escape = r#"{"chat_template": [{"name": "x", "template": "{{ ().__class__ }}"}]}"#;
        assert!(of("tokenizer_config.json", escape)[0].starts_with("chat_template: __class__"));
    }

    #[test]
    fn modules_that_are_imported_by_name_run_or_are_unknown() {
        for (name, text, expected) in [
            ("model_index.json", r#"{"scheduler": ["os", "system"]}"#, Some(true)),
            ("model_index.json", r#"{"scheduler": ["os.path", "join"]}"#, Some(true)),
            ("model_index.json", r#"{"scheduler": ["net", "Net"]}"#, Some(false)),
            ("model_index.json", r#"{"a": ["stable_diffusion", "Checker"]}"#, None),
            ("model_index.json", r#"{"a": ["net", 1], "b": [null, null]}"#, None),
            ("adapter_config.json", r#"{"auto_mapping": {"parent_library": "os"}}"#, Some(true)),
            ("adapter_config.json", r#"{"parent_library": "net.modeling"}"#, Some(false)),
            ("adapter_config.json", r#"{"parent_library": "transformers.models.x"}"#, None),
            ("x.json", r#"{"module": "net", "class_name": "N", "config": {}}"#, Some(false)),
            ("x.json", r#"[{"module": "keras.a", "class_name": "N", "config": {}}]"#, None),
            (
                "x.json",
                r#"{"a": [[{"module": "b", "class_name": "N", "config": 1}]]}"#,
                Some(false),
            ),
            ("x.json", r#"{"module": "net", "class_name": "N"}"#, None),
            ("config.json", r#"{"attn_implementation": "me/kernel"}"#, Some(true)),
            ("config.json", r#"{"attn_implementation": "flash_attention_2"}"#, None),
            ("x.json", r#"{"_target_": "net.Net"}"#, Some(false)),
            ("x.json", r#"{"_target_": "osmosis.Net"}"#, Some(false)),
            ("x.json", r#"{"_target_": "torch.nn.Linear"}"#, None),
        ] {
            let json = Json::parse(text).expect("it is JSON");
            let found = loads(name, &json).into_iter().filter(|load| !load.if_present);
            assert_eq!(found.map(|load| load.runs).max(), expected, "{text}");
        }
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
