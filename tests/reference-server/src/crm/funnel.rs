//! The funnel: the pipeline as of now, the flow measured over a window.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::data::opportunities::{Opportunity, STAGES};
use crate::message::Reply;
use crate::params::YEAR_ZERO;
use crate::refusal::Refusal;

/// How far before `to` the window begins unless said otherwise.
const DEFAULT_DAYS: i64 = 30;

#[derive(Clone, Copy, Debug)]
struct Window {
    from: Timestamp,
    to: Timestamp,
}

impl Window {
    fn read(call: &Call<'_>) -> Result<Window, Refusal> {
        let to = call.query.instant("to")?.unwrap_or(call.now);
        let from = match call.query.instant("from")? {
            Some(from) => from,
            None => to
                .checked_sub(SignedDuration::from_hours(24 * DEFAULT_DAYS))
                .ok()
                .filter(|from| *from >= YEAR_ZERO)
                .ok_or_else(|| Refusal::invalid("to: too early for a window of 30 days"))?,
        };
        if from > to {
            return Err(Refusal::invalid("from: it must not be after to"));
        }
        Ok(Window { from, to })
    }

    fn holds(self, at: Timestamp) -> bool {
        (self.from..self.to).contains(&at)
    }
}

#[derive(Clone, Debug, Default)]
struct Stage {
    open: u64,
    value_min: i64,
    value_max: i64,
    entered: u64,
    exited: u64,
    hours_open: Vec<i64>,
    hours_spent: Vec<i64>,
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let window = Window::read(call)?;
    let store = call.suite.store();
    let mut stages: BTreeMap<usize, Stage> =
        (0..STAGES.len()).map(|at| (at, Stage::default())).collect();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut outcomes = [0_u64; 3];
    for (_, row) in store.opportunities.rows(0) {
        let in_window = window.holds(row.entered_stage_at);
        count(&mut stages, &row, in_window, call.now);
        let outcome = STAGES[6..].iter().position(|stage| row.stage == *stage);
        if let Some(outcome) = outcome.filter(|_| in_window) {
            outcomes[outcome] += 1;
            if let Some(reason) = row.close_reason {
                *reasons.entry(reason.into_owned()).or_default() += 1;
            }
        }
    }
    let stages: Vec<Value> = stages
        .into_iter()
        .map(|(at, stage)| row(STAGES[at], stage))
        .collect();
    let reasons: Vec<Value> = reasons
        .into_iter()
        .map(|(reason, count)| json!({"reasonCode": reason, "count": count}))
        .collect();
    Ok(Reply::ok(&json!({
        "schemaVersion": "suite-crm-funnel.v1",
        "window": {"from": window.from.to_string(), "to": window.to.to_string()},
        "stages": stages,
        "outcomes": {
            "won": outcomes[0],
            "deferred": outcomes[1],
            "closedNotProceeding": outcomes[2],
            "byCloseReason": reasons,
        },
        "provenance": {
            "countsOpportunitiesCreatedBefore": call.now.to_string(),
            "backfilledOpeningEvents": 0,
        },
    })))
}

fn count(stages: &mut BTreeMap<usize, Stage>, row: &Opportunity, in_window: bool, now: Timestamp) {
    let place = |name: &str| STAGES.iter().position(|stage| *stage == name);
    if let Some(stage) = place(&row.stage).and_then(|at| stages.get_mut(&at)) {
        if row.is_open() {
            stage.open += 1;
            stage.value_min = stage.value_min.saturating_add(row.value_min_minor);
            stage.value_max = stage.value_max.saturating_add(row.value_max_minor);
            stage
                .hours_open
                .push(now.duration_since(row.entered_stage_at).as_hours());
        }
        stage.entered += u64::from(in_window);
    }
    let left = row.previous_stage.as_deref().and_then(place);
    if let Some(stage) = left
        .and_then(|at| stages.get_mut(&at))
        .filter(|_| in_window)
    {
        stage.exited += 1;
        stage.hours_spent.push(
            row.entered_stage_at
                .duration_since(row.created_at)
                .as_hours(),
        );
    }
}

fn row(name: &str, stage: Stage) -> Value {
    json!({
        "stage": name,
        "openCount": stage.open,
        "valueMinMinor": stage.value_min,
        "valueMaxMinor": stage.value_max,
        "currency": "EUR",
        "enteredInWindow": stage.entered,
        "exitedInWindow": stage.exited,
        "medianHoursInStage": median(stage.hours_spent),
        "medianHoursOpenSoFar": median(stage.hours_open),
    })
}

fn median(mut hours: Vec<i64>) -> Option<i64> {
    hours.sort_unstable();
    hours.get(hours.len() / 2).copied()
}
