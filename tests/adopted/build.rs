//! Explains how to generate the code of this crate if it is missing.

fn main() {
    println!("cargo::rerun-if-changed=src/generated");
    if !std::path::Path::new("src/generated").exists() {
        println!(
            "cargo::error=src/generated is missing because it is not checked in. Run `cargo xtask codegen`"
        );
    }
}
