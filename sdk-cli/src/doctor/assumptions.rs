//! The table of assumptions: the judgment of each, and the remedy if it doesn't hold.

use serde_json::Value;

use super::facts::{Facts, Seen, Token};
use super::judges;
use super::verdicts::Evidence;

/// How an assumption is judged. Besides, each field that a schema marks with it counts, and each setting that contradicts it.
pub(super) enum Judge {
    /// Each of these responses, with its JSON.
    Each(&'static str, fn(&Seen, &Value) -> Option<bool>),
    /// Two responses together.
    Both(&'static str, &'static str, fn(&Seen, &Seen) -> Option<bool>),
    /// Each token.
    Tokens(fn(&Facts, &Token) -> Option<Evidence>),
    Facts(fn(&Facts) -> Vec<Evidence>),
    /// Only the schemas.
    Schema,
    /// None, for this reason.
    Unseen(&'static str),
}

use Judge::{Both, Each, Schema, Tokens, Unseen};

/// A row of the table: the ID, the judge, and the remedy if the assumption doesn't hold. If the remedy is empty, the list of
/// assumptions names it.
pub(super) type Row = (&'static str, Judge, &'static str);

/// One row per entry of `specs/ASSUMPTIONS.md`, in its order.
pub(super) const ASSUMPTIONS: &[Row] = &[
    ("A01", Judge::Facts(judges::operation_ids), BY_PATH),
    ("A02", Tokens(judges::issuer), ""),
    ("A03", Tokens(judges::token_form), ""),
    ("A04", Each("no credential", judges::rejects), ""),
    ("A05", Tokens(judges::token_fields), ""),
    (
        "A06",
        Each("an unknown grant type", judges::token_error),
        "",
    ),
    ("A07", Schema, ""),
    ("A08", Judge::Facts(judges::name_only_tokens), ""),
    ("A09", Each(NAME_ONLY, judges::any_json), ANY_SUCCESS),
    ("A10", Schema, ""),
    ("A11", Schema, ""),
    (
        "A12",
        Both("a window", "a reversed window", judges::unusable_value),
        CHECK_YOURSELF,
    ),
    ("A40", Unseen(COMMANDS), ""),
    ("A41", Tokens(judges::lifetime), AT_MOST_300),
    ("A42", Unseen("the doctor provokes neither status"), ""),
    ("A43", Tokens(judges::audience), ""),
    ("A44", Judge::Facts(judges::request_ids), ""),
    ("A45", Unseen(COMMANDS), ""),
    ("A46", Judge::Facts(judges::contract_version), METADATA),
    ("A49", Schema, ""),
    ("A50", Unseen("the doctor cannot provoke either status"), ""),
    ("A51", Unseen(COMMANDS), ""),
    ("A52", Unseen(COMMANDS), ""),
    ("A53", Judge::Facts(judges::empty_cursor), LARGER_PAGES),
    ("A54", Unseen("it concerns commands that are a day old"), ""),
    ("A55", Each(REJECTIONS, judges::error_code), ""),
    ("A70", Tokens(judges::claims), NO_CLAIMS),
    (
        "A71",
        Each("an unknown audience", judges::unknown_audience),
        IN_TESTS,
    ),
    ("A72", Each(REJECTIONS, judges::error_body), IN_TESTS),
    (
        "A73",
        Unseen("no response names the claim that it depends on"),
        "",
    ),
    (
        "A74",
        Both(
            "an unknown parameter",
            "an unknown path",
            judges::unknown_requests,
        ),
        DOCUMENTED_ONLY,
    ),
    (
        "A75",
        Both(
            "a cursor with another limit",
            "a cursor with another filter",
            judges::cursors,
        ),
        SAME_QUERY,
    ),
    ("A76", Judge::Facts(judges::undocumented_fields), BY_NAME),
    ("A77", Unseen(COMMANDS), ""),
    ("A78", Unseen(COMMANDS), ""),
    ("A79", Unseen(COMMANDS), ""),
    ("A80", Unseen(COMMANDS), ""),
    ("A81", Unseen(COMMANDS), ""),
    ("A82", Each(NAME_ONLY, judges::object), IN_TESTS),
    ("A83", Judge::Facts(judges::publications), OTHER_TYPE),
    ("A84", Unseen(COMMANDS), ""),
    ("A85", Each("openapiPath", judges::open), WITH_TOKEN),
    ("A86", Unseen("only a known history has known figures"), ""),
];

pub(super) const NAME_ONLY: &str =
    "getAccountingReadiness, getAccountingActor, getAccountingOverview, listInvoices";
/// One rejection of each application whose error bodies are undocumented.
const REJECTIONS: &str = "an unknown person, the Calendar, Accounting without a token";

const COMMANDS: &str = "it concerns commands, and the doctor sends none";
const BY_PATH: &str =
    "nothing to set: IDs are never sent. To find an operation, use its method and path";
const ANY_SUCCESS: &str = "nothing to set: every 2xx is a success, so read the status and the raw body of the response. After \
                           a 400, add the missing header or parameter to the call";
const CHECK_YOURSELF: &str = "nothing to set, but check such values before the call: the service answers them, with figures \
                              that were not requested";
const AT_MOST_300: &str = "nothing to set: the SDK uses a token for at most 300 s, and renews a rejected one once. Your own \
                           `TokenSource` can state the lifetime";
const METADATA: &str = "read the version from `metadata` in the report of `check_contract()`";
const NO_CLAIMS: &str =
    "nothing to set: the SDK reads only `exp` and `iat`, so don't rely on other claims";
const BY_NAME: &str = "nothing to set: read the fields that came by their names. In tests, have the reference server send \
                       the same with a fault that has a body";
const LARGER_PAGES: &str =
    "`items()` ends early: set `limit` to 50, and ask the operator how to get the next page";
const IN_TESTS: &str = "nothing to set: the SDK doesn't rely on it. If your service does, have the reference server answer \
                        the same in its tests, with a fault that has a body";
const DOCUMENTED_ONLY: &str =
    "nothing to set: send only parameters and paths that the contract documents";
const SAME_QUERY: &str =
    "nothing to set: continue a list with the limit and the filters that it began with";
const OTHER_TYPE: &str = "read publications by the resource type that is there";
const WITH_TOKEN: &str = "nothing to set: send a token to read the description, by `raw_call`";
