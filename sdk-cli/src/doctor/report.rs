//! The report: findings by step, a verdict on each assumption, and the settings that help. Names and types only.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use sdk_core::observe::{ExtraHeaders, ObservedAttempt};
use sdk_core::{Observer, one_line};
use serde::Serialize;
use serde_json::{Value, json};

use super::verdicts::{CONFIRMED, CONTRADICTED, NOT_SEEN, Verdict};
use crate::output;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// As expected.
    Ok,
    /// Worth knowing.
    Note,
    /// Something to set, or to live with.
    Problem,
    /// The SDK doesn't work as it is set up.
    Failure,
}

#[derive(Serialize)]
struct Finding {
    step: &'static str,
    level: Level,
    found: String,
    remedy: Option<String>,
}

/// Strings that must not be printed, also if a server repeats them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    pub(crate) fn hide(&self, secret: &str) {
        // Replacing a shorter string would hide nothing, and damage the text.
        if secret.len() >= 4 {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(secret.to_owned());
        }
    }

    fn remove(&self, text: &str) -> String {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), "[redacted]");
        all.iter().fold(text.to_owned(), hide)
    }
}

/// No examination sends more requests, token requests included.
pub(crate) const MOST: usize = 90;

/// Counts requests.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<AtomicUsize>);

impl Meter {
    pub(crate) fn sent(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether another call stays within the limit. A call may need a token, and after a 401 both are sent again.
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
    pub(crate) verdicts: Vec<Verdict>,
    /// The variables that help, with their values.
    pub(crate) settings: BTreeMap<String, String>,
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

    /// Begins a step. People who wait see it.
    pub(crate) fn step(&mut self, step: &'static str) {
        output::note(format_args!("… {step}"));
        self.step = step;
    }

    pub(crate) fn ok(&mut self, found: impl Into<String>) {
        self.find(Level::Ok, found.into(), None);
    }

    pub(crate) fn note(&mut self, found: impl Into<String>) {
        self.find(Level::Note, found.into(), None);
    }

    pub(crate) fn problem(&mut self, found: impl Into<String>, remedy: impl Into<String>) {
        self.find(Level::Problem, found.into(), Some(remedy.into()));
    }

    pub(crate) fn failure(&mut self, found: impl Into<String>, remedy: impl Into<String>) {
        self.find(Level::Failure, found.into(), Some(remedy.into()));
    }

    /// Adds a finding, unless it is there already.
    fn find(&mut self, level: Level, found: String, remedy: Option<String>) {
        if self.findings.iter().all(|it| it.found != found) {
            self.findings.push(Finding {
                step: self.step,
                level,
                found,
                remedy,
            });
        }
    }

    fn worst(&self) -> Level {
        let levels = self.findings.iter().map(|it| it.level);
        let contradicted = self.verdicts.iter().any(|it| it.word == CONTRADICTED);
        let of_verdicts = contradicted.then_some(Level::Problem);
        levels.chain(of_verdicts).max().unwrap_or(Level::Ok)
    }

    /// The exit status of the program.
    pub(crate) fn status(&self) -> u8 {
        match self.worst() {
            Level::Ok | Level::Note => 0,
            Level::Problem => 1,
            Level::Failure => 2,
        }
    }

    pub(crate) fn json(&self) -> Value {
        let seconds = self.began.elapsed().as_secs_f64();
        self.clean(&json!({
            "worst": self.worst(), "findings": self.findings, "assumptions": self.verdicts,
            "settings": self.settings, "requests": self.meter.sent(), "atMost": MOST, "seconds": seconds,
        }))
    }

    /// The same for people. The contradicted assumptions come last, where people look first.
    pub(crate) fn text(&self) -> String {
        let report = self.json();
        let rows = |name: &str| report[name].as_array().into_iter().flatten();
        let of = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let mut lines = Vec::new();
        let mut step = String::new();
        for row in rows("findings") {
            if of(row, "step") != step {
                step = of(row, "step");
                lines.push(step.clone());
            }
            lines.push(format!("  {:<8} {}", of(row, "level"), of(row, "found")));
            if row["remedy"].is_string() {
                lines.push(format!("           remedy: {}", of(row, "remedy")));
            }
        }
        let mut counts = Vec::new();
        for word in [CONFIRMED, NOT_SEEN, CONTRADICTED] {
            let before = lines.len();
            for row in rows("assumptions").filter(|row| row["verdict"] == word) {
                let (id, title, evidence) = (of(row, "id"), of(row, "title"), of(row, "evidence"));
                lines.push(format!("  {id}  {title}: {evidence}"));
                if row["remedy"].is_string() {
                    lines.push(format!("       remedy: {}", of(row, "remedy")));
                }
            }
            let count = self.verdicts.iter().filter(|it| it.word == word).count();
            if count > 0 {
                lines.insert(before, format!("\nassumptions: {word}"));
            }
            counts.push(format!("{count} {word}"));
        }
        if !self.verdicts.is_empty() {
            let (counts, sent) = (counts.join(", "), self.meter.sent());
            let seconds = self.began.elapsed().as_secs_f64();
            lines.push(format!("\n{counts}; {sent} requests in {seconds:.1} s"));
        }
        if !self.settings.is_empty() {
            lines.push("\nto set:".to_owned());
        }
        for (name, value) in report["settings"].as_object().into_iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            lines.push(format!("  export {name}={value}"));
        }
        lines.join("\n")
    }

    /// The same with safe strings: one line each, without secrets, and with the prefix of the installation before each variable.
    fn clean(&self, value: &Value) -> Value {
        let text = |text: &str| {
            let text = one_line(&self.secrets.remove(text));
            let prefixed = format!("{}SUITE_", self.prefix);
            // The SDK's own messages have it already.
            text.replace(&prefixed, "SUITE_")
                .replace("SUITE_", &prefixed)
        };
        match value {
            Value::String(string) => text(string).into(),
            Value::Array(all) => all.iter().map(|it| self.clean(it)).collect(),
            Value::Object(all) => {
                let all = all.iter().map(|(name, it)| (text(name), self.clean(it)));
                Value::Object(all.collect())
            }
            other => other.clone(),
        }
    }
}
