//! `lib.rs` of a client: what is public, name by name.

use std::collections::BTreeSet;

use crate::model::Spec;
use crate::model::taken::SHARED;

use super::face;
use super::text::prose;

/// Where the first line of links in a README leads in rustdoc: of two definitions of a link the first one counts, and those of
/// the README are for hosts.
const LEADS: &str = "\
//! [first call]: crate::guide::first_call
//! [guide]: crate::guide
//! [questions]: crate::guide::questions
//! [operations]: crate::guide::operations
//! [errors]: crate::guide::errors
//! [testing]: crate::guide::testing
";

/// Writes the file.
pub(super) fn write(spec: &Spec) -> String {
    let title = prose(&spec.title);
    let by_hand = spec.app.by_hand.iter();
    let by_hand: String = by_hand.flat_map(|module| ["mod ", module, ";\n"]).collect();
    format!(
        "//! Client of the suite's {title} application.\n//!\n{LEADS}//!\n#![doc = include_str!(\"../README.md\")]\n\
         #![cfg_attr(docsrs, feature(doc_cfg))]\n\n\
         mod generated;\n{by_hand}\n\
         pub use generated::client::Client;\npub use generated::face::{{{}}};\npub use generated::{{operations, types}};\npub use sdk_core::{{{}}};\n\
         #[doc(inline)]\npub use sdk_core::guide;\n\
         #[cfg(feature = \"test-util\")]\n#[cfg_attr(docsrs, doc(cfg(feature = \"test-util\")))]\npub use sdk_core::testing;\n",
        list(face::names(spec)),
        list(SHARED.iter().map(|name| (*name).to_owned())),
    )
}

fn list(names: impl Iterator<Item = String>) -> String {
    names
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(", ")
}
