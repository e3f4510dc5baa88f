//! The schemas of a spec, with their named components, fields and uses of values.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::{Parameter, Pattern, Ty};

/// Fields in the order of the document.
pub(crate) type Map<T> = IndexMap<String, T>;

/// The use of a value as a field, a parameter or a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Use {
    pub(crate) ty: Ty,
    pub(crate) nullable: bool,
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    pub(crate) example: Option<String>,
    /// Rules that only the server checks, such as `uniqueItems`. The docs mention them.
    pub(crate) stated: Vec<String>,
    /// The assumptions about this use.
    pub(crate) assumptions: BTreeSet<String>,
    /// The assumptions about its type.
    pub(crate) type_assumptions: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(crate) struct Property {
    pub(crate) name: String,
    /// The Rust name of the field.
    pub(crate) field: String,
    pub(crate) required: bool,
    pub(crate) deprecated: bool,
    /// Only in responses.
    pub(crate) read_only: bool,
    /// Only in requests.
    pub(crate) write_only: bool,
    pub(crate) value: Use,
    /// Whether it is boxed, because it contains its object.
    pub(crate) boxed: bool,
}

impl Property {
    pub(crate) fn is_option(&self) -> bool {
        !self.required || self.value.nullable
    }
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) variant: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) component: String,
    /// The values of the discriminator that select it.
    pub(crate) values: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// An object with fields.
    Struct(Vec<Property>),
    /// A set of values, which is closed if the contract documents all of them.
    Enum { values: Vec<Choice>, closed: bool },
    /// One of several objects, with a discriminator.
    Union { tag: String, variants: Vec<Variant> },
    /// A string with a pattern.
    Reference(Pattern),
    /// A constant string.
    Constant(String),
    /// An alias of a type that is not declared.
    Plain(Ty),
}

/// The part of a component that the contract documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    /// At least its existence and its kind.
    Documented,
    /// Nothing. The entire component is assumed.
    Assumed,
    /// Only its name.
    NameOnly,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Component {
    /// The name of its type.
    pub(crate) name: String,
    /// The JSON pointer to its schema.
    pub(crate) place: String,
    /// The place whose fields it has, which differs from `place` for an alias and for a single branch.
    pub(crate) fields_at: String,
    pub(crate) description: String,
    pub(crate) deprecated: bool,
    pub(crate) provenance: Provenance,
    pub(crate) kind: Kind,
    /// The assumptions about the entire component.
    pub(crate) assumptions: BTreeSet<String>,
}

impl Component {
    pub(crate) fn members(&self) -> &[Property] {
        match &self.kind {
            Kind::Struct(members) => members,
            _ => &[],
        }
    }

    /// Whether it is the constant tag of a union's variant.
    pub(crate) fn is_stated(&self) -> bool {
        self.fields_at.ends_with('*')
    }

    /// Whether it becomes a type.
    pub(crate) fn is_type(&self) -> bool {
        !matches!(self.kind, Kind::Constant(_) | Kind::Plain(_))
    }
}

/// The components of a spec, by the names of their types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schemas {
    pub(crate) components: Map<Component>,
}

impl Schemas {
    pub(crate) fn named(&self, ty: &Ty) -> Option<&Component> {
        self.components.get(ty.name()?)
    }

    pub(crate) fn kind(&self, ty: &Ty) -> Option<&Kind> {
        self.named(ty).map(|component| &component.kind)
    }

    pub(crate) fn members(&self, ty: &Ty) -> &[Property] {
        self.named(ty).map_or(&[], Component::members)
    }

    /// Whether a type contains a secret at any depth.
    pub(crate) fn holds_secret(&self, ty: &Ty) -> bool {
        self.search_secret(ty, &mut BTreeSet::new())
    }

    fn search_secret<'a>(&'a self, ty: &'a Ty, seen: &mut BTreeSet<&'a String>) -> bool {
        if let Some(inner) = ty.inner() {
            return self.search_secret(inner, seen);
        }
        match ty {
            Ty::Text { secret, .. } => *secret,
            Ty::Named(name) if seen.insert(name) => {
                let variants = match self.kind(ty) {
                    Some(Kind::Union { variants, .. }) => variants.as_slice(),
                    _ => &[],
                };
                let of_variants = variants
                    .iter()
                    .filter_map(|variant| self.components.get(&variant.component));
                of_variants
                    .chain(self.named(ty))
                    .flat_map(Component::members)
                    .any(|member| self.search_secret(&member.value.ty, seen))
            }
            _ => false,
        }
    }

    /// The Rust type.
    pub(crate) fn rust(&self, ty: &Ty) -> String {
        match ty {
            Ty::Named(name) => match self.kind(ty) {
                Some(Kind::Constant(_)) => "String".to_owned(),
                Some(Kind::Plain(plain)) => self.rust(plain),
                _ => name.clone(),
            },
            Ty::Value | Ty::Page { .. } => "RawJson".to_owned(),
            Ty::Record => "Record".to_owned(),
            Ty::Text { secret: true, .. } => "Secret".to_owned(),
            Ty::Text { .. } => "String".to_owned(),
            Ty::Timestamp => "Timestamp".to_owned(),
            Ty::Date => "Date".to_owned(),
            Ty::Integer { .. } => "i64".to_owned(),
            Ty::Count { .. } => "u32".to_owned(),
            Ty::Number => "Number".to_owned(),
            Ty::Boolean => "bool".to_owned(),
            Ty::Array { items, .. } => format!("Vec<{}>", self.rust(items)),
            Ty::Map(values) => format!("BTreeMap<String, {}>", self.rust(values)),
            Ty::Nullable(value) => format!("Option<{}>", self.rust(value)),
        }
    }

    pub(crate) fn field(&self, member: &Property) -> String {
        let ty = self.rust(&member.value.ty);
        let ty = if member.boxed {
            format!("Box<{ty}>")
        } else {
            ty
        };
        if member.is_option() {
            format!("Option<{ty}>")
        } else {
            ty
        }
    }

    pub(crate) fn parameter(&self, parameter: &Parameter) -> String {
        let ty = self.rust(&parameter.value.ty);
        if parameter.required {
            ty
        } else {
            format!("Option<{ty}>")
        }
    }

    /// Whether values of a type are Rust strings.
    pub(crate) fn is_text(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Text { secret: false, .. }) || self.constant(ty).is_some()
    }

    pub(crate) fn constant(&self, ty: &Ty) -> Option<&str> {
        match self.kind(ty)? {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }
}
