//! `types.rs` of a client: its structs, enumerations, unions and references, and the replies that differ by status.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::model::{Case, Choice, Component, Kind, Operation, Reach, Reply, Spec, taken};
use crate::{Result, at, names};

use super::object::Object;
use super::text::{code, codes, comment, indented, prose};
use super::{inputs, provenance, rust};

/// Writes the file.
pub(super) fn write(spec: &Spec, reach: &Reach) -> Result<String> {
    let mut code = String::new();
    // What imports are found in. Macros bring their own, and their variants may have the name of an import.
    let mut scanned = String::new();
    let components = spec.schemas.components.values();
    for component in components.filter(|component| reach.contains(&component.name)) {
        let name = &component.name;
        let item = item(spec, reach, component).map_err(at(format!("schema `{name}`")))?;
        if matches!(component.kind, Kind::Struct(_)) {
            scanned.push_str(&item);
        } else if matches!(component.kind, Kind::Reference(_)) {
            scanned.push_str("Pattern Piece\n");
        }
        code.push_str(&item);
        if component.is_type() && reach.whole_replies.contains(name) {
            scanned.push_str("FromReply Received Unreadable\n");
            code.push_str(&from_json(name));
        }
    }
    for operation in &spec.operations {
        if let Reply::Several { name, cases } = &operation.reply {
            let place = format!("operation `{}`", operation.id);
            code.push_str(&replies(spec, operation, name, cases, &mut scanned).map_err(at(place))?);
        }
    }
    Ok(format!(
        "//! What the operations send and return.\n\n{}\n{code}",
        rust::imports(&scanned, [])
    ))
}

fn item(spec: &Spec, reach: &Reach, component: &Component) -> Result<String> {
    let name = &component.name;
    let docs = || indented(&comment(&provenance::described(component)));
    Ok(match &component.kind {
        Kind::Struct(_) => {
            let object = Object::new(spec, reach, component);
            let mut code = object.write(&spec.schemas);
            if object.is_input {
                code.push_str(&inputs::write(&spec.schemas, &object));
            }
            code
        }
        Kind::Enum { values, .. } => {
            distinct(
                values.iter().map(|it| &*it.variant),
                taken::is_taken_variant,
            )?;
            comment(&provenance::described(component)) + &enumeration(name, values)
        }
        Kind::Union { tag, variants } => {
            distinct(variants.iter().map(|it| &*it.name), taken::is_taken_variant)?;
            let input = if reach.requests.contains(name) {
                "inputs\n"
            } else {
                ""
            };
            let mut code = format!(
                "sdk_core::open_union! {{\n{}{}    pub enum {name} by {tag:?} {{\n",
                indented(input),
                docs()
            );
            for variant in variants {
                let mut payload = variant.component.clone();
                if rust::is_boxed(&spec.schemas, name, &payload) {
                    payload = format!("Box<{payload}>");
                }
                let values: Vec<String> =
                    variant.values.iter().map(|it| format!("{it:?}")).collect();
                let _ = writeln!(
                    code,
                    "        /// {}.\n        {}({payload}) = {},",
                    codes(&variant.values).join(" or "),
                    variant.name,
                    values.join(" | ")
                );
            }
            code + "    }\n}\n\n"
        }
        Kind::Reference(pattern) => {
            comment(&provenance::described(component)) + &reference(name, &rust::pattern(pattern)?)
        }
        Kind::Constant(_) | Kind::Plain(_) => String::new(),
    })
}

/// An enumeration of the documented values that also keeps any other value.
fn enumeration(name: &str, values: &[Choice]) -> String {
    let mut code = format!(
        "#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\n#[non_exhaustive]\npub enum {name} {{\n"
    );
    let (mut texts, mut known) = (String::new(), String::new());
    for Choice { value, variant } in values {
        let _ = writeln!(code, "/// {}.\n{variant},", self::code(value));
        let _ = writeln!(texts, "Self::{variant} => {value:?},");
        let _ = writeln!(known, "{value:?} => Some(Self::{variant}),");
    }
    let wire: Vec<&String> = values.iter().map(|it| &it.value).collect();
    let _ = write!(
        code,
        "/// A value that this version of the SDK does not know. A later version may know it, so compare it with\n\
         /// `as_str()`, which stays the same.\nUnknown(String),\n}}\n\n\
         impl {name} {{\n\
         /// The documented values, as on the wire.\n\
         pub const KNOWN: &'static [&'static str] = &{wire:?};\n\n\
         /// The value as on the wire.\n\
         #[must_use]\n\
         pub fn as_str(&self) -> &str {{\nmatch self {{\n{texts}Self::Unknown(text) => text,\n}}\n}}\n\n\
         fn known(text: &str) -> Option<Self> {{\nmatch text {{\n{known}_ => None,\n}}\n}}\n}}\n\n\
         sdk_core::text_impls!({name}: OpenEnum);\n\n"
    );
    code
}

