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
    /// The parent object and the field within it, if this is not the body itself.
    parent: Option<(&'a Check<'a>, &'a str)>,
}

/// The form of a list in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListStyle {
    /// Repeats the parameter for each item: `tag=a&tag=b`.
    Repeated,
    /// Separates the items with commas: `tag=a,b`. The commas are not escaped. Otherwise, a server that splits the list
    /// before it decodes the items would not find them.
    Comma,
}

/// A request body that can check itself against the contract.
pub trait Validate {
    /// Checks every rule. The default implementation has no rules.
    ///
    /// # Errors
    /// The first rule that the value breaks.
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
    /// Creates the checks for an operation.
    #[must_use]
    pub fn new(operation: &'static Operation) -> Self {
        Self {
            operation,
            parent: None,
        }
    }

    /// Creates the checks for the object in a field.
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

    /// Checks that a string has `min` to `max` characters.
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

    /// Checks that an unsigned number is from `min` to `max`.
    pub fn range(&self, name: &str, number: Option<u32>, min: u32, max: u32) -> Result<(), Error> {
        number.map_or(Ok(()), |number| {
            self.integer(name, number.into(), min.into(), max.into())
        })
    }

    /// Checks that a signed number is from `min` to `max`.
    pub fn integer(&self, name: &str, value: i64, min: i64, max: i64) -> Result<(), Error> {
        let rule = || format!("be from {min} to {max}");
        self.holds((min..=max).contains(&value), name, rule, || {
            value.to_string()
        })
    }

    /// Checks that a list has `min` to `max` items.
    pub fn items(&self, name: &str, count: usize, min: usize, max: usize) -> Result<(), Error> {
        let rule = || format!("have {}", bounds(min, max, "item"));
        self.holds((min..=max).contains(&count), name, rule, || {
            counted(count, "item")
        })
    }

    /// Checks that a list has `min` to `max` items. In a comma-separated list, no item may be empty or contain a comma,
    /// because the server would read another list.
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
            let rule = || "have no empty items and no ',' within an item".to_owned();
            let found = || format!("{value:?}");
            let holds = !value.is_empty() && !value.contains(',');
            self.holds(holds, name, rule, found)
        })
    }

    /// Checks that a string matches a pattern.
    pub fn pattern(&self, name: &str, text: &str, pattern: &Pattern) -> Result<(), Error> {
        let rule = || format!("match {}", pattern.source());
        self.holds(pattern.matches(text), name, rule, || format!("{text:?}"))
    }

    /// Checks that a timestamp or date is well formed.
    pub fn rfc3339<T: Rfc3339>(&self, name: &str, value: Option<&T>) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        let rule = || T::RULE.to_owned();
        self.holds(value.is_well_formed(), name, rule, || {
            format!("{:?}", value.as_ref())
        })
    }

    /// Checks that a value of a closed enumeration is documented.
    pub fn known(&self, name: &str, value: Option<&str>, known: &[&str]) -> Result<(), Error> {
        let Some(value) = value else { return Ok(()) };
        let rule = || format!("be one of {}", known.join(", "));
        self.holds(known.contains(&value), name, rule, || format!("{value:?}"))
    }

    /// Checks that a value with undocumented fields is an object, or null if that is allowed.
    pub fn object(&self, name: &str, value: &Record, nullable: bool) -> Result<(), Error> {
        let value = value.raw();
        let fits = value.as_str().starts_with('{') || nullable && value.is_null();
        let rule = || format!("be an object{}", if nullable { " or null" } else { "" });
        self.holds(fits, name, rule, || value.as_str().to_owned())
    }

    /// Checks that no extra field has the name of a known field, because its value would be sent unchecked or not at
    /// all. An explicit null that clears an optional field is allowed.
    pub fn extra(&self, extra: &Members, known: &[&str], clearable: &[&str]) -> Result<(), Error> {
        let clears = |name: &str, value: &RawJson| value.is_null() && clearable.contains(&name);
        let twice = extra
            .iter()
            .find(|(name, value)| known.contains(name) && !clears(name, value));
        let Some((name, _)) = twice else {
            return Ok(());
        };
        // The message omits the value. It may be a secret, which only the known field's type could tell.
        let rule = "be set with its own field or method, or left to the SDK";
        self.reject(name, rule, "it as an extra field")
    }

    /// Checks that a string stays one segment of a path, even if a server decodes it several times. It must not be
    /// empty, leave its directory, split the path or add path parameters.
    pub fn segment(&self, name: &str, text: &str) -> Result<(), Error> {
        let rule = || {
            "be a single path segment: not empty, not `.` or `..`, without slashes, semicolons or control characters"
                .to_owned()
        };
        self.holds(is_segment(text), name, rule, || format!("{text:?}"))
    }

    /// Checks that at most one of the parameters is set.
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

/// Describes a range of counts in words. `usize::MAX` means no upper bound.
fn bounds(min: usize, max: usize, what: &str) -> String {
    if max == usize::MAX {
        return format!("at least {}", counted(min, what));
    }
    format!("{min} to {max} {what}s")
}

/// The maximum number of decoding passes. Real values have fewer layers of escapes. Without a limit, a hostile string
/// could need as many passes as it has characters.
const LAYERS: usize = 8;

/// Whether a string stays one segment of a path after each decoding. A string with too many layers doesn't.
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

/// The error for a malformed reference.
#[doc(hidden)]
#[must_use]
pub fn bad_reference(name: &str, pattern: &str, text: &str) -> Error {
    Error::invalid(name, &format!("match {pattern}"), &format!("{text:?}"))
}
