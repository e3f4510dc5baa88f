//! The report: findings by step, a verdict on each assumption, and proposed settings. The report has names and types,
//! but no values.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sdk_core::observe::{ExtraHeaders, ObservedAttempt};
use sdk_core::{Observer, one_line};
use serde::Serialize;
use serde_json::{Value, json};

use super::facts::{Evidence, Facts};
use crate::catalog::specs;
use crate::output;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// As expected.
    Ok,
    /// Information without a required action.
    Note,
    /// A setting to change, or a difference to handle.
    Problem,
    /// The SDK doesn't work with this configuration.
    Failure,
}

#[derive(Serialize)]
struct Finding {
    step: &'static str,
    level: Level,
    found: String,
    remedy: Option<String>,
}

#[derive(Serialize)]
struct Verdict {
    id: &'static str,
    title: &'static str,
    #[serde(rename = "verdict")]
    word: &'static str,
    evidence: String,
    /// Only present if the assumption is contradicted.
    remedy: Option<String>,
}

const CONFIRMED: &str = "confirmed";
const CONTRADICTED: &str = "contradicted";
const NOT_SEEN: &str = "not seen";

/// Strings that must not be printed, even if a server repeats them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    pub(crate) fn hide(&self, secret: &str) {
        // Replacing a shorter string would damage the report without hiding a secret.
        if secret.len() >= 4 {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(secret.to_owned());
        }
    }

    fn redact(&self, text: &str) -> String {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), "[redacted]");
        all.iter().fold(text.to_owned(), hide)
    }
}

/// The limit of requests of an examination, including token requests.
pub(crate) const MOST: usize = 90;

#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<AtomicUsize>);

impl Meter {
    pub(crate) fn sent(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether another call stays within the limit. A call may need a token request, and a 401 repeats both.
    pub(crate) fn may_send(&self) -> bool {
        self.sent() + 4 <= MOST
    }
}

impl Observer for Meter {
    fn attempt_started(&self, _: &ObservedAttempt<'_>, _: &mut ExtraHeaders<'_>) {
        self.count();
    }
}

pub(crate) struct Report {
    step: &'static str,
    findings: Vec<Finding>,
    verdicts: Vec<Verdict>,
    settings: BTreeMap<String, String>,
    pub(crate) secrets: Secrets,
    pub(crate) meter: Meter,
    began: Instant,
    /// The prefix of the installation's variables, such as `ACME_`.
    prefix: String,
}

impl Report {
    pub(crate) fn new(prefix: String) -> Self {
        Self {
            step: "settings",
            findings: Vec::new(),
            verdicts: Vec::new(),
            settings: BTreeMap::new(),
            secrets: Secrets::default(),
            meter: Meter::default(),
            began: Instant::now(),
            prefix,
        }
    }

    /// Begins a step, and prints its name as progress.
    pub(crate) fn step(&mut self, step: &'static str) {
        output::note(format_args!("… {step}"));
        self.step = step;
    }

    pub(crate) fn ok(&mut self, found: impl AsRef<str>) {
        self.find(Level::Ok, found.as_ref(), None);
    }

    pub(crate) fn note(&mut self, found: impl AsRef<str>) {
        self.find(Level::Note, found.as_ref(), None);
    }

    pub(crate) fn problem(&mut self, found: impl AsRef<str>, remedy: impl AsRef<str>) {
        self.find(Level::Problem, found.as_ref(), Some(remedy.as_ref()));
    }

    pub(crate) fn failure(&mut self, found: impl AsRef<str>, remedy: impl AsRef<str>) {
        self.find(Level::Failure, found.as_ref(), Some(remedy.as_ref()));
    }

