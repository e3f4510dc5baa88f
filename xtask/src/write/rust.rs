//! Types, values and imports of the generated code as strings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};

use crate::model::{Kind, Parameter, Pattern, Piece, Reply, Schemas, Ty, taken};

/// Imports of all names that generated code uses without a path, even if a file doesn't use all of them.
pub(super) fn imports() -> String {
    let mut modules = BTreeMap::<&str, Vec<&str>>::new();
    for (name, module) in taken::imports() {
        modules.entry(module).or_default().push(name);
    }
    let mut text = String::new();
    for (module, names) in modules {
        let _ = writeln!(text, "use {module}::{{{}}};", names.join(", "));
    }
    text
}

/// The type that a response decodes into.
pub(crate) fn reply_type(schemas: &Schemas, reply: &Reply) -> String {
    match reply {
        Reply::Empty => "()".to_owned(),
        Reply::Bytes(_) => "Bytes".to_owned(),
        Reply::Several { name, .. } => name.clone(),
        Reply::Json(value) => match &value.ty {
            Ty::Page { items, .. } => format!("Page<{}>", schemas.rust(items)),
            // A single value of these types is returned as JSON, which is just as convenient.
            Ty::Timestamp | Ty::Date | Ty::Number | Ty::Text { secret: true, .. } => {
                "RawJson".to_owned()
            }
            ty => schemas.rust(ty),
        },
    }
}

/// Whether a variant of a union is boxed, because it contains the union itself.
pub(super) fn is_boxed(schemas: &Schemas, union: &str, component: &str) -> bool {
    contains(schemas, component, union, &mut BTreeSet::new())
}

/// Whether values of a type contain a value of another type inline.
fn contains<'a>(
    schemas: &'a Schemas,
    name: &'a str,
    sought: &str,
    seen: &mut BTreeSet<&'a str>,
) -> bool {
    let kind = schemas.components.get(name).map(|it| &it.kind);
    let parts: Vec<&String> = match kind.filter(|_| seen.insert(name)) {
        Some(Kind::Struct(fields)) => {
            let fields = fields.iter().filter(|field| !field.boxed);
            fields.filter_map(|field| field.value.ty.name()).collect()
        }
        Some(Kind::Union { variants, .. }) => variants.iter().map(|it| &it.component).collect(),
        _ => Vec::new(),
    };
    let mut parts = parts.into_iter();
    parts.any(|part| part == sought || contains(schemas, part, sought, seen))
}

/// A parameter as an `Option` of a borrowed value. The cursor of a list is a variable, because it differs per page.
pub(super) fn optional(schemas: &Schemas, parameter: &Parameter, is_cursor: bool) -> String {
    let (field, ty) = (&parameter.field, &parameter.value.ty);
    let is_deref = schemas.is_text(ty) || matches!(ty, Ty::Array { .. });
    match (parameter.required, is_copied(ty)) {
        _ if is_cursor => "cursor".to_owned(),
        (true, true) => format!("Some(self.{field})"),
        (true, false) => format!("Some(&self.{field})"),
        (false, true) => format!("self.{field}"),
        (false, false) if is_deref => format!("self.{field}.as_deref()"),
        (false, false) => format!("self.{field}.as_ref()"),
    }
}

/// Whether values of a type are passed by value.
pub(super) fn is_copied(ty: &Ty) -> bool {
    matches!(ty, Ty::Boolean | Ty::Integer { .. } | Ty::Count { .. })
}

/// An argument of a caller, with its type and the expression that converts it into the field.
pub(super) struct Argument {
    pub(super) ty: String,
    pub(super) value: String,
}

impl Argument {
    /// The initializer of the field with this name.
    pub(super) fn field(&self, name: &str) -> String {
        if self.value == name {
            name.to_owned()
        } else {
            format!("{name}: {}", self.value)
        }
    }

    /// The setter of an optional field with this name, without its docs.
    pub(super) fn setter(&self, name: &str) -> String {
        let Self { ty, value } = self;
        format!(
            "pub fn {name}(mut self, {name}: {ty}) -> Self {{\nself.{name} = Some({value});\nself\n}}\n\n"
        )
    }
}

/// The argument for a value of a type. If useful, it accepts any value that converts into the type.
pub(super) fn argument(schemas: &Schemas, ty: &Ty, boxed: bool, name: &str) -> Argument {
    let single = |ty: &Ty, name: &str, converts: bool| {
        let rust = schemas.rust(ty);
        if converts {
            (format!("impl Into<{rust}>"), format!("{name}.into()"))
        } else {
            (rust, name.to_owned())
        }
    };
    // For an empty collection of any JSON, the compiler couldn't infer the type of the items.
    let item_converts = |item: &Ty| converts(schemas, item) && *item != Ty::Value;
    let (ty, value) = match ty {
        Ty::Array { items, .. } => {
            let converts = item_converts(items);
            let (item, _) = single(items, name, converts);
            let map = if converts { ".map(Into::into)" } else { "" };
            (
                format!("impl IntoIterator<Item = {item}>"),
                format!("{name}.into_iter(){map}.collect()"),
            )
        }
        Ty::Map(values) => {
            let (ty, value) = single(values, "value", item_converts(values));
            (
                format!("impl IntoIterator<Item = (impl Into<String>, {ty})>"),
                format!("{name}.into_iter().map(|(name, value)| (name.into(), {value})).collect()"),
            )
        }
        ty => {
            let (ty, value) = single(ty, name, converts(schemas, ty));
            let boxed = boxed.then(|| format!("Box::new({value})"));
            (ty, boxed.unwrap_or(value))
        }
    };
    Argument { ty, value }
}

/// Whether callers usually have a value that converts into this type.
fn converts(schemas: &Schemas, ty: &Ty) -> bool {
    match ty {
        Ty::Text { .. } | Ty::Value | Ty::Record | Ty::Timestamp | Ty::Date => true,
        ty => matches!(
            schemas.kind(ty),
            Some(Kind::Reference(_) | Kind::Union { .. } | Kind::Constant(_))
        ),
    }
}

pub(super) fn range(min: Option<u64>, max: Option<u64>) -> String {
    format!("{}, {}", min.unwrap_or(0), limit("usize", max))
}

/// An upper bound as a Rust expression.
pub(super) fn limit(ty: &str, max: Option<impl Display>) -> String {
    max.map_or_else(|| format!("{ty}::MAX"), |max| max.to_string())
}

/// A pattern as a Rust expression.
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
