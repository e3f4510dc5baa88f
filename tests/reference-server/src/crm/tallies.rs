//! The funnel's rows: one per stage and currency, because amounts in different currencies can't be added.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::data::Text;
use crate::data::opportunities::STAGES;

/// The documented maximum of rows.
const MOST_ROWS: usize = 40;

/// The number of currencies with their own rows if the rows would exceed the maximum. The other currencies share one
/// row per stage.
const MOST_CURRENCIES: usize = 3;

/// The currency of an empty row.
const CURRENCY: &str = "EUR";

/// A row of the response. A row for several currencies has no amounts.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    stage: &'static str,
    open_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_min_minor: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_max_minor: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<Text>,
    entered_in_window: u64,
    exited_in_window: usize,
    median_hours_in_stage: Option<Box<RawValue>>,
    median_hours_open_so_far: Option<Box<RawValue>>,
}

/// The figures for one stage and currency.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) value_min: i128,
    pub(super) value_max: i128,
    pub(super) entered: u64,
    /// The durations of finished stays, in milliseconds.
    pub(super) spent: Vec<i64>,
    /// The durations of current stays so far, in milliseconds.
    pub(super) open: Vec<i64>,
}

impl Tally {
    fn row(self, stage: &'static str, currency: Option<Text>) -> Row {
        let priced = currency.is_some();
        Row {
            stage,
            open_count: self.open.len() as u64,
            value_min_minor: priced.then_some(self.value_min),
            value_max_minor: priced.then_some(self.value_max),
            currency,
            entered_in_window: self.entered,
            exited_in_window: self.spent.len(),
            median_hours_in_stage: median_hours(self.spent),
            median_hours_open_so_far: median_hours(self.open),
        }
    }
}

/// The tallies of all stages, and the number of opportunities per currency.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies {
    stages: [BTreeMap<Text, Tally>; STAGES.len()],
    currencies: BTreeMap<Text, u64>,
}

impl Tallies {
    pub(super) fn count(&mut self, currency: &Text) {
        *self.currencies.entry(currency.clone()).or_default() += 1;
    }

    pub(super) fn of(&mut self, stage: &str, currency: &Text) -> &mut Tally {
        let place = STAGES.iter().position(|known| *known == stage);
        let stage = &mut self.stages[place.unwrap_or_default()];
        stage.entry(currency.clone()).or_default()
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        let count: usize = self.stages.iter().map(|stage| stage.len().max(1)).sum();
        let mut leading: Vec<(Text, u64)> = self.currencies.into_iter().collect();
        if count > MOST_ROWS {
            leading.sort_by_key(|(_, count)| Reverse(*count));
            leading.truncate(MOST_CURRENCIES);
        }
        let leads = |currency: &Text| leading.iter().any(|(name, _)| name == currency);
        let mut rows = Vec::new();
        for (stage, tallies) in STAGES.into_iter().zip(self.stages) {
            if tallies.is_empty() {
                rows.push(Tally::default().row(stage, Some(CURRENCY.into())));
            }
            let mut rest: Option<Tally> = None;
            for (currency, tally) in tallies {
                if leads(&currency) {
                    rows.push(tally.row(stage, Some(currency)));
                } else {
                    let rest: &mut Tally = rest.get_or_insert_default();
                    rest.entered += tally.entered;
                    rest.spent.extend(tally.spent);
                    rest.open.extend(tally.open);
                }
            }
            rows.extend(rest.map(|rest| rest.row(stage, None)));
        }
        rows
    }
}

/// Returns the median in hours, rounded to hundredths.
fn median_hours(mut millis: Vec<i64>) -> Option<Box<RawValue>> {
    let upper = millis.len() / 2;
    millis.sort_unstable();
    let twice = millis.get(upper)? + millis[(millis.len() - 1) / 2];
    let hundredths = (twice + 36_000) / 72_000;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    RawValue::from_string(text).ok()
}
