//! The evidence on each assumption, and the verdict.

use serde::Serialize;
use serde_json::Value;

use super::assumptions::{ASSUMPTIONS, Judge};
use super::facts::{Change, Facts, Seen};
use super::shape::named;
use crate::specs::specs;

/// A response that shows whether an assumption holds.
#[derive(Clone)]
pub(crate) struct Evidence {
    /// `None` if it only explains why there is no verdict.
    pub(crate) holds: Option<bool>,
    pub(crate) text: String,
    /// A better remedy than that of the list.
    pub(crate) remedy: Option<String>,
}

pub(super) fn judged(holds: bool, text: impl Into<String>) -> Evidence {
    Evidence {
        holds: Some(holds),
        text: text.into(),
        remedy: None,
    }
}

/// A contradiction with a better remedy than that of the list.
pub(super) fn contradicted(text: impl Into<String>, remedy: impl Into<String>) -> Evidence {
    Evidence {
        remedy: Some(remedy.into()),
        ..judged(false, text)
    }
}

/// The reason why there is no verdict.
pub(super) fn unclear(text: impl Into<String>) -> Evidence {
    Evidence {
        holds: None,
        ..judged(false, text)
    }
}

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
        let [id, title, remedy] =
            ["id", "title", "override"].map(|name| entry[name].as_str().unwrap_or_default());
        let row = ASSUMPTIONS.iter().find(|row| row.0 == id);
        let of_shapes = facts.shapes.iter().filter(|(of, _)| *of == id);
        let mut evidence: Vec<Evidence> = of_shapes.map(|(_, it)| it.clone()).collect();
        let changes = facts.changes.iter().filter(|it| it.id == id);
        evidence.extend(changes.map(Change::evidence));
        let mut reason = "no response showed it";
        match row.map(|row| &row.1) {
            Some(Judge::Each(names, judge)) => evidence.extend(each(facts, names, *judge)),
            Some(Judge::Both(first, second, judge)) => {
                if let (Some(first), Some(second)) = (facts.get(first), facts.get(second))
                    && let Some(holds) = judge(first, second)
                {
                    let text = format!("{}, {}", first.outline(), second.outline());
                    evidence.push(judged(holds, text));
                }
            }
            Some(Judge::Tokens(judge)) => {
                evidence.extend(facts.tokens.iter().filter_map(|it| judge(facts, it)));
            }
            Some(Judge::Facts(judge)) => evidence.extend(judge(facts)),
            Some(Judge::Unseen(unseen)) => reason = unseen,
            Some(Judge::Schema) | None => {}
        }
        weigh(id, title, &evidence, reason, remedy.trim_end_matches('.'))
    });
    verdicts.collect()
}

/// The evidence of single responses, by their names.
pub(super) fn each(
    facts: &Facts,
    names: &str,
    judge: fn(&Seen, &Value) -> Option<bool>,
) -> Vec<Evidence> {
    let seen = names.split(", ").filter_map(|name| facts.get(name));
    let evidence = seen.filter_map(|seen| {
        let body = seen.json();
        let fields = body.as_ref().map_or("no JSON".to_owned(), named);
        let holds = judge(seen, &body.unwrap_or_default())?;
        let text = format!("{} with {fields}", seen.outline());
        Some(judged(holds, text))
    });
    evidence.collect()
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
