//! `lib.rs` of a client: what is public, name by name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::model::taken::SHARED;
use crate::model::{Reach, Spec};
use crate::{Result, at};

use super::face;
use super::text::prose;
use super::tree::text_of;

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
pub(super) fn write(spec: &Spec, by_hand: &[ByHand]) -> String {
    let title = prose(&spec.title);
    let by_hand = by_hand.iter().filter(|it| it.lacks.is_empty());
    let by_hand: String = by_hand.flat_map(|it| ["mod ", &*it.name, ";\n"]).collect();
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

/// A module beside `lib.rs` that is written by hand.
pub(super) struct ByHand {
    file: String,
    name: String,
    /// The types that it needs and the client does not have.
    lacks: Vec<String>,
    /// Its public functions.
    functions: Vec<String>,
}

impl ByHand {
    /// The modules of a client.
    pub(super) fn of(root: &Path, spec: &Spec, reach: &Reach) -> Result<Vec<Self>> {
        let folder = format!("{}/src", spec.app.folder);
        let has = |name: &&str| reach.contains(name) && spec.schemas.components[*name].is_type();
        let mut modules = Vec::new();
        let entries = fs::read_dir(root.join(&folder)).into_iter().flatten();
        for entry in entries {
            let file = entry.map_err(at(&folder))?.file_name();
            let file = file.to_string_lossy().into_owned();
            let Some(name) = file.strip_suffix(".rs").filter(|it| *it != "lib") else {
                continue;
            };
            let file = format!("{folder}/{file}");
            let text = text_of(root, &file)?;
            let uses = text.split("use crate::types::").skip(1);
            let uses = uses.filter_map(|it| it.split(';').next());
            let names = uses.flat_map(|it| it.split(|c: char| !c.is_alphanumeric() && c != '_'));
            let lacks = names.filter(|it| !it.is_empty() && !has(it));
            let functions = text.lines().filter_map(|it| {
                let function = it.trim_start().strip_prefix("pub fn ")?;
                Some(function.split_once('(')?.0.to_owned())
            });
            modules.push(Self {
                name: name.to_owned(),
                lacks: lacks.map(str::to_owned).collect(),
                functions: functions.collect(),
                file,
            });
        }
        modules.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(modules)
    }

    /// The finding, if it cannot be compiled.
    pub(super) fn finding(&self) -> Option<String> {
        (!self.lacks.is_empty()).then(|| {
            format!(
                "{}: it needs {}, which this document lacks: not compiled; its functions are gone: {}",
                self.file,
                self.lacks.join(", "),
                self.functions.join(", ")
            )
        })
    }
}

fn list(names: impl Iterator<Item = String>) -> String {
    names
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(", ")
}
