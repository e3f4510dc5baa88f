//! `types.rs` of a client: structs, enums, unions, references, and responses that differ by status.

use std::fmt::Write as _;

use crate::model::{
    Case, Choice, Component, Kind, Operation, Pattern, Reach, Reply, Schemas, Spec, Variant,
};

use super::object::Object;
use super::text::{code, codes, comment, prose};
use super::{docs, rust};

pub(super) fn write(spec: &Spec, reach: &Reach) -> String {
    let mut code = String::new();
    let components = spec.schemas.components.values();
    for component in components.filter(|it| it.is_type() && reach.contains(&it.name)) {
        code += &comment(&docs::component(component));
        code += &item(spec, reach, component);
        if reach.whole_replies.contains(&component.name) {
            code += &from_json(&component.name);
        }
    }
    for operation in &spec.operations {
        if let Reply::Several { name, cases } = &operation.reply {
            code += &replies(&spec.schemas, operation, name, cases);
        }
    }
    let imports = rust::imports();
    format!("//! The types that the operations send and return.\n\n{imports}\n{code}")
}

fn item(spec: &Spec, reach: &Reach, component: &Component) -> String {
    let name = &component.name;
    match &component.kind {
        Kind::Struct(_) => Object::new(spec, reach, component).write(&spec.schemas),
        Kind::Enum { values, .. } => enumeration(name, values),
        Kind::Union { tag, variants } => {
            let mut code = union(&spec.schemas, name, tag, variants);
            if reach.requests.contains(name) {
                code += &validate(name, variants);
            }
            code
        }
        Kind::Reference(pattern) => reference(name, pattern),
        Kind::Constant(_) | Kind::Plain(_) => String::new(),
    }
}

/// An enum of the documented values that also preserves any other value.
fn enumeration(name: &str, values: &[Choice]) -> String {
    let each = |line: fn(&Choice) -> String| values.iter().map(line).collect::<String>();
    let declared = each(|it| format!("/// {}.\n{},\n", code(&it.value), it.variant));
    let texts = each(|it| format!("Self::{} => {:?},\n", it.variant, it.value));
    let known = each(|it| format!("{:?} => Some(Self::{}),\n", it.value, it.variant));
    let wire: Vec<&String> = values.iter().map(|it| &it.value).collect();
    format!(
        "#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\n#[non_exhaustive]\npub enum {name} {{\n{declared}\
         /// A value that this version of the SDK does not know. A later version may have a variant for it, so compare\n\
         /// `as_str()`, which doesn't change.\nUnknown(String),\n}}\n\n\
         impl {name} {{\n\
         /// The documented values in their wire form.\n\
         pub const KNOWN: &'static [&'static str] = &{wire:?};\n\n\
         /// Returns the value in its wire form.\n\
         #[must_use]\n\
         pub fn as_str(&self) -> &str {{\nmatch self {{\n{texts}Self::Unknown(text) => text,\n}}\n}}\n\n\
         fn known(text: &str) -> Option<Self> {{\nmatch text {{\n{known}_ => None,\n}}\n}}\n}}\n\n\
         sdk_core::impl_text!({name}: OpenEnum);\n\n"
    )
}

/// An enum of objects that also preserves any other object. The types of the variants contain the tag, so a union writes no
/// field itself.
fn union(schemas: &Schemas, name: &str, tag: &str, variants: &[Variant]) -> String {
    let (mut declared, mut from, mut read) = (String::new(), String::new(), String::new());
    for it in variants {
        let (variant, component) = (&it.name, &it.component);
        let ty = if rust::is_boxed(schemas, name, component) {
            format!("Box<{component}>")
        } else {
            component.clone()
        };
        let tags = codes(&it.values).join(" or ");
        let _ = writeln!(declared, "/// {tags}.\n{variant}({ty}),");
        let _ = write!(
            from,
            "impl From<{ty}> for {name} {{\nfn from(body: {ty}) -> Self {{\nSelf::{variant}(body)\n}}\n}}\n\n"
        );
        let texts: Vec<String> = it.values.iter().map(|it| format!("{it:?}")).collect();
        let _ = writeln!(
            read,
            "Some({}) => sdk_core::codegen::decode_variant(&object).map(Self::{variant}),",
            texts.join(" | ")
        );
    }
    let known: Vec<&String> = variants.iter().flat_map(|it| &it.values).collect();
    format!(
        "#[derive(Clone, Debug, PartialEq, sdk_core::codegen::serde::Serialize)]\n\
         #[serde(untagged, crate = \"sdk_core::codegen::serde\")]\n#[non_exhaustive]\npub enum {name} {{\n{declared}\
         /// An object that this version of the SDK does not know. The SDK preserves it and sends it back unchanged.\n\
         Unknown(RawJson),\n}}\n\n\
         impl {name} {{\n\
         /// The documented tags.\n\
         pub const KNOWN: &'static [&'static str] = &{known:?};\n\n\
         /// Returns the tag, which is the `{tag}` field. `None` if it is missing or not a string.\n\
         #[must_use]\n\
         pub fn tag(&self) -> Option<String> {{\n\
         RawJson::encode(self).ok().map(Record::from)?.text({tag:?})\n}}\n}}\n\n\
         {from}\
         impl<'de> sdk_core::codegen::serde::Deserialize<'de> for {name} {{\n\
         fn deserialize<D: sdk_core::codegen::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
         let (object, tag) = sdk_core::codegen::tagged_object(deserializer, {tag:?})?;\n\
         match tag.as_deref() {{\n{read}_ => Ok(Self::Unknown(object.into_raw())),\n}}\n}}\n}}\n\n"
    )
}

