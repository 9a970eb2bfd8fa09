//! Reads safetensors files with the safetensors crate: paths on standard input, "accepts" or
//! "refuses" for each on standard output.

fn main() -> std::io::Result<()> {
    for path in std::io::stdin().lines() {
        let bytes = std::fs::read(path?)?;
        let accepts = safetensors::SafeTensors::deserialize(&bytes).is_ok();
        println!("{}", if accepts { "accepts" } else { "refuses" });
    }
    Ok(())
}
