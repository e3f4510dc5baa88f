//! The assumptions that a server can contradict.

use std::fmt;
use std::str::FromStr;

/// A row per assumption: its id in the register, and what a server does that contradicts it.
macro_rules! assumptions {
    ($($id:ident $world:literal)*) => {
        /// An assumption of the register, `specs/ASSUMPTIONS.md`, that [`Builder::contradict`](crate::Builder::contradict)
        /// turns over. Each variant says what its world does; everything else stays as it is.
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
            $(#[doc = $world] $id,)*
        }

        impl Assumption {
            /// Every assumption that can be contradicted.
            pub fn all() -> impl Iterator<Item = Assumption> {
                [$(Assumption::$id),*].into_iter()
            }

            /// The id in the register.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Assumption::$id => stringify!($id),)*
                }
            }
        }

        /// The end of the guide.
        macro_rules! table {
            () => {
                concat!("| | this world |\n|---|---|\n", $("| ", stringify!($id), " |", $world, " |\n"),*)
            };
        }
        pub(crate) use table;
    };
}

assumptions! {
    A01 " The `/openapi.yaml` of each application has other operation ids."
    A02 " The token endpoint is the Platform's `/identity/token`, which `/.well-known/oauth-authorization-server` names; `POST /oauth/token` is a 404."
    A03 " The audience comes in the form field `resource`, without which there is no token; `audience` is not read."
    A04 " HTTP Basic is an `invalid_client`; only the form fields `client_id` and `client_secret` work."
    A05 " The token is in the member `token`; there is no `access_token`."
    A06 " A refused exchange, unless for `invalid_target`, has the body `{\"reason\", \"detail\"}`."
    A07 " Pages of people, organizations, tasks, intake submissions and the timeline have `data` instead of `items`."
    A08 " Accounting's `GET /ready` needs no token."
    A09 " Accounting's `GET /overview` is a 204 without a body."
    A10 " The `displayName` of an attention item's owner and the `label` of a navigation section are `{\"text\": \"...\"}`."
    A11 " The `publicReference` of an intake detail, and of an attention item's owner, are lower case with `_` for `-`."
    A12 " The funnel takes a window whose `from` is after its `to`, and swaps them."
    A41 " Tokens promise 3600 seconds, in `expires_in` and in their `exp`, and end when they always do."
    A43 " The audience of each application is its origin with a slash after it, unless another was set."
    A44 " Replies have `x-correlation-id` instead of `x-request-id`; the Platform's envelope keeps its `requestId`."
    A46 " The CRM's metadata has `apiVersion` instead of `version`."
    A49 " The `recordVersion` of attention items is 9223372036854775808."
    A53 " The `nextCursor` of a first page that has a successor is empty; opportunities, which are documented, stay."
    A55 " The `code` of error bodies of CRM, Calendar and Accounting is a number, except the documented one."
    A70 " The claims `scope` and `client_id` are called `scp` and `azp`."
    A71 " An unknown audience is an `invalid_request` instead of an `invalid_target`."
    A72 " Error bodies of CRM, Calendar and Accounting are in an object `error`."
    A74 " An unknown query parameter is a 400."
    A75 " A cursor is bound to the page size too: with another `limit` it is a 400."
    A76 " Search results, actors, counterparties, invoices and apps have `results` instead of `items`."
    A82 " Accounting's `GET /overview` is an array."
    A83 " Resource types of publications are plural: `people`, `organizations`, `events`, `counterparties`."
    A85 " `GET /openapi.yaml` without a token for the application is a 401."
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

/// A text that is no id of an assumption that can be contradicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAssumption(String);

impl fmt::Display for UnknownAssumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = Assumption::all().map(Assumption::id).collect();
        let known = known.join(", ");
        write!(f, "{:?} cannot be contradicted, only {known}", self.0)
    }
}

impl std::error::Error for UnknownAssumption {}
