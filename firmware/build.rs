//! Chooses the memory layout of each image.

use std::path::PathBuf;

fn main() {
    let link = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("link");
    println!("cargo::rerun-if-changed={}", link.display());
    println!("cargo::rustc-link-search={}", link.display());
    let (mut gates, mut images) = (vec!["calls", "size", "panic"], vec!["check", "model"]);
    // Cargo knows the other images only if their features are enabled.
    if std::env::var_os("CARGO_FEATURE_SPI").is_some() {
        images.extend(["partial", "spi"]);
    }
    if std::env::var_os("CARGO_FEATURE_UNPACK").is_some() {
        gates.push("unpack_size");
        images.push("unpack");
    }
    for gate in gates {
        println!("cargo::rustc-link-arg-bin={gate}=-Tbare.x");
    }
    for image in images {
        println!("cargo::rustc-link-arg-bin={image}=-Tlink.x");
        println!("cargo::rustc-link-arg-bin={image}=--nmagic");
    }
}