fn validate(name: &str, variants: &[Variant]) -> String {
    let check = |it: &Variant| format!("Self::{}(body) => body.validate(check),\n", it.name);
    let checks: String = variants.iter().map(check).collect();
    format!(
        "impl Validate for {name} {{\n\
         fn validate(&self, check: &Check<'_>) -> Result<(), Error> {{\n\
         match self {{\n{checks}Self::Unknown(_) => Ok(()),\n}}\n}}\n}}\n\n"
    )
}

/// A string with a pattern, which is checked when it is parsed or sent, but not when it is received.
fn reference(name: &str, pattern: &Pattern) -> String {
    let pattern = rust::pattern(pattern);
    format!(
        "#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct {name}(String);\n\n\
         impl {name} {{\n\
         /// The documented pattern, a regular expression.\n\
         pub const PATTERN: &'static str = Self::FORM.source();\n\n\
         pub(crate) const FORM: Pattern = {pattern};\n\n\
         /// Whether it matches the documented pattern. The SDK also keeps received references that don't match.\n\
         #[must_use]\n\
         pub fn is_well_formed(&self) -> bool {{\nSelf::FORM.matches(&self.0)\n}}\n\n\
         /// Returns the reference in its wire form.\n\
         #[must_use]\n\
         pub fn as_str(&self) -> &str {{\n&self.0\n}}\n}}\n\n\
         sdk_core::impl_text!({name}: Reference);\n\n"
    )
}

/// The successes of an operation that differ by status.
fn replies(schemas: &Schemas, operation: &Operation, name: &str, cases: &[Case]) -> String {
    let docs = comment(&format!(
        "The response of `{}`, by status.\n\n{}",
        operation.id,
        docs::provenance(operation)
    ));
    let (mut declared, mut read, mut written) = (String::new(), String::new(), String::new());
    for case in cases {
        let Case {
            status, variant, ..
        } = case;
        declared += &comment(&format!("{status}: {}", prose(&case.description)));
        let (payload, receive, body, serialize) = if matches!(case.reply, Reply::Empty) {
            let receive = format!("<()>::receive(reply).map(|()| Self::{variant})");
            (String::new(), receive, "", "serializer.serialize_unit()")
        } else {
            let ty = rust::reply_type(schemas, &case.reply);
            let receive = format!("FromResponse::receive(reply).map(Self::{variant})");
            let serialize = "sdk_core::codegen::serde::Serialize::serialize(body, serializer)";
            (format!("({ty})"), receive, "(body)", serialize)
        };
        let _ = writeln!(declared, "{variant}{payload},");
        let _ = writeln!(read, "{status} => {receive},");
        let _ = writeln!(written, "Self::{variant}{body} => {serialize},");
    }
    format!(
        "{docs}#[derive(Clone, Debug, PartialEq)]\n#[non_exhaustive]\npub enum {name} {{\n{declared}\
         /// A successful response with an undocumented status.\n\
         Other {{\n/// The HTTP status.\nstatus: u16,\n/// The body as received, or null if there was none.\nbody: RawJson,\n}},\n}}\n\n\
         impl FromResponse for {name} {{\n\
         fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {{\nmatch reply.status() {{\n{read}\
         status => reply.undocumented().map(|body| Self::Other {{ status, body }}),\n}}\n}}\n}}\n\n\
         impl sdk_core::codegen::serde::Serialize for {name} {{\n\
         /// Writes the body, or null if there is none.\n\
         fn serialize<S: sdk_core::codegen::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{\n\
         match self {{\n{written}\
         Self::Other {{ body, .. }} => sdk_core::codegen::serde::Serialize::serialize(body, serializer),\n}}\n}}\n}}\n\n"
    )
}

/// A type that the JSON of a response decodes into.
fn from_json(name: &str) -> String {
    format!(
        "impl FromResponse for {name} {{\n\
         fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {{\nreply.json()\n}}\n}}\n\n"
    )
}
