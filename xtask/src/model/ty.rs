//! Types of Rust, as the type graph gives them.

use std::fmt;

/// A type of a field or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// One that the client declares, by the name of its component.
    Named(String),
    /// One of the runtime, such as `RawJson`.
    Own(&'static str),
    Text,
    Bool,
    I64,
    U32,
    Option(Box<Ty>),
    List(Box<Ty>),
    Map(Box<Ty>),
    /// Behind a pointer, because it contains itself.
    Boxed(Box<Ty>),
}

impl Ty {
    /// The type without its `Option`.
    pub(crate) fn bare(&self) -> &Ty {
        match self {
            Self::Option(inner) => inner,
            other => other,
        }
    }

    /// Whether it is an `Option`.
    pub(crate) fn is_option(&self) -> bool {
        matches!(self, Self::Option(_))
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Own(name) => f.write_str(name),
            Self::Text => f.write_str("String"),
            Self::Bool => f.write_str("bool"),
            Self::I64 => f.write_str("i64"),
            Self::U32 => f.write_str("u32"),
            Self::Option(inner) => write!(f, "Option<{inner}>"),
            Self::List(inner) => write!(f, "Vec<{inner}>"),
            Self::Map(inner) => write!(f, "BTreeMap<String, {inner}>"),
            Self::Boxed(inner) => write!(f, "Box<{inner}>"),
        }
    }
}
