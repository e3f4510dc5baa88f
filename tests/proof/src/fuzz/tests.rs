use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use super::{TARGETS, replies, tokens, words};
use crate::json::mutate;

/// The number of mutations for each target.
const MUTATIONS: usize = 1_500;

/// Returns the inputs in the folder of a target, sorted by name.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = fs::read_dir(root.join(name)).expect("a corpus");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let named = |file: &PathBuf| {
        let name = file.file_name().expect("a name").to_string_lossy();
        (name.into_owned(), fs::read(file).expect("an input"))
    };
    files.iter().map(named).collect()
}

#[test]
fn no_mutation_of_the_corpus_violates_a_property() {
    let words = words();
    for (name, target) in TARGETS {
        let (_, corpus): (Vec<_>, Vec<_>) = corpus(name).into_iter().unzip();
        assert!(corpus.len() > 2, "{name} has no corpus");
        let mut rng = Rng::with_seed(15);
        let mutations = (0..MUTATIONS).map(|_| mutate(&mut rng, &corpus, &words));
        let all: Vec<_> = corpus.iter().cloned().chain(mutations).collect();
        for (at, input) in all.iter().enumerate() {
            let shown = String::from_utf8_lossy(&input[..input.len().min(2_000)]);
            let holds = catch_unwind(|| target(input)).is_ok();
            assert!(holds, "{name}, input {at}: {shown}");
        }
    }
}

#[test]
fn valid_inputs_are_accepted_and_invalid_inputs_rejected() {
    let bad_replies = "another-version replayed-twice web-page";
    let bad_tokens = "another-type array refused typed-refused unavailable unsendable";
    let accepted = |(name, accepts, bad): (_, fn(&[u8]) -> bool, &str)| {
        for (file, input) in corpus(name) {
            let is_bad = bad.split(' ').any(|it| it == file);
            assert_ne!(accepts(&input), is_bad, "{name}/{file}");
        }
    };
    accepted(("replies", replies::accepts, bad_replies));
    accepted(("tokens", tokens::accepts, bad_tokens));
}
