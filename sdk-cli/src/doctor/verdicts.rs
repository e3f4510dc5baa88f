//! The evidence on each assumption, and the verdict.

use serde::Serialize;

use super::facts::Facts;
use super::judges::judge;
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
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    #[serde(rename = "verdict")]
    pub(crate) word: &'static str,
    pub(crate) evidence: String,
    /// Of a contradicted assumption.
    pub(crate) remedy: Option<String>,
}

pub(crate) const CONFIRMED: &str = "confirmed";
pub(crate) const CONTRADICTED: &str = "contradicted";
pub(crate) const NOT_SEEN: &str = "not seen";

/// A verdict on each assumption, in the order of the list.
pub(crate) fn verdicts(facts: &Facts) -> Vec<Verdict> {
    let entries = specs()["assumptions"].as_array().into_iter().flatten();
    let verdicts = entries.map(|entry| {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let id = text("id");
        let found = facts.evidence.iter().filter(|(of, _)| *of == id);
        let mut evidence: Vec<Evidence> = found.map(|(_, it)| it.clone()).collect();
        evidence.extend(judge(id, facts));
        weigh(id, text("title"), &evidence, text("override"))
    });
    verdicts.collect()
}

/// One contradiction outweighs every confirmation.
fn weigh(id: &'static str, title: &'static str, evidence: &[Evidence], general: &str) -> Verdict {
    let has = |holds| evidence.iter().any(|it| it.holds == Some(holds));
    let (word, holds) = match (has(false), has(true)) {
        (true, _) => (CONTRADICTED, Some(false)),
        (_, true) => (CONFIRMED, Some(true)),
        _ => (NOT_SEEN, None),
    };
    let (mut texts, mut remedies): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for it in evidence.iter().filter(|it| it.holds == holds) {
        if !texts.contains(&it.text.as_str()) {
            texts.push(&it.text);
        }
        remedies.extend(it.remedy.as_deref().filter(|it| !remedies.contains(it)));
    }
    if remedies.is_empty() {
        remedies.push(general.trim_end_matches('.'));
    }
    Verdict {
        id,
        title,
        word,
        evidence: match texts[..] {
            [] => "no response showed it".to_owned(),
            [first, second, _, ..] => format!("{first}; {second}; and {} more", texts.len() - 2),
            _ => texts.join("; "),
        },
        remedy: (word == CONTRADICTED).then(|| remedies.join("; ")),
    }
}
