//! Tests of the client that `cargo xtask codegen` generates from a vendor's document.

mod calls;
mod pages;
mod unions;

use std::fmt::Display;

use sdk_adopted::{Effect, Error, ErrorKind};

const PERSON: &str = "PER-A0B1C2D3E4F5";

#[track_caller]
fn assert_says(shown: &impl Display, words: &[&str]) {
    let shown = shown.to_string();
    for word in words {
        assert!(shown.contains(word), "{word} in {shown}");
    }
}

#[track_caller]
fn assert_failed(error: &Error, kind: ErrorKind, effect: Effect, words: &[&str]) {
    assert_eq!((error.kind(), error.effect()), (kind, effect));
    assert_says(error, words);
}
