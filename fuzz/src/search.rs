//! Runs libFuzzer on the target that `FUZZ_TARGET` names. With `FUZZ_GROWTH`, measures instead how the cost of that
//! target grows with its inputs, and exits.

#![no_main]

mod growth;

use std::env;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use suite_proof::fuzz::{TARGETS, Target};

static CHOSEN: LazyLock<(&str, Target)> = LazyLock::new(|| {
    let chosen = env::var("FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(name, _)| *name == chosen);
    let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
    *found.unwrap_or_else(|| panic!("FUZZ_TARGET must be one of {}", names.join(", ")))
});

fuzz_target!(
    init: if env::var_os("FUZZ_GROWTH").is_some() {
        growth::measure(CHOSEN.0, CHOSEN.1);
    },
    |data: &[u8]| CHOSEN.1(data)
);
