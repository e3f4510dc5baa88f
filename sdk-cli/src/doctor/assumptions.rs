//! The table of assumptions: how each is judged, and what helps if it doesn't hold.

use serde::Serialize;

use super::facts::{Change, Facts};
use super::judges;
use crate::specs::specs;

/// A response that shows whether an assumption holds.
#[derive(Clone)]
pub(crate) struct Evidence {
    /// `None` if it only explains why there is no verdict.
    pub(crate) holds: Option<bool>,
    pub(crate) text: String,
    /// A better remedy than that of the table.
    pub(crate) remedy: Option<String>,
}

/// How an assumption is judged. Besides, each field that a schema marks with it counts.
enum Judge {
    One(fn(&Facts) -> Option<Evidence>),
    All(fn(&Facts) -> Vec<Evidence>),
    /// Only by the schemas.
    Schema,
    /// Not at all, for this reason.
    Unseen(&'static str),
}

use Judge::{All, One, Schema, Unseen};

/// A row of the table: the ID, the judge, and what helps if the assumption doesn't hold. Where the remedy is empty, the list of
/// assumptions names it.
type Row = (&'static str, Judge, &'static str);

/// One row per entry of `specs/ASSUMPTIONS.md`, in its order.
const ASSUMPTIONS: &[Row] = &[
    ("A01", One(judges::operation_ids), BY_PATH),
    ("A02", All(judges::issuer), ""),
    ("A03", All(judges::token_form), ""),
    ("A04", One(judges::client_authentication), ""),
    ("A05", All(judges::token_fields), ""),
    ("A06", One(judges::token_errors), ""),
    ("A07", Schema, ""),
    ("A08", All(judges::name_only_tokens), ""),
    ("A09", All(judges::name_only_messages), ANY_SUCCESS),
    ("A10", Schema, ""),
    ("A11", Schema, ""),
    ("A12", One(judges::unusable_values), CHECK_YOURSELF),
    ("A40", Unseen(COMMANDS), ""),
    ("A41", All(judges::lifetime), AT_MOST_300),
    ("A42", Unseen("the doctor provokes neither status"), ""),
    ("A43", All(judges::audience), ""),
    ("A44", One(judges::request_ids), ""),
    ("A45", Unseen(COMMANDS), ""),
    ("A46", One(judges::contract_version), ""),
    ("A49", Schema, ""),
    ("A50", Unseen("the doctor cannot provoke either status"), ""),
    ("A51", Unseen(COMMANDS), ""),
    ("A52", Unseen(COMMANDS), ""),
    ("A53", One(judges::empty_cursor), LARGER_PAGES),
    ("A54", Unseen("it concerns commands that are a day old"), ""),
    ("A55", All(judges::error_codes), ""),
    ("A70", All(judges::claims), IN_TESTS),
    ("A71", One(judges::unknown_audience), IN_TESTS),
    ("A72", All(judges::error_bodies), IN_TESTS),
    (
        "A73",
        Unseen("no response names the claim that it depends on"),
        "",
    ),
    ("A74", One(judges::unknown_requests), DOCUMENTED_ONLY),
    ("A75", One(judges::cursors), SAME_QUERY),
    ("A76", All(judges::undocumented_fields), IN_TESTS),
    ("A77", Unseen(COMMANDS), ""),
    ("A78", Unseen(COMMANDS), ""),
    ("A79", Unseen(COMMANDS), ""),
    ("A80", Unseen(COMMANDS), ""),
    ("A81", Unseen(COMMANDS), ""),
    ("A82", All(judges::name_only_bodies), IN_TESTS),
    ("A83", All(judges::publications), OTHER_TYPE),
    ("A84", Unseen(COMMANDS), ""),
    ("A85", One(judges::own_description), WITH_TOKEN),
    ("A86", Unseen("only a known history has known figures"), ""),
];

const COMMANDS: &str = "it concerns commands, and the doctor sends none";
const BY_PATH: &str =
    "nothing to set: IDs are never sent. To find an operation, use its method and path";
const ANY_SUCCESS: &str = "nothing to set: every 2xx is a success, so read the status and the raw body of the response. After \
                           a 400, add the missing header or parameter to the call";
const CHECK_YOURSELF: &str = "nothing to set, but check such values before the call: the service answers them, with figures \
                              that were not requested";
const AT_MOST_300: &str = "nothing to set: the SDK uses a token for at most 300 s, and renews a rejected one once. Your own \
                           `TokenSource` can state the lifetime";
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

/// The verdict on an assumption.
#[derive(Serialize)]
pub(crate) struct Verdict {
    id: &'static str,
    title: &'static str,
    #[serde(rename = "verdict")]
    pub(crate) word: &'static str,
    evidence: String,
    /// Of a contradicted assumption.
    remedy: Option<String>,
}

pub(crate) const CONFIRMED: &str = "confirmed";
pub(crate) const CONTRADICTED: &str = "contradicted";
pub(crate) const NOT_SEEN: &str = "not seen";

/// A verdict on each assumption, in the order of the list.
pub(crate) fn verdicts(facts: &Facts) -> Vec<Verdict> {
    let entries = specs()["assumptions"].as_array().into_iter().flatten();
    let verdicts = entries.map(|entry| {
        let [id, title, general] =
            ["id", "title", "override"].map(|name| entry[name].as_str().unwrap_or_default());
        let row = ASSUMPTIONS.iter().find(|row| row.0 == id);
        let of_shapes = facts.shapes.iter().filter(|(of, _)| *of == id);
        let mut evidence: Vec<Evidence> = of_shapes.map(|(_, it)| it.clone()).collect();
        let changes = facts.changes.iter().filter(|it| it.id == id);
        evidence.extend(changes.map(Change::evidence));
        let mut reason = "no response showed it";
        match row {
            Some((_, One(judge), _)) => evidence.extend(judge(facts)),
            Some((_, All(judge), _)) => evidence.extend(judge(facts)),
            Some((_, Unseen(unseen), _)) => reason = unseen,
            Some((_, Schema, _)) | None => {}
        }
        let own = row.map(|row| row.2).filter(|it| !it.is_empty());
        weigh(id, title, &evidence, reason, own.unwrap_or(general))
    });
    verdicts.collect()
}

/// One contradiction outweighs every confirmation.
fn weigh(
    id: &'static str,
    title: &'static str,
    evidence: &[Evidence],
    reason: &str,
    remedy: &str,
) -> Verdict {
    let has = |holds| evidence.iter().any(|it| it.holds == Some(holds));
    let (word, holds) = match (has(false), has(true)) {
        (true, _) => (CONTRADICTED, Some(false)),
        (_, true) => (CONFIRMED, Some(true)),
        _ => (NOT_SEEN, None),
    };
    let (mut texts, mut own): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for it in evidence.iter().filter(|it| it.holds == holds) {
        if !texts.contains(&it.text.as_str()) {
            texts.push(&it.text);
        }
        if let Some(remedy) = it.remedy.as_deref().filter(|it| !own.contains(it)) {
            own.push(remedy);
        }
    }
    let remedy = if own.is_empty() {
        remedy.to_owned()
    } else {
        own.join("; ")
    };
    Verdict {
        id,
        title,
        word,
        evidence: match texts.len() {
            0 => reason.to_owned(),
            1 | 2 => texts.join("; "),
            all => format!("{}; {}; and {} more", texts[0], texts[1], all - 2),
        },
        remedy: (word == CONTRADICTED).then_some(remedy),
    }
}
