//! What a call returns, by the status and the body of its reply.

use std::cell::Cell;
use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::json::raw::RawJson;
use crate::reply::decode::{FromReply, Shown, Terms, Unreadable, decode};
use crate::shown::shows;

/// A 2xx reply that is about to be read.
#[derive(Clone)]
pub struct Received<'a> {
    status: u16,
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
        self.status
    }

    /// Refuses the page of a portal or a proxy, which no type would show to be one.
    fn not_a_web_page(&self) -> Result<(), Unreadable> {
        let body = self.body.trim_ascii_start();
        let begins = |with: &str| {
            let start = body.get(..with.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
        };
        if !self.terms.takes_html && (begins("<!doctype html") || begins("<html")) {
            return Err(Unreadable::Malformed("it is a web page".to_owned()));
        }
        Ok(())
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
shows! { Received<'a> |it| status: it.status }

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
        let (value, mismatch) = decode(reply.body, reply.terms, reply.shown)?;
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
    status: u16,
    body: &Bytes,
    terms: Terms,
    shown: Shown<'_>,
) -> Result<(T, bool), Unreadable> {
    let mismatch = Cell::new(false);
    let value = T::receive(&Received {
        status,
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
        ::std::result::Result::Ok($name::$variant)
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
