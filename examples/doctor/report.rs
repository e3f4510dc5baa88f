//! What the doctor found: steps, verdicts, and the settings that cure. Names and types only.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::line::line;
use super::out::note;
use super::register;

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// As expected.
    Ok,
    /// Worth knowing.
    Note,
    /// Something to set, or to live with.
    Problem,
    /// Without a cure the SDK does not work here.
    Failure,
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
            Self::Failure => "failure",
        }
    }
}

struct Finding {
    step: &'static str,
    level: Level,
    found: String,
    cure: Option<String>,
}

/// What is known of an assumption. Contradicted once is contradicted.
#[derive(Default)]
struct Verdict {
    contradicted: bool,
    evidence: Vec<String>,
    cure: Option<String>,
}

impl Verdict {
    /// The evidence, of which two pieces are enough to look at.
    fn told(&self) -> String {
        let more = self.evidence.len().saturating_sub(2);
        let told = self
            .evidence
            .iter()
            .take(2)
            .cloned()
            .collect::<Vec<_>>()
            .join("; ");
        if more == 0 {
            told
        } else {
            format!("{told}; and {more} more")
        }
    }
}

pub(crate) struct Report {
    step: &'static str,
    findings: Vec<Finding>,
    verdicts: BTreeMap<&'static str, Verdict>,
    /// The variables that cure, with their values.
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) secrets: Secrets,
}

/// What must not be shown, whoever repeats it.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    pub(crate) fn hide(&self, secret: &str) {
        // A shorter one hides nothing by being replaced.
        if secret.len() >= 4 {
            self.0.lock().unwrap().push(secret.to_owned());
        }
    }
}

impl Report {
    pub(crate) fn new() -> Self {
        Self {
            step: "settings",
            findings: Vec::new(),
            verdicts: BTreeMap::new(),
            settings: BTreeMap::new(),
            secrets: Secrets::default(),
        }
    }

    pub(crate) fn step(&mut self, step: &'static str) {
        // People who wait see where it is.
        note!("… {step}");
        self.step = step;
    }

    pub(crate) fn ok(&mut self, found: impl Into<String>) {
        self.find(Level::Ok, found, None);
    }

    pub(crate) fn note(&mut self, found: impl Into<String>) {
        self.find(Level::Note, found, None);
    }

    pub(crate) fn problem(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.find(Level::Problem, found, Some(cure.into()));
    }

    pub(crate) fn note_once(&mut self, found: &str) {
        if self.findings.iter().all(|it| it.found != found) {
            self.note(found);
        }
    }

    /// The same, unless it was said already.
    pub(crate) fn problem_once(&mut self, found: String, cure: &str) {
        if self.findings.iter().all(|it| it.found != found) {
            self.problem(found, cure);
        }
    }

    pub(crate) fn failure(&mut self, found: impl Into<String>, cure: impl Into<String>) {
        self.find(Level::Failure, found, Some(cure.into()));
    }

    fn find(&mut self, level: Level, found: impl Into<String>, cure: Option<String>) {
        let (step, found) = (self.step, found.into());
        self.findings.push(Finding {
            step,
            level,
            found,
            cure,
        });
    }

    /// Evidence for an assumption. The first is a finding, too.
    pub(crate) fn confirm(&mut self, id: &'static str, evidence: impl Into<String>) {
        let evidence = evidence.into();
        if !self.verdicts.contains_key(id) {
            self.ok(format!("{id} holds: {evidence}"));
        }
        self.weigh(id, evidence, false);
    }

    /// Evidence against an assumption. Without a cure of its own, the register's is shown.
    pub(crate) fn contradict(
        &mut self,
        id: &'static str,
        evidence: impl Into<String>,
        cure: Option<&str>,
    ) {
        let evidence = evidence.into();
        let is_new = !self.is_contradicted(id);
        let verdict = self.weigh(id, evidence.clone(), true);
        verdict.cure = verdict.cure.take().or_else(|| cure.map(str::to_owned));
        if !is_new {
            return;
        }
        let entries = register::entries();
        let entry = entries.iter().find(|entry| entry.id == id);
        let own = entry.map_or("", |entry| &entry.cure);
        let found = format!("{id} does not hold: {evidence}");
        self.problem(found, cure.unwrap_or(own));
    }

    /// Either, as it turns out.
    pub(crate) fn judge(&mut self, holds: bool, id: &'static str, evidence: impl Into<String>) {
        if holds {
            self.confirm(id, evidence);
        } else {
            self.contradict(id, evidence, None);
        }
    }

    fn weigh(&mut self, id: &'static str, evidence: String, contradicted: bool) -> &mut Verdict {
        let verdict = self.verdicts.entry(id).or_default();
        if contradicted && !verdict.contradicted {
            verdict.evidence.clear();
        }
        verdict.contradicted |= contradicted;
        if contradicted == verdict.contradicted && !verdict.evidence.contains(&evidence) {
            verdict.evidence.push(evidence);
        }
        verdict
    }

