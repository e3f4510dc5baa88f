//! Says how the code of this crate is made, if it is not there.

fn main() {
    println!("cargo::rerun-if-changed=src/generated");
    if !std::path::Path::new("src/generated").exists() {
        println!(
            "cargo::error=src/generated is missing, since it is not checked in: run `cargo xtask codegen`"
        );
    }
}
