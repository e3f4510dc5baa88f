//! Compares the funnel with a plain count over a list of all events. The count depends on the contract and on
//! assumption A86, but not on the server's implementation.

use std::cmp::Reverse;
use std::ops::Range;
use std::time::Duration;

use fastrand::Rng;
use jiff::Timestamp;
use sdk_reference_server::ReferenceServer;
use serde_json::{Value, json};

use crate::peer::{Got, Peer, rows};

const HISTORIES: u64 = 24;
const WINDOWS: usize = 10;
const DAY: i64 = 86_400_000;

/// The stages in which an opportunity is open. `ENDED` has the other stages.
const OPEN: &str = "new review_needed exploring qualified solution_shaping proposal_or_decision";
const ENDED: &str = "won deferred closed_not_proceeding";

fn stages() -> impl Iterator<Item = &'static str> {
    OPEN.split(' ').chain(ENDED.split(' '))
}

const CURRENCIES: [&str; 9] = [
    "NOK", "EUR", "USD", "GBP", "SEK", "DKK", "CHF", "JPY", "PLN",
];
const REASONS: [&str; 4] = ["budget", "competitor", "none", "timing"];

/// An opportunity entered a stage, by its creation or by a move.
struct Came {
    /// In milliseconds, like all times here.
    at: i64,
    who: usize,
    stage: &'static str,
    reason: Option<&'static str>,
    currency: &'static str,
    values: [i64; 2],
}

/// A server with random events, and the list of these events.
struct History {
    peer: Peer,
    random: Rng,
    commands: u64,
    log: Vec<Came>,
    /// The reference and the currency of each opportunity.
    opportunities: Vec<(Value, &'static str)>,
}

#[tokio::test]
async fn the_funnel_equals_a_plain_count_of_a_random_history() {
    let mut merged = 0;
    for seed in 0..HISTORIES {
        let mut history = History::begin(seed);
        // Nine currencies would exceed the maximum number of rows.
        let currencies = &CURRENCIES[..[1, 2, 9][usize::try_from(seed % 3).unwrap()]];
        for window in 0..WINDOWS {
            let first = if window == 0 && seed % 6 == 5 { 70 } else { 1 };
            for _ in 0..first + history.random.i64(0..=2) {
                history.advance(currencies).await;
            }
            let rows = history.compare(seed).await;
            merged += usize::from(rows.iter().any(|row| row["currency"].is_null()));
        }
    }
    assert!(
        merged > 3,
        "{merged} responses have a row of many currencies"
    );
}

impl History {
    fn begin(seed: u64) -> History {
        let builder = ReferenceServer::builder().frozen_clock().opportunities(0);
        History {
            peer: Peer::of(builder.in_memory()),
            random: Rng::with_seed(seed),
            commands: 0,
            log: Vec::new(),
            opportunities: Vec::new(),
        }
    }

    fn now(&self) -> i64 {
        self.peer.server.now().as_millisecond()
    }

    fn pass(&self, millis: i64) {
        let passed = Duration::from_millis(millis.unsigned_abs());
        self.peer.server.advance(passed);
    }

