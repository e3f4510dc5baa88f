//! Types, values and imports of the generated code as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};

use crate::model::taken::IMPORTS;
use crate::model::{Kind, Parameter, Pattern, Piece, Reply, Schemas, Spec, Ty};

/// Imports for the names that the code uses, and for the given names from elsewhere in the crate.
pub(super) fn imports<'a>(code: &str, own: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let words = words(code);
    let mut modules = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (name, module) in IMPORTS.iter().copied().chain(own) {
        if words.contains(name) {
            modules.entry(module).or_default().insert(name);
        }
    }
    let mut text = String::new();
    for (module, names) in modules {
        let names: Vec<&str> = names.into_iter().collect();
        let _ = writeln!(text, "use {module}::{{{}}};", names.join(", "));
    }
    text
}

/// The names of the types that a client declares.
pub(super) fn own_types(spec: &Spec) -> impl Iterator<Item = &str> {
    let components = spec.schemas.components.values();
    let components = components.filter(|component| component.is_type());
    let replies = spec.operations.iter().filter_map(|it| match &it.reply {
        Reply::Several { name, .. } => Some(&**name),
        _ => None,
    });
    components.map(|component| &*component.name).chain(replies)
}

/// The identifiers in code that need an import: those that do not follow a `::` and stand in no text.
fn words(code: &str) -> BTreeSet<&str> {
    let mut words = BTreeSet::new();
    for line in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        // Texts of the code hold no quotation mark that would need an escape, but for those of attributes.
        for piece in line.split('"').step_by(2) {
            let mut rest = piece;
            while let Some(start) = rest.find(|c: char| c == '_' || c.is_ascii_alphabetic()) {
                let word = &rest[start..];
                let end = word
                    .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                    .unwrap_or(word.len());
                // What stands before an equals sign is the type of a trait, as in `Item = String`.
                let is_bound = word[end..].starts_with(" =");
                if !is_bound && !rest[..start].ends_with("::") {
                    words.insert(&word[..end]);
                }
                rest = &word[end..];
            }
        }
    }
    words
}

/// The type of a page's items: an object that is not shown, if nothing is said of them.
pub(super) fn item_type(schemas: &Schemas, items: &Ty) -> String {
    match items {
        Ty::Value => "Record".to_owned(),
        items => schemas.rust(items),
    }
}

/// The type that a reply decodes into.
pub(crate) fn reply_type(schemas: &Schemas, reply: &Reply) -> String {
    let value = match reply {
        Reply::Empty => return "()".to_owned(),
        Reply::Bytes(_) => return "Bytes".to_owned(),
        Reply::Several { name, .. } => return name.clone(),
        Reply::Json(value) => value,
    };
    if let Ty::Page { items, .. } = &value.ty {
        return format!("Page<{}>", item_type(schemas, items));
    }
    match &value.ty {
        // Of a single one of these, a caller is served as well by its text.
        Ty::Timestamp | Ty::Date | Ty::Number | Ty::Text { secret: true, .. } => {
            "RawJson".to_owned()
        }
        ty => schemas.rust(ty),
    }
}

/// Whether a variant of a union is behind a pointer, because it contains the union itself.
pub(super) fn is_boxed(schemas: &Schemas, union: &str, component: &str) -> bool {
    holds(schemas, component, union, &mut BTreeSet::new())
}

/// Whether values of a type hold one of another type within their own memory.
fn holds<'a>(
    schemas: &'a Schemas,
    name: &'a str,
    sought: &str,
    seen: &mut BTreeSet<&'a str>,
) -> bool {
    if name == sought {
        return true;
    }
    let Some(component) = schemas.components.get(name).filter(|_| seen.insert(name)) else {
        return false;
    };
    match &component.kind {
        Kind::Struct(members) => members.iter().any(|member| match &member.value.ty {
            Ty::Named(name) if !member.boxed => holds(schemas, name, sought, seen),
            _ => false,
        }),
        Kind::Union { variants, .. } => variants
            .iter()
            .any(|variant| holds(schemas, &variant.component, sought, seen)),
        _ => false,
    }
}

/// The type of what a call borrows.
pub(super) fn borrowed(schemas: &Schemas, parameter: &Parameter) -> String {
    let ty = &parameter.value.ty;
    let ty = match ty {
        Ty::Array { items, .. } => format!("&[{}]", schemas.rust(items)),
        _ if is_copied(ty) => schemas.rust(ty),
        _ if schemas.is_text(ty) => "&str".to_owned(),
        _ => format!("&{}", schemas.rust(ty)),
    };
    if parameter.required {
        ty
    } else {
        format!("Option<{ty}>")
    }
}

