//! Chooses the memory layout of each image.

use std::path::PathBuf;

fn main() {
    let link = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("link");
    println!("cargo::rerun-if-changed={}", link.display());
    println!("cargo::rustc-link-search={}", link.display());
    for gate in ["size", "panic"] {
        println!("cargo::rustc-link-arg-bin={gate}=-Tbare.x");
    }
    let mut images = vec!["check", "model"];
    // Cargo knows the other only if its feature is on.
    if std::env::var_os("CARGO_FEATURE_SPI").is_some() {
        images.push("spi");
    }
    for image in images {
        println!("cargo::rustc-link-arg-bin={image}=-Tlink.x");
        println!("cargo::rustc-link-arg-bin={image}=--nmagic");
    }
}
