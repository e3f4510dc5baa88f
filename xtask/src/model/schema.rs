//! The schemas of a spec: the named components, their fields, and how values are used.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::{Parameter, Pattern, Ty};

/// Members in the order in which a document has them.
pub(crate) type Map<T> = IndexMap<String, T>;

/// A value where it is used: as a member, a parameter or a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Use {
    pub(crate) ty: Ty,
    pub(crate) nullable: bool,
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    /// A value that the document gives as an example.
    pub(crate) example: Option<String>,
    /// Rules that the documentation states and the service alone checks, such as `uniqueItems`.
    pub(crate) stated: Vec<String>,
    /// The assumptions that this use rests on.
    pub(crate) assumptions: BTreeSet<String>,
    /// Those among them without which not even the type would be known.
    pub(crate) type_assumptions: BTreeSet<String>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Property {
    pub(crate) name: String,
    /// The name of its field.
    pub(crate) field: String,
    pub(crate) required: bool,
    pub(crate) deprecated: bool,
    /// Only in replies.
    pub(crate) read_only: bool,
    /// Only in requests.
    pub(crate) write_only: bool,
    pub(crate) value: Use,
    /// Whether it is behind a pointer, because it contains its object.
    pub(crate) boxed: bool,
}

impl Property {
    /// Whether its field is an `Option`.
    pub(crate) fn is_option(&self) -> bool {
        !self.required || self.value.nullable
    }
}

/// One value of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The value on the wire.
    pub(crate) value: String,
    /// The name of its variant.
    pub(crate) variant: String,
}

/// One variant of a union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: String,
    /// The component that it holds, an object.
    pub(crate) component: String,
    /// The values of the discriminator that mean it.
    pub(crate) values: Vec<String>,
}

/// What a named component is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// An object with members.
    Struct(Vec<Property>),
    /// A set of values; closed when the contract shows all of them.
    Enum { values: Vec<Choice>, closed: bool },
    /// One of several objects, told apart by a member.
    Union { tag: String, variants: Vec<Variant> },
    /// Text of one form.
    Reference(Pattern),
    /// Text that never varies.
    Constant(String),
    /// Another name for a type that is not declared.
    Plain(Ty),
}

/// How much of a component the contract shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    /// At least that it is there, and of what kind.
    Documented,
    /// Nothing: it rests on its assumption as a whole.
    Assumed,
    /// Its name.
    NameOnly,
}

/// A named component.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Component {
    /// The name of its type.
    pub(crate) name: String,
    /// Where its schema stands in the document, as a JSON pointer.
    pub(crate) place: String,
    /// The place whose fields it has. It differs from `place` for an alias and for a lone branch.
    pub(crate) fields_at: String,
    pub(crate) description: String,
    pub(crate) deprecated: bool,
    pub(crate) provenance: Provenance,
    pub(crate) kind: Kind,
    /// The assumptions that it rests on as a whole.
    pub(crate) assumptions: BTreeSet<String>,
}

impl Component {
    /// The members of an object, and none of anything else.
    pub(crate) fn members(&self) -> &[Property] {
        match &self.kind {
            Kind::Struct(members) => members,
            _ => &[],
        }
    }

    /// Whether it is the tag of a variant, as its union states it.
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
    /// The component of a type, if it has one of its own.
    pub(crate) fn named(&self, ty: &Ty) -> Option<&Component> {
        self.components.get(ty.name()?)
    }

    /// What the component of a type is.
    pub(crate) fn kind(&self, ty: &Ty) -> Option<&Kind> {
        self.named(ty).map(|component| &component.kind)
    }

    /// The members of an object with a component of its own.
    pub(crate) fn members(&self, ty: &Ty) -> &[Property] {
        self.named(ty).map_or(&[], Component::members)
    }

    /// Whether there is a secret anywhere in a type.
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

    /// The type as Rust writes it.
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

    /// The type of the field of a member.
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

    /// The type of a parameter.
    pub(crate) fn parameter(&self, parameter: &Parameter) -> String {
        let ty = self.rust(&parameter.value.ty);
        if parameter.required {
            ty
        } else {
            format!("Option<{ty}>")
        }
    }

    /// Whether values of a type are strings of Rust.
    pub(crate) fn is_text(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Text { secret: false, .. }) || self.constant(ty).is_some()
    }

    /// The constant that a type stands for.
    pub(crate) fn constant(&self, ty: &Ty) -> Option<&str> {
        match self.kind(ty)? {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }
}