    /// Adds a finding, unless the report already has it.
    fn find(&mut self, level: Level, found: &str, remedy: Option<&str>) {
        let found = self.safe(found);
        if self.findings.iter().all(|it| it.found != found) {
            self.findings.push(Finding {
                step: self.step,
                level,
                found,
                remedy: remedy.map(|it| self.safe(it)),
            });
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.settings.insert(self.safe(name), self.safe(value));
    }

    /// Adds a verdict on each assumption, in the order of the list.
    pub(crate) fn judge(&mut self, facts: &Facts, judge: impl Fn(&str, &Facts) -> Vec<Evidence>) {
        for entry in specs()["assumptions"].as_array().into_iter().flatten() {
            let text = |name: &str| entry[name].as_str().unwrap_or_default();
            let (id, title, general) = (text("id"), text("title"), text("override"));
            let of_facts = facts.evidence.iter().filter(|(of, _)| *of == id);
            let mut evidence: Vec<Evidence> = of_facts.map(|(_, it)| it.clone()).collect();
            evidence.extend(judge(id, facts));
            let (word, evidence, own) = weigh(&evidence);
            let remedy = if own.is_empty() {
                general.trim_end_matches('.')
            } else {
                &own
            };
            self.verdicts.push(Verdict {
                id,
                title,
                word,
                evidence: self.safe(&evidence),
                remedy: (word == CONTRADICTED).then(|| self.safe(remedy)),
            });
        }
    }

    /// Returns one line without secrets, and with the installation's prefix before each variable.
    fn safe(&self, text: &str) -> String {
        let text = one_line(&self.secrets.redact(text));
        let prefixed = format!("{}SUITE_", self.prefix);
        // The SDK's messages already contain the prefix.
        let text = text.replace(&prefixed, "SUITE_");
        text.replace("SUITE_", &prefixed)
    }

    fn worst(&self) -> Level {
        let levels = self.findings.iter().map(|it| it.level);
        let contradicted = self.verdicts.iter().any(|it| it.word == CONTRADICTED);
        let of_verdicts = contradicted.then_some(Level::Problem);
        levels.chain(of_verdicts).max().unwrap_or(Level::Ok)
    }

    pub(crate) fn status(&self) -> u8 {
        match self.worst() {
            Level::Ok | Level::Note => 0,
            Level::Problem => 1,
            Level::Failure => 2,
        }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "worst": self.worst(), "findings": self.findings, "assumptions": self.verdicts,
            "settings": self.settings, "requests": self.meter.sent(), "atMost": MOST,
            "seconds": self.began.elapsed().as_secs_f64(),
        })
    }

    /// Returns the report for a terminal. Contradicted assumptions come last, because readers see the end first.
    pub(crate) fn text(&self) -> String {
        let mut lines = Vec::new();
        let mut step = "";
        for it in &self.findings {
            if it.step != step {
                step = it.step;
                lines.push(step.to_owned());
            }
            let level = json!(it.level);
            let level = level.as_str().unwrap_or_default();
            lines.push(format!("  {level:<8} {}", it.found));
            let remedy = it.remedy.iter();
            lines.extend(remedy.map(|it| format!("           remedy: {it}")));
        }
        let mut counts = Vec::new();
        for word in [CONFIRMED, NOT_SEEN, CONTRADICTED] {
            let verdicts = self.verdicts.iter().filter(|it| it.word == word);
            let count = verdicts.clone().count();
            if count > 0 {
                lines.push(format!("\nassumptions: {word}"));
            }
            for it in verdicts {
                lines.push(format!("  {}  {}: {}", it.id, it.title, it.evidence));
                let remedy = it.remedy.iter();
                lines.extend(remedy.map(|it| format!("       remedy: {it}")));
            }
            counts.push(format!("{count} {word}"));
        }
        if !self.verdicts.is_empty() {
            let (counts, sent) = (counts.join(", "), self.meter.sent());
            let seconds = self.began.elapsed().as_secs_f64();
            lines.push(format!("\n{counts}; {sent} requests in {seconds:.1} s"));
        }
        if !self.settings.is_empty() {
            lines.push("\nproposed settings:".to_owned());
        }
        let settings = self.settings.iter();
        lines.extend(settings.map(|(name, value)| format!("  export {name}={value}")));
        lines.join("\n")
    }
}

/// Returns the verdict with its evidence and remedies. One contradiction outweighs all confirmations.
fn weigh(evidence: &[Evidence]) -> (&'static str, String, String) {
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
    let text = match texts[..] {
        [] => "no response showed it".to_owned(),
        [first, second, _, ..] => format!("{first}; {second}; and {} more", texts.len() - 2),
        _ => texts.join("; "),
    };
    (word, text, remedies.join("; "))
}
