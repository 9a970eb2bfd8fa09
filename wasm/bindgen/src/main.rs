//! `weighbridge-bindgen MODULE FOLDER NAME`: writes `NAME.js`, `NAME.d.ts` and
//! `NAME_bg.wasm` into FOLDER, as wasm-bindgen's own tool does for the target
//! "web", which also runs in Node.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: weighbridge-bindgen MODULE FOLDER NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let result = bindgen.input_path(module).out_name(name).typescript(true).web(true);
    let result = result.and_then(|bindgen| {
        bindgen.remove_producers_section(true).omit_default_module_path(false).generate(folder)
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weighbridge-bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}