    /// Lets some time pass, then creates or moves an opportunity if possible.
    async fn advance(&mut self, currencies: &[&'static str]) {
        let random = &mut self.random;
        let units = [0, 0, 1, 1_000, 60_000, 3_600_000, DAY];
        let passed = random.choice(units).unwrap() * random.i64(0..=30);
        let open = if random.u8(..100) < 80 { 6 } else { 9 };
        let stage = random
            .choice(stages().take(open).collect::<Vec<_>>())
            .unwrap();
        let reason = random.choice(REASONS).filter(|reason| *reason != "none");
        let mut currency = *random.choice(currencies).unwrap();
        let mut values = [random.i64(-9..=999), random.i64(0..=99_999)];
        values.sort_unstable();
        let who = random.usize(0..=self.opportunities.len() * 5 / 3);
        let who = who.min(self.opportunities.len());
        self.pass(passed);
        let at = self.now();

        let before = self.log.iter().rfind(|came| came.who == who);
        let body = if let Some(before) = before {
            (currency, values) = (before.currency, before.values);
            let mut payload = json!({"stage": stage});
            if let Some(reason) = reason {
                payload["reasonCode"] = json!(reason);
            }
            json!({"commandType": "opportunity.move", "subjectReference": self.opportunities[who].0,
                "payload": payload})
        } else {
            json!({"commandType": "opportunity.create", "payload": {"title": "T", "stage": stage,
                "currency": currency, "valueMinMinor": values[0], "valueMaxMinor": values[1]}})
        };
        let reason = reason.filter(|_| before.is_some());
        let stays = before
            .is_some_and(|before| ["won", "closed_not_proceeding", stage].contains(&before.stage));
        let got = self.command(body).await;
        if stays {
            got.expect(409);
            return;
        }
        let reference = got.expect(201)["publicReference"].clone();
        if who == self.opportunities.len() {
            self.opportunities.push((reference, currency));
        }
        self.log.push(Came {
            at,
            who,
            stage,
            reason,
            currency,
            values,
        });
    }

    async fn command(&mut self, mut body: Value) -> Got {
        body["commandId"] = self.commands.to_string().into();
        self.commands += 1;
        self.peer.command(&body).await
    }

    /// Requests a window, compares each figure of the response, and returns its rows.
    async fn compare(&mut self, seed: u64) -> Vec<Value> {
        let mut ends = [self.instant(), self.instant()];
        ends.sort_unstable();
        let [from, to] = ends.map(text);
        let kind = self.random.i64(0..=9);
        let now = self.now();
        // Without `to`, the window ends now and includes the current instant.
        let (query, window, end) = match kind {
            0 => (String::new(), now - 30 * DAY..i64::MAX, now),
            1 => (format!("?to={to}"), ends[1] - 30 * DAY..ends[1], ends[1]),
            2 if ends[0] <= now => (format!("?from={from}"), ends[0]..i64::MAX, now),
            _ => (format!("?from={from}&to={to}"), ends[0]..ends[1], ends[1]),
        };
        let mut funnel = self.peer.crm(&format!("/funnel{query}")).await.expect(200);

        let what = format!("seed {seed}, now {now}, {query}: {funnel}");
        let stages = funnel["stages"].take().as_array().unwrap().clone();
        let rows = self.rows(&window, now);
        assert!(stages.len() == rows.len() && rows.len() <= 40, "{what}");
        for (shown, (row, spent, open)) in stages.iter().zip(rows) {
            let mut shown = shown.clone();
            for (name, times) in [
                ("medianHoursInStage", spent),
                ("medianHoursOpenSoFar", open),
            ] {
                let hours = shown.as_object_mut().unwrap().remove(name).expect(name);
                let (hours, median) = (hours.as_f64(), middle(times));
                // The server rounds to hundredths.
                let near = |(median, hours): (f64, f64)| (median - hours).abs() < 0.005_000_1;
                let agree = hours.zip(median).map_or(hours == median, near);
                assert!(agree, "{name}: {hours:?}, not {median:?}: {row}\n{what}");
            }
            assert_eq!(shown, row, "{what}");
        }
        let rest = json!({
            "schemaVersion": "suite-crm-funnel.v1",
            "window": {"from": text(window.start), "to": text(end)},
            "stages": null,
            "outcomes": self.outcomes(&window),
            "provenance": {"countsOpportunitiesCreatedBefore": text(now), "backfilledOpeningEvents": 0},
        });
        assert_eq!(funnel, rest, "{what}");
        stages
    }

    /// Returns an instant that is likely to be an edge case.
    fn instant(&mut self) -> i64 {
        match self.random.i64(0..=9) {
            0 => self.now(),
            1 => self.now() + self.random.i64(-400..=400) * DAY,
            _ => self.random.choice(&self.log).unwrap().at + self.random.i64(-1..=1),
        }
    }
}

fn text(at: i64) -> String {
    Timestamp::from_millisecond(at).unwrap().to_string()
}

/// A row without its medians, and the durations for both medians.
type Row = (Value, Vec<i64>, Vec<i64>);

/// The plain count.
impl History {
    fn rows(&self, window: &Range<i64>, now: i64) -> Vec<Row> {
        let mut names: Vec<&str> = self.opportunities.iter().map(|one| one.1).collect();
        let all = names.clone();
        names.sort_unstable();
        names.dedup();
        let mut groups: Vec<Vec<&str>> = names.iter().map(|name| vec![*name]).collect();
        let rows = self.rows_of(&groups, window, now);
        if rows.len() <= 40 {
            return rows;
        }
        names.sort_by_key(|name| Reverse(all.iter().filter(|other| *other == name).count()));
        let rest = names.split_off(3);
        groups.retain(|group| names.contains(&group[0]));
        groups.push(rest);
        self.rows_of(&groups, window, now)
    }

    fn rows_of(&self, groups: &[Vec<&str>], window: &Range<i64>, now: i64) -> Vec<Row> {
        let mut rows = Vec::new();
        for stage in stages() {
            let count = rows.len();
            for group in groups {
                let row = self.row(stage, group, window, now);
                let figures = ["openCount", "enteredInWindow", "exitedInWindow"];
                if figures.iter().any(|name| row.0[name] != 0) {
                    rows.push(row);
                }
            }
            if rows.len() == count {
                rows.push(self.row(stage, &["EUR"], window, now));
            }
        }
        rows
    }

