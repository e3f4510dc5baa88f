//! The table of assumptions: how each is judged.

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

/// One row per entry of `specs/ASSUMPTIONS.md`, in its order.
pub(super) const ASSUMPTIONS: &[(&str, Judge)] = &[
    ("A01", Judge::Facts(judges::operation_ids)),
    ("A02", Tokens(judges::issuer)),
    ("A03", Tokens(judges::token_form)),
    ("A04", Each("no credential", judges::rejects)),
    ("A05", Tokens(judges::token_fields)),
    ("A06", Each("an unknown grant type", judges::token_error)),
    ("A07", Schema),
    ("A08", Judge::Facts(judges::name_only_tokens)),
    ("A09", Each(NAME_ONLY, judges::any_json)),
    ("A10", Schema),
    ("A11", Schema),
    (
        "A12",
        Both("a window", "a reversed window", judges::unusable_value),
    ),
    ("A40", Unseen(COMMANDS)),
    ("A41", Tokens(judges::lifetime)),
    ("A42", Unseen("the doctor provokes neither status")),
    ("A43", Tokens(judges::audience)),
    ("A44", Judge::Facts(judges::request_ids)),
    ("A45", Unseen(COMMANDS)),
    ("A46", Judge::Facts(judges::contract_version)),
    ("A49", Schema),
    ("A50", Unseen("the doctor cannot provoke either status")),
    ("A51", Unseen(COMMANDS)),
    ("A52", Unseen(COMMANDS)),
    ("A53", Judge::Facts(judges::empty_cursor)),
    ("A54", Unseen("it concerns commands that are a day old")),
    ("A55", Each(REJECTIONS, judges::error_code)),
    ("A70", Tokens(judges::claims)),
    ("A71", Each("an unknown audience", judges::unknown_audience)),
    ("A72", Each(REJECTIONS, judges::error_body)),
    (
        "A73",
        Unseen("no response names the claim that it depends on"),
    ),
    (
        "A74",
        Both(
            "an unknown parameter",
            "an unknown path",
            judges::unknown_requests,
        ),
    ),
    (
        "A75",
        Both(
            "a cursor with another limit",
            "a cursor with another filter",
            judges::cursors,
        ),
    ),
    ("A76", Judge::Facts(judges::undocumented_fields)),
    ("A77", Unseen(COMMANDS)),
    ("A78", Unseen(COMMANDS)),
    ("A79", Unseen(COMMANDS)),
    ("A80", Unseen(COMMANDS)),
    ("A81", Unseen(COMMANDS)),
    ("A82", Each(NAME_ONLY, judges::object)),
    ("A83", Judge::Facts(judges::publications)),
    ("A84", Unseen(COMMANDS)),
    ("A85", Each("openapiPath", judges::open)),
    ("A86", Unseen("only a known history has known figures")),
];

pub(super) const NAME_ONLY: &str =
    "getAccountingReadiness, getAccountingActor, getAccountingOverview, listInvoices";
/// One rejection of each application whose error bodies are undocumented.
const REJECTIONS: &str = "an unknown person, the Calendar, Accounting without a token";

const COMMANDS: &str = "it concerns commands, and the doctor sends none";
