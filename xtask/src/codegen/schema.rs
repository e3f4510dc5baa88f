//! What the schemas of a spec mean: shapes, and the named components that become types.

use std::collections::BTreeSet;

use super::document::Map;

/// The shape of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A component that has a type of its own.
    Named(String),
    /// Any JSON value.
    Value,
    /// An object whose members are not shown.
    Record,
    /// A page of records.
    Page,
    /// Text, with its bounds in characters.
    Text {
        min: Option<u32>,
        max: Option<u32>,
        secret: bool,
    },
    /// A `date-time`.
    Timestamp,
    /// A `date`.
    Date,
    /// An integer, with its bounds.
    Integer { min: Option<i64>, max: Option<i64> },
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// An array, with its bounds in items.
    Array {
        items: Box<Shape>,
        min: Option<u32>,
        max: Option<u32>,
    },
}

impl Shape {
    /// The name of its component.
    pub(crate) fn name(&self) -> Option<&String> {
        match self {
            Self::Named(name) => Some(name),
            _ => None,
        }
    }
}

/// A shape where it is used: as a member, a parameter or a body.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) shape: Shape,
    pub(crate) nullable: bool,
    pub(crate) description: String,
    pub(crate) default: Option<String>,
    /// The assumptions that this use rests on.
    pub(crate) assumptions: BTreeSet<String>,
    /// Those among them without which not even the type would be known.
    pub(crate) type_assumptions: BTreeSet<String>,
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) field: String,
    pub(crate) required: bool,
    pub(crate) value: Use,
}

/// What a named component is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// An object with members.
    Struct(Vec<Property>),
    /// A set of values; closed when the contract shows all of them.
    Enum { values: Vec<String>, closed: bool },
    /// Text of one form.
    Reference(String),
    /// Text that never varies.
    Constant(String),
    /// Another name for a shape without a type of its own.
    Plain,
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
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) provenance: Provenance,
    pub(crate) kind: Kind,
    /// The assumptions that it rests on as a whole.
    pub(crate) assumptions: BTreeSet<String>,
    /// The constant of its member `schemaVersion`.
    pub(crate) schema_version: Option<String>,
}

impl Component {
    /// The members of an object, and none of anything else.
    pub(crate) fn members(&self) -> &[Property] {
        match &self.kind {
            Kind::Struct(members) => members,
            _ => &[],
        }
    }
}

/// The components of a spec.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schemas {
    pub(crate) components: Map<Component>,
}

impl Schemas {
    /// The component of a shape, if it has one of its own.
    pub(crate) fn named(&self, shape: &Shape) -> Option<&Component> {
        self.components.get(shape.name()?)
    }

    /// What the component of a shape is.
    pub(crate) fn kind(&self, shape: &Shape) -> Option<&Kind> {
        self.named(shape).map(|component| &component.kind)
    }

    /// The members of a shape that is an object with a type of its own.
    pub(crate) fn members(&self, shape: &Shape) -> &[Property] {
        self.named(shape).map_or(&[], Component::members)
    }

    /// Whether a shape is an object with a secret among its members.
    pub(crate) fn holds_secret(&self, shape: &Shape) -> bool {
        let is_secret = |shape: &Shape| matches!(shape, Shape::Text { secret: true, .. });
        let mut members = self.members(shape).iter();
        members.any(|member| is_secret(&member.value.shape))
    }

    /// The constant that a shape stands for.
    pub(crate) fn constant(&self, shape: &Shape) -> Option<&str> {
        match self.kind(shape)? {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }
}
