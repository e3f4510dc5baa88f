//! The funnel: the current pipeline and its flow over a window, both computed from the history of each opportunity.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

use super::tallies::{Row, Tallies};
use crate::call::{Answer, Call};
use crate::contradict::Assumption;
use crate::data::Text;
use crate::data::opportunities::is_open;
use crate::message::Reply;
use crate::params::{self, YEAR_ZERO};
use crate::refusal::Refusal;

const DEFAULT_DAYS: i64 = 30;

/// From `from` up to, but not including, `to`. A window that ends now includes the current instant, because a move at
/// this instant has already happened.
#[derive(Clone, Copy, Debug, Serialize)]
struct Window {
    from: Timestamp,
    to: Timestamp,
    #[serde(skip)]
    ends_now: bool,
}

impl Window {
    fn read(call: &Call<'_>, now: Timestamp) -> Result<Window, Refusal> {
        let instant = |name| call.query(name).and_then(params::instant);
        let given = instant("to");
        let to = given.unwrap_or(now);
        let from = match instant("from") {
            Some(from) => from,
            None => to
                .checked_sub(SignedDuration::from_hours(24 * DEFAULT_DAYS))
                .ok()
                .filter(|from| *from >= YEAR_ZERO)
                .ok_or_else(|| Refusal::unusable("to", "too early for a window of 30 days"))?,
        };
        if from > to && !call.suite.contradicts(Assumption::A12) {
            return Err(Refusal::unusable("from", "must not be after to"));
        }
        Ok(Window {
            from: from.min(to),
            to: to.max(from),
            ends_now: given.is_none(),
        })
    }

    fn holds(self, at: Timestamp) -> bool {
        at >= self.from && (at < self.to || self.ends_now && at == self.to)
    }
}

/// The response, which is serialized directly because `serde_json::Value` can't represent large sums.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Funnel {
    schema_version: &'static str,
    window: Window,
    stages: Vec<Row>,
    outcomes: Value,
    provenance: Value,
}

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    // The clock is read under the store's lock, so no later command has been applied.
    let now = call.suite.clock.now();
    let window = Window::read(call, now)?;
    let mut tallies = Tallies::default();
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut reasons: BTreeMap<Text, u64> = BTreeMap::new();
    for (index, row) in store.opportunities.rows(0) {
        tallies.count(&row.currency);
        let mut stays = store.stays(index, &row).peekable();
        while let Some(stay) = stays.next() {
            if window.holds(stay.entered_at) {
                tallies.of(stay.stage, &row.currency).entered += 1;
                *outcomes.entry(stay.stage).or_default() += 1;
                if let Some(reason) = stay.reason.filter(|_| !is_open(stay.stage)) {
                    *reasons.entry(reason).or_default() += 1;
                }
            }
            let left_at = stays.peek().map(|next| next.entered_at);
            if let Some(left_at) = left_at.filter(|at| window.holds(*at)) {
                let tally = tallies.of(stay.stage, &row.currency);
                tally.spent.push(millis(stay.entered_at, left_at));
            }
        }
        if is_open(row.stage) {
            let tally = tallies.of(row.stage, &row.currency);
            tally.open.push(millis(row.entered_stage_at, now));
            tally.value_min += i128::from(row.value_min_minor);
            tally.value_max += i128::from(row.value_max_minor);
        }
    }
    let reasons: Vec<Value> = reasons
        .into_iter()
        .map(|(reason, count)| json!({"reasonCode": reason, "count": count}))
        .collect();
    let outcome = |stage| outcomes.get(stage).copied().unwrap_or_default();
    Ok(Reply::ok(&Funnel {
        schema_version: "suite-crm-funnel.v1",
        window,
        stages: tallies.into_rows(),
        outcomes: json!({
            "won": outcome("won"),
            "deferred": outcome("deferred"),
            "closedNotProceeding": outcome("closed_not_proceeding"),
            "byCloseReason": reasons,
        }),
        provenance: json!({
            "countsOpportunitiesCreatedBefore": now.to_string(),
            "backfilledOpeningEvents": 0,
        }),
    }))
}

fn millis(from: Timestamp, to: Timestamp) -> i64 {
    // If a test has set the clock back, `to` may be before `from`.
    (to.as_millisecond() - from.as_millisecond()).max(0)
}