/// What makes of a field what a call borrows.
pub(super) fn borrow(schemas: &Schemas, parameter: &Parameter) -> String {
    let (field, ty) = (&parameter.field, &parameter.value.ty);
    let is_deref = schemas.is_text(ty) || matches!(ty, Ty::Array { .. });
    match parameter.required {
        _ if is_copied(ty) => format!("self.{field}"),
        true => format!("&self.{field}"),
        false if is_deref => format!("self.{field}.as_deref()"),
        false => format!("self.{field}.as_ref()"),
    }
}

/// Whether its values are small enough to be handed on by value.
pub(super) fn is_copied(ty: &Ty) -> bool {
    matches!(ty, Ty::Boolean | Ty::Integer { .. } | Ty::Count { .. })
}

/// A value that a caller hands in: the type of the argument, and the expression that makes the field of it.
pub(super) struct Argument {
    pub(super) ty: String,
    pub(super) value: String,
}

impl Argument {
    /// The field of this name, in a struct that is made of arguments.
    pub(super) fn field(&self, name: &str) -> String {
        if self.value == name {
            name.to_owned()
        } else {
            format!("{name}: {}", self.value)
        }
    }
}

/// How a caller hands in a value of a type: whatever turns into it, where that helps.
pub(super) fn argument(schemas: &Schemas, ty: &Ty, boxed: bool, name: &str) -> Argument {
    let converts = |ty: &Ty| {
        let named = matches!(
            schemas.kind(ty),
            Some(Kind::Reference(_) | Kind::Union { .. } | Kind::Constant(_))
        );
        named
            || matches!(
                ty,
                Ty::Text { .. } | Ty::Value | Ty::Record | Ty::Timestamp | Ty::Date
            )
    };
    // Of an empty collection of any JSON nobody could say what turns into it.
    let item_converts = |item: &Ty| converts(item) && *item != Ty::Value;
    let (ty, value) = match ty {
        Ty::Array { items, .. } => {
            let item = schemas.rust(items);
            if item_converts(items) {
                (
                    format!("impl IntoIterator<Item = impl Into<{item}>>"),
                    format!("{name}.into_iter().map(Into::into).collect()"),
                )
            } else {
                (
                    format!("impl IntoIterator<Item = {item}>"),
                    format!("{name}.into_iter().collect()"),
                )
            }
        }
        Ty::Map(values) => {
            let value = schemas.rust(values);
            let (ty, into) = if item_converts(values) {
                (format!("impl Into<{value}>"), "value.into()")
            } else {
                (value, "value")
            };
            (
                format!("impl IntoIterator<Item = (impl Into<String>, {ty})>"),
                format!("{name}.into_iter().map(|(name, value)| (name.into(), {into})).collect()"),
            )
        }
        ty => {
            let rust = schemas.rust(ty);
            let (ty, value) = if converts(ty) {
                (format!("impl Into<{rust}>"), format!("{name}.into()"))
            } else {
                (rust, name.to_owned())
            };
            let boxed = boxed.then(|| format!("Box::new({value})"));
            (ty, boxed.unwrap_or(value))
        }
    };
    Argument { ty, value }
}

/// An upper bound as Rust writes it.
pub(super) fn limit(ty: &str, max: Option<impl Display>) -> String {
    max.map_or_else(|| format!("{ty}::MAX"), |max| max.to_string())
}

/// A pattern as an expression of Rust.
pub(super) fn pattern(pattern: &Pattern) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Literal(text) => format!("Piece::Literal({text:?}),"),
        Piece::Class { ranges, min, max } => {
            let max = limit("u32", Some(*max).filter(|max| *max < u32::MAX));
            format!("Piece::Class {{ ranges: &{ranges:?}, min: {min}, max: {max} }},")
        }
    };
    let alternative = |it: &Vec<Piece>| {
        let pieces: String = it.iter().map(piece).collect();
        format!("&[{pieces}],")
    };
    let alternatives: String = pattern.alternatives.iter().map(alternative).collect();
    format!("Pattern::new({:?}, &[{alternatives}])", pattern.source)
}

#[cfg(test)]
mod tests {
    use super::imports;

    #[test]
    fn what_is_a_type_in_code_is_imported_and_nothing_else() {
        let code = "/// A Page.\nfn page(at: impl IntoIterator<Item = Date>) -> Future<Output = Record> {\n\
                    check(\"Secret\", sdk_core::Number, &self.number)\n}";
        let own = [("Item", "types"), ("Output", "types")];
        assert_eq!(imports(code, own), "use sdk_core::{Date, Record};\n");
    }
}
