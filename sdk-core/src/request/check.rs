use crate::error::Error;
use crate::error::kind::ErrorKind;
use crate::json::members::Members;
use crate::json::record::Record;
use crate::json::time::rfc3339::Rfc3339;
use crate::json::time::timestamp::Timestamp;
use crate::operation::Operation;
use crate::request::reference::{OpenEnum, Pattern, Reference};
use crate::text::counted;

/// Checks parameters and bodies of an operation against the contract, before anything is sent.
///
/// Each refusal names the parameter, the rule and the value.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    operation: &'static Operation,
    // Bodies are checked member by member; the parents lead there.
    parent: Option<(&'a Check<'a>, &'a str)>,
}

/// A request body that knows the contract's rules for it.
pub trait Validate {
    /// Checks every rule.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn validate(&self, check: &Check<'_>) -> Result<(), Error>;
}

impl Check<'_> {
    /// Checks for an operation.
    #[must_use]
    pub fn new(operation: &'static Operation) -> Self {
        Self {
            operation,
            parent: None,
        }
    }

    /// Checks the members of one member.
    #[must_use]
    pub fn member<'b>(&'b self, name: &'b str) -> Check<'b> {
        Check {
            operation: self.operation,
            parent: Some((self, name)),
        }
    }

    /// The way from the body to a member, with dots.
    fn path(&self, name: &str) -> String {
        match self.parent {
            Some((parent, own)) => parent.path(&format!("{own}.{name}")),
            None => name.to_owned(),
        }
    }

    /// A text's length in characters.
    ///
    /// # Errors
    /// When it is out of bounds.
    pub fn length(
        &self,
        name: &str,
        text: Option<&str>,
        min: usize,
        max: usize,
    ) -> Result<(), Error> {
        let Some(text) = text else { return Ok(()) };
        let length = text.chars().count();
        if (min..=max).contains(&length) {
            return Ok(());
        }
        self.refuse(
            name,
            &format!("have {min} to {max} characters"),
            &counted(length, "character"),
        )
    }

    /// A number's bounds.
    ///
    /// # Errors
    /// When it is out of bounds.
    pub fn range(&self, name: &str, number: Option<u32>, min: u32, max: u32) -> Result<(), Error> {
        match number {
            Some(number) if !(min..=max).contains(&number) => self.refuse(
                name,
                &format!("be from {min} to {max}"),
                &number.to_string(),
            ),
            _ => Ok(()),
        }
    }

    /// A signed number's bounds.
    ///
    /// # Errors
    /// When it is out of bounds.
    pub fn integer(&self, name: &str, value: i64, min: i64, max: i64) -> Result<(), Error> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        self.refuse(name, &format!("be from {min} to {max}"), &value.to_string())
    }

    /// How many items a list has.
    ///
    /// # Errors
    /// When there are too few or too many.
    pub fn items(&self, name: &str, count: usize, min: usize, max: usize) -> Result<(), Error> {
        if (min..=max).contains(&count) {
            return Ok(());
        }
        self.refuse(
            name,
            &format!("have {min} to {max} items"),
            &counted(count, "item"),
        )
    }

    /// A reference's form.
    ///
    /// # Errors
    /// When it has another form.
    pub fn reference<R: Reference>(&self, name: &str, reference: &R) -> Result<(), Error> {
        self.pattern(name, reference.text(), &R::PATTERN)
    }

    /// A text's form.
    ///
    /// # Errors
    /// When it has another form.
    pub fn pattern(&self, name: &str, text: &str, pattern: &Pattern) -> Result<(), Error> {
        if pattern.matches(text) {
            return Ok(());
        }
        self.refuse(
            name,
            &format!("match {}", pattern.source()),
            &format!("{text:?}"),
        )
    }

    /// That an instant or a date is one: it may have been made of any text.
    ///
    /// # Errors
    /// When it is not.
    pub fn rfc3339<T: Rfc3339>(&self, name: &str, value: Option<&T>) -> Result<(), Error> {
        match value {
            Some(value) if !value.is_well_formed() => {
                self.refuse(name, T::RULE, &format!("{:?}", value.text()))
            }
            _ => Ok(()),
        }
    }

    /// That a value of an enumeration is one of the documented ones.
    ///
    /// # Errors
    /// When the contract does not know it.
    pub fn known<E: OpenEnum>(&self, name: &str, value: Option<&E>) -> Result<(), Error> {
        match value {
            Some(value) if E::CLOSED && !value.is_known() => self.refuse(
                name,
                &format!("be one of {}", E::KNOWN.join(", ")),
                &format!("{:?}", value.text()),
            ),
            _ => Ok(()),
        }
    }

    /// That a value whose members the contract does not show is an object, or null where that is allowed.
    ///
    /// # Errors
    /// When it is something else.
    pub fn object(&self, name: &str, value: &Record, nullable: bool) -> Result<(), Error> {
        let value = value.raw();
        if value.as_str().starts_with('{') || nullable && value.is_null() {
            return Ok(());
        }
        let rule = if nullable {
            "be an object or null"
        } else {
            "be an object"
        };
        self.refuse(name, rule, value.as_str())
    }

    /// That none of the members that the type does not name is one that it names, unless it is an explicit null.
    ///
    /// # Errors
    /// When one is: its value would be sent unchecked, or not at all.
    pub fn extra(&self, extra: &Members, known: &[&str]) -> Result<(), Error> {
        let twice = extra
            .iter()
            .find(|(name, value)| !value.is_null() && known.contains(name));
        match twice {
            // It may be a secret: only a member of its own has a type that says so.
            Some((name, _)) => Err(Error::invalid_unseen(
                &self.path(name),
                "be left to its own field or method, or to the SDK, and not be among the members that the contract does not show",
            )
            .of(self.operation)),
            None => Ok(()),
        }
    }

    /// That a text can stand as one segment of a path: not empty, and nothing that climbs or splits the path or carries
    /// parameters of its own, however often a server decodes it.
    ///
    /// # Errors
    /// When it cannot.
    pub fn segment(&self, name: &str, text: &str) -> Result<(), Error> {
        if is_segment(text) {
            return Ok(());
        }
        self.refuse(
            name,
            "be one path segment: not empty, not `.` or `..`, without slashes, semicolons and control characters",
            &format!("{text:?}"),
        )
    }

    /// That at most one of these parameters is set.
    ///
    /// # Errors
    /// When two or more are.
    pub fn exclusive(&self, parameters: &[(&str, bool)]) -> Result<(), Error> {
        let set: Vec<&str> = parameters
            .iter()
            .filter_map(|&(name, set)| set.then_some(name))
            .collect();
        match set.as_slice() {
            [] | [_] => Ok(()),
            [first, others @ ..] => self.refuse(
                first,
                &format!("not be set together with `{}`", others.join("`, `")),
                "both",
            ),
        }
    }

    /// That one instant is not after another.
    ///
    /// # Errors
    /// When it is.
    pub fn ordered(
        &self,
        from: &str,
        start: Option<&Timestamp>,
        to: &str,
        end: Option<&Timestamp>,
    ) -> Result<(), Error> {
        match (start, end) {
            (Some(start), Some(end)) if start > end => self.refuse(
                from,
                &format!("not be after `{to}`"),
                &format!("{start}, after {end}"),
            ),
            _ => Ok(()),
        }
    }

    fn refuse(&self, name: &str, rule: &str, value: &str) -> Result<(), Error> {
        let error = Error::invalid(&self.path(name), rule, value);
        Err(error.of(self.operation))
    }
}

/// Whether a text stays one segment of a path, decoded once, twice, or as often as it takes.
pub(crate) fn is_segment(text: &str) -> bool {
    let mut text = std::borrow::Cow::Borrowed(text);
    loop {
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
}

/// The error of a reference that was parsed strictly.
#[doc(hidden)]
#[must_use]
pub fn bad_reference(name: &str, pattern: &str, text: &str) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        format!(
            "`{name}` must match {pattern}: got {:?}",
            crate::text::one_line(text)
        ),
    )
}
