use std::collections::BTreeMap;
use std::fmt::Display;

use crate::error::Error;
use crate::json::members::Members;
use crate::json::number::Number;
use crate::json::raw::RawJson;
use crate::json::record::Record;
use crate::json::time::Rfc3339;
use crate::operation::Operation;
use crate::request::reference::Pattern;
use crate::text::counted;

/// Checks the parameters and body of an operation against the contract before anything is sent.
///
/// Every error names the parameter, the rule and the value.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    operation: &'static Operation,
    /// The object whose fields are checked, if it is not the body itself.
    parent: Option<(&'a Check<'a>, &'a str)>,
}

/// How the items of a query parameter stand in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStyle {
    /// The parameter once for each item: `tag=a&tag=b`.
    Repeated,
    /// One parameter with commas: `tag=a,b`. They are not escaped: a server that splits before it decodes would not find them
    /// otherwise, and one that decodes first finds both.
    Comma,
}

/// A request body that knows the contract's rules for it.
pub trait Validate {
    /// Checks every rule. Without its own, a type has none.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn validate(&self, check: &Check<'_>) -> Result<(), Error> {
        let _ = check;
        Ok(())
    }
}

impl<T: Validate + ?Sized> Validate for Box<T> {
    fn validate(&self, check: &Check<'_>) -> Result<(), Error> {
        (**self).validate(check)
    }
}

impl<T: Validate> Validate for [T] {
    fn validate(&self, check: &Check<'_>) -> Result<(), Error> {
        let each = |(at, item): (usize, &T)| item.validate(&check.member(&format!("[{at}]")));
        self.iter().enumerate().try_for_each(each)
    }
}

impl<T: Validate> Validate for Vec<T> {
    fn validate(&self, check: &Check<'_>) -> Result<(), Error> {
        self.as_slice().validate(check)
    }
}

impl<T: Validate> Validate for BTreeMap<String, T> {
    fn validate(&self, check: &Check<'_>) -> Result<(), Error> {
        let each = |(name, value): (&String, &T)| value.validate(&check.member(name));
        self.iter().try_for_each(each)
    }
}

impl Validate for RawJson {}
impl Validate for Record {}
impl Validate for Number {}
impl Validate for String {}
impl Validate for bool {}
impl Validate for i64 {}