    fn row(&self, stage: &str, currencies: &[&str], window: &Range<i64>, now: i64) -> Row {
        let (mut entered, mut spent, mut open, mut values) = (0, Vec::new(), Vec::new(), [0, 0]);
        for (place, came) in self.log.iter().enumerate() {
            if came.stage != stage || !currencies.contains(&came.currency) {
                continue;
            }
            entered += u64::from(window.contains(&came.at));
            let mut later = self.log[place + 1..].iter();
            match later.find(|next| next.who == came.who) {
                Some(next) if window.contains(&next.at) => spent.push(next.at - came.at),
                None if OPEN.split(' ').any(|open| open == stage) => {
                    open.push(now - came.at);
                    values = [0, 1].map(|end| values[end] + came.values[end]);
                }
                _ => {}
            }
        }
        let mut row = json!({
            "stage": stage, "openCount": open.len(), "enteredInWindow": entered, "exitedInWindow": spent.len(),
        });
        if let [currency] = currencies {
            row["currency"] = json!(currency);
            row["valueMinMinor"] = json!(values[0]);
            row["valueMaxMinor"] = json!(values[1]);
        }
        (row, spent, open)
    }

    fn outcomes(&self, window: &Range<i64>) -> Value {
        let within = self.log.iter().filter(|came| window.contains(&came.at));
        let closed = within.filter(|came| ENDED.split(' ').any(|ended| ended == came.stage));
        let closed: Vec<&Came> = closed.collect();
        let came = |stage| closed.iter().filter(|came| came.stage == stage).count();
        let reasons = REASONS.iter().filter_map(|reason| {
            let given = closed.iter().filter(|came| came.reason == Some(*reason));
            let count = given.count();
            (count > 0).then(|| json!({"reasonCode": reason, "count": count}))
        });
        json!({
            "won": came("won"),
            "deferred": came("deferred"),
            "closedNotProceeding": came("closed_not_proceeding"),
            "byCloseReason": reasons.collect::<Vec<_>>(),
        })
    }
}

/// Computes the median in hours, by removing the smallest and the largest duration repeatedly.
fn middle(mut times: Vec<i64>) -> Option<f64> {
    times.sort_unstable();
    while times.len() > 2 {
        times = times[1..times.len() - 1].to_vec();
    }
    let hours = |millis: &i64| Duration::from_millis(millis.unsigned_abs()).as_secs_f64() / 3_600.0;
    Some(f64::midpoint(hours(times.first()?), hours(times.last()?)))
}

/// The query of a funnel, and its count of an opportunity that is created at `{now}`. A window includes its first
/// instant but not its last, unless it ends now because `to` is missing.
const MEETING: &str = "
    from={before}&to={now} | 0
    from={now}&to={now} | 0
    from={now}&to={after} | 1
    from={before}&to={after} | 1
    from={after}&to=2027-01-01T00:00:00Z | 0
    from={now} | 1
    from={before} | 1";

#[tokio::test]
async fn adjacent_windows_count_an_entry_once() {
    let mut history = History::begin(0);
    let new = json!({"commandType": "opportunity.create", "payload": {"title": "T"}});
    history.command(new).await.expect(201);
    let mut table = MEETING.to_owned();
    for (name, offset) in [("{before}", -1), ("{now}", 0), ("{after}", 1)] {
        table = table.replace(name, &text(history.now() + offset));
    }
    for [query, entered] in rows(&table) {
        let path = format!("/funnel?{query}");
        let funnel = history.peer.crm(&path).await.expect(200);
        let seen = funnel["stages"][0]["enteredInWindow"].to_string();
        assert_eq!(seen, entered, "{query}");
    }
}

#[tokio::test]
async fn large_amounts_have_an_exact_sum_and_mixed_currencies_have_none() {
    let mut history = History::begin(0);
    for currency in ["EUR", "NOK", "EUR"] {
        let payload = json!({"title": "T", "currency": currency, "valueMaxMinor": i64::MAX});
        let body = json!({"commandType": "opportunity.create", "payload": payload});
        history.command(body).await.expect(201);
    }
    let funnel = history.peer.crm("/funnel").await.text;
    let maxima = funnel.split(r#""valueMaxMinor":"#).skip(1);
    let maxima: Vec<_> = maxima.filter_map(|text| text.split(',').next()).collect();
    assert_eq!(maxima[..2], ["18446744073709551614", "9223372036854775807"]);
}

/// A window that begins after it ends, starts at an invalid instant, or has two ends.
#[tokio::test]
async fn an_invalid_window_is_rejected() {
    let peer = Peer::start().await;
    for window in [
        "from=2026-02-01T00:00:00Z",
        "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
        "to=0000-01-01T00:00:00Z",
        "to=-009999-01-02T01:59:59Z",
        "to=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
    ] {
        let got = peer.crm(&format!("/funnel?{window}")).await;
        assert_eq!(got.status, 400, "{window}: {}", got.text);
    }
}
