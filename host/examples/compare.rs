//! Lists the differences between two checkpoints: `cargo run --example compare OLD NEW`.

use weighbridge::{Error, Model};

/// One line for each tensor that was added, removed or changed.
fn compare(old: &Model<'_>, new: &Model<'_>) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for before in old.tensors() {
        let before = before?;
        let name = before.name();
        match new.tensor(name) {
            Err(Error::NoTensor(_)) => lines.push(format!("{name} is gone")),
            Err(error) => return Err(error),
            Ok(after) if after.shape() != before.shape() => {
                lines.push(format!("{name} was {} and is {}", before.shape(), after.shape()));
            }
            Ok(after) => {
                let (a, b) = (before.to_vec::<f32>()?, after.to_vec::<f32>()?);
                let most = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                if most > 0.0 {
                    lines.push(format!("{name} differs by up to {most}"));
                }
            }
        }
    }
    for after in new.tensors() {
        let after = after?;
        if matches!(old.tensor(after.name()), Err(Error::NoTensor(_))) {
            lines.push(format!("{} is new", after.name()));
        }
    }
    Ok(lines)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mut open = || -> Result<_, Box<dyn std::error::Error>> {
        Ok(Model::open(args.next().ok_or("which files?")?)?)
    };
    let (old, new) = (open()?, open()?);
    compare(&old, &new)?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

#[test]
fn differences_are_named() {
    use weighbridge_tests::samples::{aligned, safetensors};
    let (old, other) = (safetensors(), aligned());
    let mut new = old.clone();
    let last = new.len() - 1;
    new[last] = 0x41; // 5.0 becomes 10.0
    let model = |bytes| Model::from_bytes(bytes).expect("opens");
    let lines = compare(&model(&old), &model(&new)).expect("reads");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("emb differs by up to "), "{lines:?}");
    assert!(compare(&model(&old), &model(&old)).expect("reads").is_empty());
    let lines = compare(&model(&old), &model(&other)).expect("reads");
    assert_eq!(lines, ["emb is gone", "bias is new"]);
}