    pub(crate) fn is_contradicted(&self, id: &str) -> bool {
        self.verdicts.get(id).is_some_and(|it| it.contradicted)
    }

    /// A variable that cures, as a sentence.
    pub(crate) fn set(&mut self, name: impl Into<String>, value: &str) -> String {
        let name = name.into();
        let cure = format!("set {name}={value}");
        self.settings.insert(name, value.to_owned());
        cure
    }

    fn worst(&self) -> Level {
        let levels = self.findings.iter().map(|finding| finding.level);
        levels.max().unwrap_or(Level::Ok)
    }

    /// The exit status of the program.
    pub(crate) fn status(&self) -> u8 {
        match self.worst() {
            Level::Ok | Level::Note => 0,
            Level::Problem => 1,
            Level::Failure => 2,
        }
    }

    /// One row for each entry of the register: id, title, verdict, why, cure.
    fn rows(&self) -> Vec<[String; 5]> {
        let row = |entry: register::Entry| {
            let verdict = self.verdicts.get(entry.id);
            let (word, why) = match verdict {
                Some(it) if it.contradicted => ("contradicted", it.told()),
                Some(it) => ("confirmed", it.told()),
                None => {
                    let why = register::unreadable(entry.id);
                    (
                        "not seen",
                        why.unwrap_or("nothing came that shows it").to_owned(),
                    )
                }
            };
            let cure = verdict.filter(|it| it.contradicted);
            let cure = cure.map_or_else(String::new, |it| it.cure.clone().unwrap_or(entry.cure));
            [
                entry.id.to_owned(),
                entry.title.to_owned(),
                word.to_owned(),
                why,
                cure,
            ]
        };
        register::entries().into_iter().map(row).collect()
    }

    fn counted(&self, requests: usize, took: Duration) -> String {
        let rows = self.rows();
        let count = |word: &str| rows.iter().filter(|row| row[2] == word).count();
        format!(
            "{} confirmed, {} contradicted, {} not seen; {requests} requests in {:.1} s",
            count("confirmed"),
            count("contradicted"),
            count("not seen"),
            took.as_secs_f64()
        )
    }

    pub(crate) fn text(&self, requests: usize, took: Duration) -> String {
        let mut text = String::new();
        let mut step = "";
        for finding in &self.findings {
            if finding.step != step {
                step = finding.step;
                let _ = writeln!(text, "\n{step}");
            }
            let level = finding.level.name();
            let _ = writeln!(text, "  {level:<8} {}", self.clean(&finding.found));
            if let Some(cure) = &finding.cure {
                let _ = writeln!(text, "           cure: {}", self.clean(cure));
            }
        }
        let _ = writeln!(text, "\nassumptions");
        for [id, title, verdict, why, _] in self.rows() {
            let _ = writeln!(text, "  {id}  {verdict:<12}  {title}: {}", self.clean(&why));
        }
        let _ = writeln!(text, "\n{}", self.counted(requests, took));
        if !self.settings.is_empty() {
            let _ = writeln!(text, "\nto set:");
            for (name, value) in &self.settings {
                let _ = writeln!(text, "  export {name}={}", self.clean(value));
            }
        }
        text
    }

    pub(crate) fn json(&self, requests: usize, most: usize, took: Duration) -> String {
        let finding = |it: &Finding| {
            let (level, found) = (it.level.name(), self.clean(&it.found));
            let cure = it.cure.as_deref().map(|cure| self.clean(cure));
            json!({"step": it.step, "level": level, "found": found, "cure": cure})
        };
        let row = |[id, title, verdict, evidence, cure]: [String; 5]| {
            let cure = (!cure.is_empty()).then(|| self.clean(&cure));
            let evidence = self.clean(&evidence);
            json!({"id": id, "title": title, "verdict": verdict, "evidence": evidence, "cure": cure})
        };
        let findings: Vec<Value> = self.findings.iter().map(finding).collect();
        let rows: Vec<Value> = self.rows().into_iter().map(row).collect();
        let clean = |(name, value): (&String, &String)| (name.clone(), self.clean(value));
        let settings: BTreeMap<_, _> = self.settings.iter().map(clean).collect();
        let report = json!({
            "worst": self.worst().name(), "findings": findings, "assumptions": rows, "settings": settings,
            "requests": requests, "atMost": most, "seconds": took.as_secs_f64(),
        });
        format!("{report:#}\n")
    }

    /// One safe line, without what is secret.
    fn clean(&self, text: &str) -> String {
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), "[redacted]");
        line(
            self.secrets
                .0
                .lock()
                .unwrap()
                .iter()
                .fold(text.to_owned(), hide),
        )
    }
}