/// A text of one form: strict when parsed or sent, lenient when received.
fn reference(name: &str, pattern: &str) -> String {
    format!(
        "#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(String);\n\n\
         impl {name} {{\n\
         /// The documented form, as a regular expression.\n\
         pub const PATTERN: &'static str = Self::FORM.source();\n\n\
         pub(crate) const FORM: Pattern = {pattern};\n\n\
         /// Whether it has the documented form. A received reference is kept even if it does not.\n\
         #[must_use]\n\
         pub fn is_well_formed(&self) -> bool {{\nSelf::FORM.matches(&self.0)\n}}\n\n\
         /// The reference as on the wire.\n\
         #[must_use]\n\
         pub fn as_str(&self) -> &str {{\n&self.0\n}}\n}}\n\n\
         sdk_core::text_impls!({name}: Reference);\n\n"
    )
}

/// Names of variants differ, and the one that is ours is not among them.
fn distinct<'a>(variants: impl Iterator<Item = &'a str>, is_taken: fn(&str) -> bool) -> Result<()> {
    let mut seen = BTreeSet::new();
    for variant in variants {
        if !names::is_pascal(variant) {
            return Err(format!("`{variant}` is no name of a variant"));
        }
        if is_taken(variant) || !seen.insert(variant) {
            return Err(format!("it has a variant `{variant}` already"));
        }
    }
    Ok(())
}

/// The successes of an operation that differ by status.
fn replies(
    spec: &Spec,
    operation: &Operation,
    name: &str,
    cases: &[Case],
    scanned: &mut String,
) -> Result<String> {
    distinct(cases.iter().map(|it| &*it.variant), taken::is_taken_case)?;
    let docs = comment(&format!(
        "What `{}` returns, by the status.\n\n{}",
        operation.id,
        provenance::operation(operation)
    ));
    scanned.push_str("FromReply RawJson Received Unreadable\n");
    let (mut variants, mut reads, mut writes) = (String::new(), String::new(), String::new());
    for case in cases {
        let Case {
            status, variant, ..
        } = case;
        let docs = comment(&format!("{status}: {}", prose(&case.description)));
        variants.push_str(&indented(&docs));
        if matches!(case.reply, Reply::Empty) {
            let _ = writeln!(variants, "    {variant},");
            let _ = writeln!(
                reads,
                "            {status} => <()>::receive(reply).map(|()| Self::{variant}),"
            );
            let _ = writeln!(
                writes,
                "            Self::{variant} => serializer.serialize_unit(),"
            );
        } else {
            let ty = rust::reply_type(&spec.schemas, &case.reply);
            let _ = writeln!(scanned, "{ty}");
            let _ = writeln!(variants, "    {variant}({ty}),");
            let _ = writeln!(
                reads,
                "            {status} => FromReply::receive(reply).map(Self::{variant}),"
            );
            let _ = writeln!(
                writes,
                "            Self::{variant}(body) => sdk_core::codegen::serde::Serialize::serialize(body, serializer),"
            );
        }
    }
    Ok(format!(
        "{docs}#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum {name} {{
{variants}    /// Another success, which the contract does not show.
    Other {{
        /// The HTTP status.
        status: u16,
        /// The body as received; null if there was none.
        body: RawJson,
    }},
}}

impl FromReply for {name} {{
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {{
        match reply.status() {{
{reads}            status => reply.undocumented().map(|body| Self::Other {{ status, body }}),
        }}
    }}
}}

impl sdk_core::codegen::serde::Serialize for {name} {{
    /// Writes the body; null if there is none.
    fn serialize<S: sdk_core::codegen::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{
        match self {{
{writes}            Self::Other {{ body, .. }} => sdk_core::codegen::serde::Serialize::serialize(body, serializer),
        }}
    }}
}}

"
    ))
}

/// A type that the JSON of a reply decodes into.
fn from_json(name: &str) -> String {
    format!(
        "impl FromReply for {name} {{
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {{
        reply.json()
    }}
}}

"
    )
}
