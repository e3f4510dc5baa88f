use std::fmt;

use crate::named::named;

/// Declares kinds of errors: each with its doc, its name for metrics and traces, and its text for messages.
macro_rules! kinds {
    ($(#[$about:meta])* pub enum $kinds:ident {
        $($(#[$meta:meta])* $kind:ident = $name:literal, $text:literal;)*
    }) => {
        $crate::named::named! {
            $(#[$about])*
            #[non_exhaustive]
            pub enum $kinds {
                $($(#[$meta])* $kind = $name;)*
            }
        }

        impl $kinds {
            /// All kinds of this release, to register their counters, for example.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The text for messages.
            pub(super) const fn text(self) -> &'static str {
                match self {
                    $(Self::$kind => $text,)*
                }
            }
        }
    };
}

pub(crate) use kinds;

kinds! {
    /// The kinds of failure. More may come.
    pub enum ErrorKind {
        /// A setting of the environment or the builder is missing or invalid. Nothing was sent.
        Configuration = "configuration", "configuration";
        /// A parameter or body breaks a rule of the contract. Nothing was sent.
        InvalidInput = "invalid_input", "invalid input";
        /// No token was available for a transient reason: the token endpoint is down or slow.
        TokenUnavailable = "token_unavailable", "no token";
        /// The credentials or the token were not accepted (401, or a refused exchange).
        Unauthenticated = "unauthenticated", "not authenticated";
        /// An entitlement, a scope or a workspace binding is missing (403). Checks of single records and business rules
        /// remain with the owning application (contract, Authentication).
        Forbidden = "forbidden", "forbidden";
        /// The application found the request invalid (400, 422, or another 4xx without a kind of its own).
        Rejected = "rejected", "rejected";
        /// No accessible record was found (404): it does not exist, or the caller may not see it. Only the owning
        /// application knows which (contract, Authentication).
        NotFound = "not_found", "not found";
        /// Invalid state, stale record version, time conflict or idempotency conflict (409).
        Conflict = "conflict", "conflict";
        /// The application asks for fewer requests (429).
        RateLimited = "rate_limited", "rate limited";
        /// A dependency or required configuration of the application is unavailable (5xx, 408).
        Unavailable = "unavailable", "unavailable";
        /// A status that the contract does not document, such as a redirect.
        UnexpectedStatus = "unexpected_status", "unexpected status";
        /// The connection could not be made. Nothing was sent.
        Connect = "connect", "no connection";
        /// The connection broke after the request may have been sent.
        Transport = "transport", "connection lost";
        /// The attempt's timeout or the call's deadline passed.
        Timeout = "timeout", "timeout";
        /// The reply could not be read: not JSON, truncated, too large, or of another schema.
        Decode = "decode", "unreadable reply";
        /// The reply has another `schemaVersion` than the one this SDK was built for.
        SchemaVersion = "schema_version", "unexpected schema version";
        /// A walk cannot continue: a cursor was repeated, or a page has no items.
        Pagination = "pagination", "pagination";
        /// A prepared command cannot be sent: it was changed, or belongs to another client or a later SDK. Nothing was sent.
        PreparedCommand = "prepared_command", "prepared command";
        /// A value does not fit the caller's own type; no call was under way.
        Value = "value", "value";
    }
}

impl ErrorKind {
    /// The kind of a response that is an error with this status.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Unauthenticated,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            407 => Self::Connect,
            408 | 500..=599 => Self::Unavailable,
            409 => Self::Conflict,
            429 => Self::RateLimited,
            400..=499 => Self::Rejected,
            _ => Self::UnexpectedStatus,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

named! {
    /// What is known about the effect of a failed call. There will be no fourth case, so a `match` needs no wildcard arm.
    /// [The guide](crate::guide::unknown_effect) says what to do with each.
    ///
    /// ```
    /// use sdk_core::{Effect, Error, PreparedCommand};
    ///
    /// /// The command to look into, if there is one.
    /// fn in_doubt(error: Error) -> Option<PreparedCommand> {
    ///     match error.effect() {
    ///         Effect::NotSent | Effect::Refused => None,
    ///         Effect::Unknown => error.into_command(),
    ///     }
    /// }
    /// ```
    pub enum Effect {
        /// The server did nothing with it: it was refused locally, no connection was made, or an HTTP/2 server said that it did
        /// not process it.
        NotSent = "not_sent";
        /// The server refused it (any 4xx): it had no effect (assumed: A52). A refusal after an attempt whose effect is
        /// unknown is `Unknown`: a DELETE that was carried out finds nothing when it is retried. So is that of a
        /// [command that was sent](crate::PreparedCommand::was_sent) before, with or without a key: a service that has
        /// forgotten the key, or looks at the request first, refuses what it has carried out.
        Refused = "refused";
        /// It may have happened: a 5xx, a timeout, a lost, truncated or unreadable reply.
        Unknown = "unknown";
    }
}

impl Effect {
    /// The effect of a call whose response is an error with this status.
    pub(crate) fn of_status(status: u16) -> Self {
        // Assumed: A52. Any other status may follow the effect.
        if (400..500).contains(&status) {
            Self::Refused
        } else {
            Self::Unknown
        }
    }

    /// The effect of two attempts together: an attempt cannot undo another one.
    pub(crate) fn or(self, other: Self) -> Self {
        std::cmp::max_by_key(self, other, |effect| *effect as u8)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSent => "not sent",
            Self::Refused => "refused",
            Self::Unknown => "effect unknown",
        })
    }
}
