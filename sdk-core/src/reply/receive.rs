//! What a call returns, by the status and the body of its reply.

use std::cell::Cell;
use std::collections::BTreeMap;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use crate::json::raw::RawJson;
use crate::macros::debug_fields;
use crate::reply::decode::{FromReply, Shown, Terms, Unreadable, decode};
use crate::reply::web::is_web_page;

/// What a reply says of its body.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    status: u16,
    /// The media type, without its parameters.
    media_type: Option<&'a str>,
}

impl<'a> Head<'a> {
    pub(crate) fn of(status: u16, headers: &'a HeaderMap) -> Self {
        let media_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let media_type = media_type.and_then(|it| it.split(';').next());
        let media_type = media_type.map(str::trim).filter(|it| !it.is_empty());
        Self { status, media_type }
    }
}

/// A 2xx reply that is about to be read.
#[derive(Clone)]
pub struct Received<'a> {
    head: Head<'a>,
    body: &'a Bytes,
    terms: Terms,
    shown: Shown<'a>,
    /// Whether it differs from its schema, which was tolerated.
    mismatch: &'a Cell<bool>,
}

impl Received<'_> {
    /// Its status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// Refuses the page of a portal or a proxy, which no type would show to be one.
    fn not_a_web_page(&self) -> Result<(), Unreadable> {
        let asked = self.terms.accept.is_some_and(|it| it.contains("html"));
        if !asked && is_web_page(self.head.media_type, self.body) {
            return Err(Unreadable::Malformed("it is a web page".to_owned()));
        }
        Ok(())
    }

    /// Refuses JSON in place of another media type if the contract does not show the status either: it says something else.
    fn not_about_it(&self) -> Result<(), Unreadable> {
        let asked = self.terms.accept.is_none_or(is_json);
        if !asked && self.is_json() && !self.terms.statuses.contains(&self.status()) {
            let message = "it is JSON with a status that the contract does not show";
            return Err(Unreadable::Malformed(message.to_owned()));
        }
        Ok(())
    }

    fn is_json(&self) -> bool {
        self.head.media_type.is_some_and(is_json)
    }

    /// Whether its operation succeeds with something other than JSON, or with nothing.
    fn may_be_no_json(&self) -> bool {
        let succeeds = |status: &&u16| (200..300).contains(*status);
        let mut successes = self.terms.statuses.iter().filter(succeeds).peekable();
        let is_empty = successes.peek().is_some() && successes.all(|it| matches!(it, 204 | 205));
        (is_empty || self.terms.accept.is_some()) && self.terms.schema_version.is_none()
    }

    /// Reads a reply with a status that the contract does not show, whose schema nobody knows.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn undocumented(&self) -> Result<RawJson, Unreadable> {
        let mut reply = self.clone();
        reply.terms.schema_version = None;
        RawJson::receive(&reply)
    }
}

// Without the body, which may be confidential.
debug_fields! { Received<'a> |it| status: it.head.status }

/// Whether a media type, or one of several, is JSON.
fn is_json(media_types: &str) -> bool {
    media_types.to_ascii_lowercase().contains("json")
}

/// What a call can return: JSON of one type, or what the macro `replies!` declares, or what is no JSON at all.
pub trait Receive: Sized + Send + 'static {
    /// Reads a reply.
    ///
    /// # Errors
    /// If the body does not fit.
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable>;
}

impl<T: FromReply> Receive for T {
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        let read = || decode(reply.body, reply.terms, reply.shown);
        let decoded = match T::absent().filter(|_| reply.may_be_no_json()) {
            // Raw JSON of what the operation's own type would take as it is.
            Some(absent) => {
                Bytes::receive(reply)?;
                let must_be_json = reply.terms.accept.is_some_and(is_json);
                match reply.is_json().then(read) {
                    Some(decoded) if decoded.is_ok() || must_be_json => decoded,
                    _ => Ok((absent, false)),
                }
            }
            None => read(),
        };
        let (value, mismatch) = decoded?;
        reply.mismatch.set(mismatch);
        Ok(value)
    }
}

impl Receive for () {
    /// The success of an operation that returns nothing, whatever came with it, unless something in between sent it.
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.not_a_web_page()
    }
}

impl Receive for Bytes {
    /// A body of another media type, as received.
    fn receive(reply: &Received<'_>) -> Result<Self, Unreadable> {
        reply.not_a_web_page()?;
        reply.not_about_it()?;
        Ok(reply.body.clone())
    }
}

macro_rules! json_replies {
    ($($json:ty)*) => { $( impl FromReply for $json {} )* };
}

json_replies!(String bool i64);

impl<T: DeserializeOwned + Send + 'static> FromReply for Vec<T> {}
impl<T: DeserializeOwned + Send + 'static> FromReply for Option<T> {}
impl<T: DeserializeOwned + Send + 'static> FromReply for BTreeMap<String, T> {}

/// Reads a reply. The flag says that it differs from its schema, which was tolerated.
pub(crate) fn receive<T: Receive>(
    head: Head<'_>,
    body: &Bytes,
    terms: Terms,
    shown: Shown<'_>,
) -> Result<(T, bool), Unreadable> {
    let mismatch = Cell::new(false);
    let value = T::receive(&Received {
        head,
        body,
        terms,
        shown,
        mismatch: &mismatch,
    })?;
    Ok((value, mismatch.get()))
}

/// Declares the replies of an operation that succeeds in several ways. Used by generated code.
///
/// Each variant has its status, or several (`200 | 201`), and the type of its body, if it has one. `Other` keeps a 2xx that
/// the contract does not show.
#[doc(hidden)]
#[macro_export]
macro_rules! replies {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident $(($body:ty))? = $status:pat ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant $(($body))?, )*
            /// Another success, which the contract does not show.
            Other {
                /// The HTTP status.
                status: u16,
                /// The body as received; null if there was none.
                body: $crate::RawJson,
            },
        }

        impl $crate::codegen::Receive for $name {
            fn receive(
                reply: &$crate::codegen::Received<'_>,
            ) -> ::std::result::Result<Self, $crate::codegen::Unreadable> {
                match reply.status() {
                    $( $status => $crate::replies!(@read $name $variant reply $($body)?), )*
                    status => reply.undocumented().map(|body| Self::Other { status, body }),
                }
            }
        }

        impl $crate::codegen::serde::Serialize for $name {
            /// Writes the body; null if there is none.
            fn serialize<S: $crate::codegen::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                match self {
                    $( $crate::replies!(@variant $name $variant body $($body)?) =>
                        $crate::replies!(@write serializer body $($body)?), )*
                    Self::Other { body, .. } => $crate::codegen::serde::Serialize::serialize(body, serializer),
                }
            }
        }
    };

    (@read $name:ident $variant:ident $reply:ident) => {
        <() as $crate::codegen::Receive>::receive($reply).map(|()| $name::$variant)
    };
    (@read $name:ident $variant:ident $reply:ident $body:ty) => {
        <$body as $crate::codegen::Receive>::receive($reply).map($name::$variant)
    };

    (@variant $name:ident $variant:ident $value:ident) => { $name::$variant };
    (@variant $name:ident $variant:ident $value:ident $body:ty) => { $name::$variant($value) };

    (@write $serializer:ident $value:ident) => { $serializer.serialize_unit() };
    (@write $serializer:ident $value:ident $body:ty) => {
        $crate::codegen::serde::Serialize::serialize($value, $serializer)
    };
}
