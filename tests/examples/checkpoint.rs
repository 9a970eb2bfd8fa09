//! Measures how fast a file is listed and validated: `checkpoint FILE ROUNDS` prints the milliseconds
//! of processor time of the fastest round of each. `scripts/peers.sh torch` compares them with
//! `torch.load`, and `scripts/peers.sh onnx` with `onnx.load`.

#[path = "../benches/turns/mod.rs"]
mod turns;

use std::path::Path;
use turns::now;
use weighbridge::{Error, Goal, Model, Options, check_path};

fn list(path: &Path) -> Result<(), Error> {
    let count = Model::open(path)?.index()?.len();
    assert!(count > 0, "it has no tensors");
    Ok(())
}

fn validate(path: &Path) -> Result<(), Error> {
    let report = check_path(path, &Options::new().goal(Goal::Structure))?;
    assert!(report.findings().is_empty(), "it is not sound");
    Ok(())
}

/// Also reads the data and compares its checksums.
fn with_data(path: &Path) -> Result<(), Error> {
    let report = check_path(path, &Options::new().goal(Goal::Payloads))?;
    assert!(report.findings().is_empty(), "it is not sound");
    Ok(())
}

/// Something that is done to a file.
type Task = fn(&Path) -> Result<(), Error>;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rounds] = arguments.as_slice() else { panic!("checkpoint FILE ROUNDS") };
    let (path, rounds): (_, usize) = (Path::new(path), rounds.parse().expect("a number"));
    let tasks: [(&str, Task); 3] = [("index", list), ("structure", validate), ("data", with_data)];
    for (name, task) in tasks {
        let mut least = f64::INFINITY;
        for _ in 0..rounds {
            let begun = now();
            task(path)?;
            least = least.min((now() - begun).as_secs_f64());
        }
        println!("{name} {:.3}", least * 1e3);
    }
    Ok(())
}
