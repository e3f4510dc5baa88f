//! The assumptions that a server can contradict.

use std::fmt;
use std::str::FromStr;

/// One row per assumption: its ID, and the behavior of a server that contradicts it.
macro_rules! assumptions {
    ($($id:ident $behavior:literal)*) => {
        /// An assumption in `specs/ASSUMPTIONS.md` that [`Builder::contradict`](crate::Builder::contradict) can turn
        /// off. Each variant describes the server's changed behavior. All other behavior stays the same.
        ///
        /// ```
        /// use sdk_reference_server::Assumption;
        ///
        /// assert_eq!("a07".parse(), Ok(Assumption::A07));
        /// let error = "A7".parse::<Assumption>().unwrap_err();
        /// assert!(error.to_string().contains("A01, A02, "));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Assumption {
            $(#[doc = $behavior] $id,)*
        }

        impl Assumption {
            /// Returns every assumption that a server can contradict.
            pub fn all() -> impl Iterator<Item = Assumption> {
                [$(Assumption::$id),*].into_iter()
            }

            /// Returns the ID in `specs/ASSUMPTIONS.md`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Assumption::$id => stringify!($id),)*
                }
            }
        }
    };
}

assumptions! {
    A01 " The operation IDs in each application's `/openapi.yaml` differ from the contract's."
    A02 " The token endpoint is the Platform's `/identity/token`, according to its `/.well-known/oauth-authorization-server`; `POST /oauth/token` returns 404."
    A03 " The audience is in the `resource` form field, which is required; `audience` is ignored."
    A04 " HTTP Basic fails with `invalid_client`; only the `client_id` and `client_secret` form fields work."
    A05 " The token is in the `token` field; there is no `access_token`."
    A06 " A rejected exchange has the body `{\"reason\", \"detail\"}`, unless its error is `invalid_target`."
    A07 " Pages of people, organizations, tasks, intake submissions and the timeline have a `data` field instead of `items`."
    A08 " Accounting's `GET /ready` needs no token."
    A09 " Accounting's `GET /overview` returns 204 without a body."
    A10 " The `displayName` of an attention item's owner and the `label` of a navigation section are objects: `{\"text\": \"...\"}`."
    A11 " The `publicReference` of an intake detail and of an attention item's owner is in lower case, with `_` for `-`."
    A12 " The funnel accepts a window whose `from` is after its `to`, and swaps them."
    A41 " Tokens claim a lifetime of 3600 seconds, in `expires_in` and in `exp`, but expire at their usual time."
    A43 " The audience of each application is its origin with a trailing slash, unless you set another audience."
    A44 " Responses have an `x-correlation-id` header instead of `x-request-id`; the Platform's error envelope still has `requestId`."
    A46 " The CRM's metadata has `apiVersion` instead of `version`."
    A49 " The `recordVersion` of attention items is 9223372036854775808."
    A53 " If more pages follow, the `nextCursor` of the first page is empty, except for opportunities, which are documented."
    A55 " In the error bodies of CRM, Calendar and Accounting, `code` is a number, except for the documented code."
    A70 " The `scope` and `client_id` claims are named `scp` and `azp`."
    A71 " An unknown audience fails with `invalid_request` instead of `invalid_target`."
    A72 " The error bodies of CRM, Calendar and Accounting are inside an `error` object."
    A74 " An unknown query parameter returns 400."
    A75 " A cursor is also bound to the page size; a different `limit` returns 400."
    A76 " Search results, actors, counterparties, invoices and apps have a `results` field instead of `items`."
    A82 " Accounting's `GET /overview` returns an array."
    A83 " Resource types of publications are plural: `people`, `organizations`, `events`, `counterparties`."
    A85 " `GET /openapi.yaml` without a token for the application returns 401."
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl FromStr for Assumption {
    type Err = UnknownAssumption;

    fn from_str(text: &str) -> Result<Assumption, UnknownAssumption> {
        let named = |known: &Assumption| known.id().eq_ignore_ascii_case(text);
        let unknown = || UnknownAssumption(text.to_owned());
        Assumption::all().find(named).ok_or_else(unknown)
    }
}

/// The error for a string that is not the ID of an assumption in [`Assumption`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAssumption(String);

impl fmt::Display for UnknownAssumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = Assumption::all().map(Assumption::id).collect();
        let known = known.join(", ");
        write!(
            f,
            "{:?} is not an assumption that can be contradicted; the choices are {known}",
            self.0
        )
    }
}

impl std::error::Error for UnknownAssumption {}
