//! `types.rs` of a client: its structs, enumerations, unions and references, and the replies that differ by status.

use std::fmt::Write as _;

use crate::model::{
    Case, Choice, Component, Kind, Operation, Reach, Reply, Schemas, Spec, Variant,
};

use super::object::Object;
use super::text::{code, codes, comment, prose};
use super::{inputs, provenance, rust};

/// Writes the file.
pub(super) fn write(spec: &Spec, reach: &Reach) -> String {
    let mut code = String::new();
    // What imports are found in. Variants may have the name of an import.
    let mut scanned = String::new();
    let components = spec.schemas.components.values();
    for component in components.filter(|component| reach.contains(&component.name)) {
        let name = &component.name;
        let item = item(spec, reach, component);
        match component.kind {
            Kind::Struct(_) => scanned.push_str(&item),
            Kind::Reference(_) => scanned.push_str("Pattern Piece\n"),
            Kind::Union { .. } if reach.requests.contains(name) => {
                scanned.push_str("Check Error RawJson Record Validate\n");
            }
            Kind::Union { .. } => scanned.push_str("RawJson Record\n"),
            _ => {}
        }
        code.push_str(&item);
        if component.is_type() && reach.whole_replies.contains(name) {
            scanned.push_str("FromReply Received Unreadable\n");
            code.push_str(&from_json(name));
        }
    }
    for operation in &spec.operations {
        if let Reply::Several { name, cases } = &operation.reply {
            code.push_str(&replies(spec, operation, name, cases, &mut scanned));
        }
    }
    format!(
        "//! What the operations send and return.\n\n{}\n{code}",
        rust::imports(&scanned, [])
    )
}

fn item(spec: &Spec, reach: &Reach, component: &Component) -> String {
    let name = &component.name;
    match &component.kind {
        Kind::Struct(_) => {
            let object = Object::new(spec, reach, component);
            let mut code = object.write(&spec.schemas);
            if object.is_input {
                code.push_str(&inputs::write(&spec.schemas, &object));
            }
            code
        }
        Kind::Enum { values, .. } => {
            comment(&provenance::described(component)) + &enumeration(name, values)
        }
        Kind::Union { tag, variants } => {
            let is_input = reach.requests.contains(name);
            let variants = payloads(&spec.schemas, name, variants);
            comment(&provenance::described(component)) + &union(name, tag, &variants, is_input)
        }
        Kind::Reference(pattern) => {
            comment(&provenance::described(component)) + &reference(name, &rust::pattern(pattern))
        }
        Kind::Constant(_) | Kind::Plain(_) => String::new(),
    }
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
         sdk_core::impl_text!({name}: OpenEnum);\n\n"
    );
    code
}

/// The variants of a union with their types, which may be behind a pointer.
fn payloads<'a>(
    schemas: &Schemas,
    union: &str,
    variants: &'a [Variant],
) -> Vec<(&'a Variant, String)> {
    let payload = |variant: &'a Variant| {
        let component = &variant.component;
        let is_boxed = rust::is_boxed(schemas, union, component);
        let ty = if is_boxed {
            format!("Box<{component}>")
        } else {
            component.clone()
        };
        (variant, ty)
    };
    variants.iter().map(payload).collect()
}

/// An enumeration of objects that also keeps any other object. The types of the variants hold the tag themselves, so a union
/// writes no member of its own.
fn union(name: &str, tag: &str, variants: &[(&Variant, String)], is_input: bool) -> String {
    let (mut declared, mut from) = (String::new(), String::new());
    let (mut read, mut checked) = (String::new(), String::new());
    for (
        Variant {
            name: variant,
            values,
            ..
        },
        ty,
    ) in variants
    {
        let _ = writeln!(
            declared,
            "/// {}.\n{variant}({ty}),",
            codes(values).join(" or ")
        );
        let _ = write!(
            from,
            "impl From<{ty}> for {name} {{\nfn from(body: {ty}) -> Self {{\nSelf::{variant}(body)\n}}\n}}\n\n"
        );
        let texts: Vec<String> = values.iter().map(|it| format!("{it:?}")).collect();
        let _ = writeln!(
            read,
            "Some({}) => sdk_core::codegen::decode_variant(&object).map(Self::{variant}),",
            texts.join(" | ")
        );
        let _ = writeln!(checked, "Self::{variant}(body) => body.validate(check),");
    }
    let known: Vec<&String> = variants.iter().flat_map(|(it, _)| &it.values).collect();
    let mut code = format!(
        "#[derive(Clone, Debug, PartialEq, sdk_core::codegen::serde::Serialize)]\n\
         #[serde(untagged, crate = \"sdk_core::codegen::serde\")]\n#[non_exhaustive]\npub enum {name} {{\n{declared}\
         /// An object that this version of the SDK does not know, kept and written back unchanged.\n\
         Unknown(RawJson),\n}}\n\n\
         impl {name} {{\n\
         /// The documented tags.\n\
         pub const KNOWN: &'static [&'static str] = &{known:?};\n\n\
         /// The tag, which is the member `{tag}`; `None` if it is missing or not a string.\n\
         #[must_use]\n\
         pub fn tag(&self) -> Option<String> {{\n\
         RawJson::encode(self).ok().map(Record::from)?.text({tag:?})\n}}\n}}\n\n\
         {from}\
         impl<'de> sdk_core::codegen::serde::Deserialize<'de> for {name} {{\n\
         fn deserialize<D: sdk_core::codegen::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
         let (object, tag) = sdk_core::codegen::tagged_object(deserializer, {tag:?})?;\n\
         match tag.as_deref() {{\n{read}_ => Ok(Self::Unknown(object.into_raw())),\n}}\n}}\n}}\n\n"
    );
    if is_input {
        let _ = write!(
            code,
            "impl Validate for {name} {{\n\
             fn validate(&self, check: &Check<'_>) -> Result<(), Error> {{\n\
             match self {{\n{checked}Self::Unknown(_) => Ok(()),\n}}\n}}\n}}\n\n"
        );
    }
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
         sdk_core::impl_text!({name}: Reference);\n\n"
    )
}

/// The successes of an operation that differ by status.
fn replies(
    spec: &Spec,
    operation: &Operation,
    name: &str,
    cases: &[Case],
    scanned: &mut String,
) -> String {
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
        variants.push_str(&docs);
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
    format!(
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
    )
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
