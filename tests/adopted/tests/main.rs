//! Tests of the client that `cargo xtask codegen` makes of a vendor's document.

mod calls;
mod pages;
mod unions;

use std::fmt::Display;

const PERSON: &str = "PER-A0B1C2D3E4F5";

/// Checks that what is shown has all of these words.
#[track_caller]
fn assert_says(shown: &impl Display, words: &[&str]) {
    let shown = shown.to_string();
    for word in words {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}
