//! Typed access to the members of a JSON body; a wrong type is refused. Null is a wrong type, except after
//! [`Fields::or_null`].

use jiff::Timestamp;

use crate::data::reference::Kind;
use crate::json::{Json, Members};
use crate::params;
use crate::refusal::Refusal;

/// The members of an object.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    members: &'a Members,
    or_null: bool,
}

impl<'a> Fields<'a> {
    /// The members of a body, which must be an object.
    pub(crate) fn of(body: &'a Json) -> Result<Fields<'a>, Refusal> {
        match body {
            Json::Object(members) => Ok(Fields::members(members)),
            _ => Err(Refusal::invalid("the body must be an object")),
        }
    }

    /// The members of an object that is there already.
    pub(crate) fn members(members: &'a Members) -> Fields<'a> {
        Fields {
            members,
            or_null: false,
        }
    }

    /// The same members where null counts as left out: the type is "or null", or the contract does not show it.
    pub(crate) fn or_null(self) -> Fields<'a> {
        Fields {
            or_null: true,
            ..self
        }
    }

    fn get(self, name: &str) -> Option<&'a Json> {
        let member = self.members.get(name);
        member.filter(|value| !self.or_null || **value != Json::Null)
    }

    /// The names of all members.
    pub(crate) fn names(self) -> impl Iterator<Item = &'a str> {
        self.members.keys().map(String::as_str)
    }

    /// Whether the member is present with a value.
    pub(crate) fn gives(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The same members, or a refusal if this one is missing.
    pub(crate) fn required(self, name: &str) -> Result<Fields<'a>, Refusal> {
        let given = self.gives(name).then_some(self);
        given.ok_or_else(|| Refusal::invalid(format!("{name}: missing")))
    }

    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.typed(name, "a string", |value| match value {
            Json::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// A text that must be present and not empty.
    pub(crate) fn required_text(self, name: &str) -> Result<&'a str, Refusal> {
        self.required(name)?
            .text(name)?
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| Refusal::invalid(format!("{name}: must not be empty")))
    }

    pub(crate) fn integer(self, name: &str) -> Result<Option<i64>, Refusal> {
        self.typed(name, "a whole number of 64 bits", Json::as_i64)
    }

    pub(crate) fn array(self, name: &str) -> Result<Option<&'a [Json]>, Refusal> {
        self.typed(name, "an array", |value| match value {
            Json::Array(items) => Some(items.as_slice()),
            _ => None,
        })
    }

    pub(crate) fn instant(self, name: &str) -> Result<Option<Timestamp>, Refusal> {
        params::date_time(name, self.text(name)?)
    }

    /// A reference of the documented form.
    pub(crate) fn reference(self, name: &str, kind: Kind) -> Result<Option<&'a str>, Refusal> {
        self.text(name)?
            .map(|text| kind.check(name, text).map(|()| text))
            .transpose()
    }

    pub(crate) fn one_of(self, name: &str, values: &[&str]) -> Result<Option<&'a str>, Refusal> {
        params::one_of(name, self.text(name)?, values)
    }

    fn typed<T>(
        self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(&'a Json) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        self.get(name)
            .map(|value| {
                read(value).ok_or_else(|| Refusal::invalid(format!("{name}: must be {wanted}")))
            })
            .transpose()
    }
}
