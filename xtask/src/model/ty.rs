//! The types of values.

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    /// A named component.
    Named(String),
    /// Any JSON value.
    Value,
    /// An object with undocumented fields.
    Record,
    /// A page, with the type of its items and the component of its other fields.
    Page {
        items: Box<Ty>,
        members: Option<String>,
    },
    /// A string, with its bounds in characters.
    Text {
        min: Option<u64>,
        max: Option<u64>,
        secret: bool,
    },
    /// A `date-time`.
    Timestamp,
    /// A `date`.
    Date,
    /// An integer, with its bounds.
    Integer { min: Option<i64>, max: Option<i64> },
    /// An integer parameter whose bounds fit into `u32`, such as a limit.
    Count { min: u32, max: u32 },
    /// A number that keeps all its digits.
    Number,
    /// A boolean.
    Boolean,
    /// An array, with its bounds in items.
    Array {
        items: Box<Ty>,
        min: Option<u64>,
        max: Option<u64>,
    },
    /// An object with arbitrary keys, whose values have the same type.
    Map(Box<Ty>),
    /// An item of an array or a value of a map that may be null.
    Nullable(Box<Ty>),
}

impl Ty {
    /// The name of its component.
    pub(crate) fn name(&self) -> Option<&String> {
        match self {
            Self::Named(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn inner(&self) -> Option<&Ty> {
        match self {
            Self::Array { items, .. } | Self::Page { items, .. } => Some(items),
            Self::Map(inner) | Self::Nullable(inner) => Some(inner),
            _ => None,
        }
    }

    /// Visits the names of the components in it.
    pub(crate) fn each_name(&mut self, visit: &dyn Fn(&mut String)) {
        match self {
            Self::Named(name) => visit(name),
            Self::Array { items, .. } | Self::Page { items, .. } => items.each_name(visit),
            Self::Map(inner) | Self::Nullable(inner) => inner.each_name(visit),
            _ => {}
        }
    }

    /// Whether it is a secret, or a list or a map of secrets.
    pub(crate) fn is_secret(&self) -> bool {
        match self {
            Self::Text { secret, .. } => *secret,
            other => other.inner().is_some_and(Self::is_secret),
        }
    }

    /// The type in words, with its bounds.
    pub(crate) fn words(&self) -> String {
        let range = |min: Option<u64>, max: Option<u64>| match (min, max) {
            (None, None) => String::new(),
            (min, None) => format!(" of at least {}", min.unwrap_or(0)),
            (min, Some(max)) => format!(" of {} to {max}", min.unwrap_or(0)),
        };
        match self {
            Self::Array { items, min, max } => match range(*min, *max) {
                none if none.is_empty() => format!("a list, each {}", items.words()),
                range => format!("a list{range} items, each {}", items.words()),
            },
            Self::Text { min, max, .. } => match range(*min, *max) {
                none if none.is_empty() => "a string".to_owned(),
                range => format!("a string{range} characters"),
            },
            Self::Integer { .. } | Self::Count { .. } => "an integer".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Map(values) => format!("an object, each value {}", values.words()),
            Self::Nullable(inner) => format!("{} or null", inner.words()),
            Self::Named(name) => format!("of the schema `{name}`"),
            Self::Timestamp => "a date-time".to_owned(),
            Self::Date => "a date".to_owned(),
            Self::Record => "an object".to_owned(),
            Self::Page { items, .. } => format!("a page, each item {}", items.words()),
            Self::Value => "any JSON".to_owned(),
        }
    }
}