#[expect(
    clippy::missing_errors_doc,
    reason = "each method checks one rule and fails if the value breaks it"
)]
impl Check<'_> {
    /// Checks for an operation.
    #[must_use]
    pub fn new(operation: &'static Operation) -> Self {
        Self {
            operation,
            parent: None,
        }
    }

    /// Checks for the object in one field.
    #[must_use]
    pub fn member<'b>(&'b self, name: &'b str) -> Check<'b> {
        Check {
            operation: self.operation,
            parent: Some((self, name)),
        }
    }

    /// The path from the body to a field, with dots and indexes.
    fn path(&self, name: &str) -> String {
        match self.parent {
            Some((parent, own)) => {
                let dot = if name.starts_with('[') { "" } else { "." };
                parent.path(&format!("{own}{dot}{name}"))
            }
            None => name.to_owned(),
        }
    }

    /// A text has `min` to `max` characters.
    pub fn length(
        &self,
        name: &str,
        text: Option<&str>,
        min: usize,
        max: usize,
    ) -> Result<(), Error> {
        let Some(text) = text else { return Ok(()) };
        let length = text.chars().count();
        let rule = || format!("have {}", bounds(min, max, "character"));
        self.holds((min..=max).contains(&length), name, rule, || {
            counted(length, "character")
        })
    }

    /// An unsigned number is from `min` to `max`.
    pub fn range(&self, name: &str, number: Option<u32>, min: u32, max: u32) -> Result<(), Error> {
        number.map_or(Ok(()), |number| {
            self.integer(name, number.into(), min.into(), max.into())
        })
    }

    /// A signed number is from `min` to `max`.
    pub fn integer(&self, name: &str, value: i64, min: i64, max: i64) -> Result<(), Error> {
        let rule = || format!("be from {min} to {max}");
        self.holds((min..=max).contains(&value), name, rule, || {
            value.to_string()
        })
    }

    /// A list has `min` to `max` items.
    pub fn items(&self, name: &str, count: usize, min: usize, max: usize) -> Result<(), Error> {
        let rule = || format!("have {}", bounds(min, max, "item"));
        self.holds((min..=max).contains(&count), name, rule, || {
            counted(count, "item")
        })
    }

    /// A list has `min` to `max` items. Between commas, none contains one or is empty: that would read as another list.
    pub fn list(
        &self,
        name: &str,
        values: Option<&[impl Display]>,
        style: ListStyle,
        min: usize,
        max: usize,
    ) -> Result<(), Error> {
        let Some(values) = values else { return Ok(()) };
        self.items(name, values.len(), min, max)?;
        if style == ListStyle::Repeated {
            return Ok(());
        }
        values.iter().try_for_each(|value| {
            let value = value.to_string();
            let rule = || "have no ',' within an item, and no empty one".to_owned();
            let found = || format!("{value:?}");
            let holds = !value.is_empty() && !value.contains(',');
            self.holds(holds, name, rule, found)
        })
    }

    /// A text matches a pattern.
    pub fn pattern(&self, name: &str, text: &str, pattern: &Pattern) -> Result<(), Error> {
        let rule = || format!("match {}", pattern.source());
        self.holds(pattern.matches(text), name, rule, || format!("{text:?}"))
    }

    /// An instant or a date is well formed.
    pub fn rfc3339<T: Rfc3339>(&self, name: &str, value: Option<&T>) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        let rule = || T::RULE.to_owned();
        self.holds(value.is_well_formed(), name, rule, || {
            format!("{:?}", value.as_ref())
        })
    }

    /// A value of a closed enumeration is one of the documented ones.
    pub fn known(&self, name: &str, value: Option<&str>, known: &[&str]) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        let rule = || format!("be one of {}", known.join(", "));
        self.holds(known.contains(&value), name, rule, || format!("{value:?}"))
    }

    /// A value whose fields the contract does not show is an object, or null where that is allowed.
    pub fn object(&self, name: &str, value: &Record, nullable: bool) -> Result<(), Error> {
        let value = value.raw();
        let fits = value.as_str().starts_with('{') || nullable && value.is_null();
        let rule = || format!("be an object{}", if nullable { " or null" } else { "" });
        self.holds(fits, name, rule, || value.as_str().to_owned())
    }

    /// No extra field has the name of a known one, unless it is an explicit null that clears an optional one. Its value would
    /// be sent unchecked, or not at all.
    pub fn extra(&self, extra: &Members, known: &[&str], clearable: &[&str]) -> Result<(), Error> {
        let clears = |name: &str, value: &RawJson| value.is_null() && clearable.contains(&name);
        let twice = extra
            .iter()
            .find(|(name, value)| known.contains(name) && !clears(name, value));
        let Some((name, _)) = twice else {
            return Ok(());
        };
        // The value may be a secret: only the type of the known field would say so.
        let rule = "be set with its own field or method, or left to the SDK";
        self.reject(name, rule, "it as an extra member")
    }

    /// A text can be one segment of a path, however often a server decodes it: not empty, and nothing that climbs or splits
    /// the path or adds path parameters.
    pub fn segment(&self, name: &str, text: &str) -> Result<(), Error> {
        let rule = || {
            "be a single path segment: not empty, not `.` or `..`, without slashes, semicolons or control characters"
                .to_owned()
        };
        self.holds(is_segment(text), name, rule, || format!("{text:?}"))
    }

    /// At most one of the parameters is set.
    pub fn exclusive(&self, parameters: &[(&str, bool)]) -> Result<(), Error> {
        let set: Vec<&str> = parameters
            .iter()
            .filter_map(|&(name, set)| set.then_some(name))
            .collect();
        match set.as_slice() {
            [] | [_] => Ok(()),
            [first, others @ ..] => {
                let rule = format!("not be set together with `{}`", others.join("`, `"));
                self.reject(first, &rule, "both")
            }
        }
    }

    fn holds(
        &self,
        holds: bool,
        name: &str,
        rule: impl FnOnce() -> String,
        value: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        if holds {
            return Ok(());
        }
        self.reject(name, &rule(), &value())
    }

    fn reject(&self, name: &str, rule: &str, value: &str) -> Result<(), Error> {
        let error = Error::invalid(&self.path(name), rule, value);
        Err(error.with_operation(self.operation))
    }
}

/// How many there are of something, where the upper bound may be open.
fn bounds(min: usize, max: usize, what: &str) -> String {
    if max == usize::MAX {
        return format!("at least {}", counted(min, what));
    }
    format!("{min} to {max} {what}s")
}

/// How often a text is decoded. Nobody escapes more often, and each time is another pass over the text, of which there could be
/// as many as it has letters.
const LAYERS: usize = 8;

/// Whether a text stays one segment of a path, however often it is decoded. One that has more layers is none.
pub(crate) fn is_segment(text: &str) -> bool {
    let mut text = std::borrow::Cow::Borrowed(text);
    for _ in 0..LAYERS {
        if matches!(&*text, "" | "." | "..")
            || text.contains(['/', '\\', ';'])
            || text.chars().any(char::is_control)
        {
            return false;
        }
        let decoded = percent_encoding::percent_decode_str(&text).decode_utf8_lossy();
        if decoded == text {
            return true;
        }
        text = decoded.into_owned().into();
    }
    false
}

/// The error of a reference that was parsed strictly.
#[doc(hidden)]
#[must_use]
pub fn bad_reference(name: &str, pattern: &str, text: &str) -> Error {
    Error::invalid(name, &format!("match {pattern}"), &format!("{text:?}"))
}
