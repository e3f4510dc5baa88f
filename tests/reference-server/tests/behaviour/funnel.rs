//! The funnel, against a plain count over the list of all that happened. The count knows the contract and assumption
//! A86, and nothing of how the server keeps its books.

use std::cmp::Reverse;
use std::ops::Range;
use std::time::{Duration, Instant};

use fastrand::Rng;
use jiff::Timestamp;
use sdk_reference_server::{App, ReferenceServer, Transport};
use serde_json::{Value, json};

use crate::peer::{Got, Peer};

const HISTORIES: u64 = 100;
const WINDOWS: u64 = 20;
const DAY: i64 = 86_400_000;

const STAGES: &str = "new review_needed exploring qualified solution_shaping proposal_or_decision \
                      won deferred closed_not_proceeding";
const CURRENCIES: [&str; 9] = [
    "NOK", "EUR", "USD", "GBP", "SEK", "DKK", "CHF", "JPY", "PLN",
];
const REASONS: [&str; 4] = ["budget", "competitor", "none", "timing"];

/// An opportunity came to a stage, by its creation or by a move.
struct Came {
    /// In milliseconds, as all times here.
    at: i64,
    who: usize,
    stage: &'static str,
    reason: Option<&'static str>,
}

struct Opportunity {
    reference: Value,
    currency: &'static str,
    values: [i64; 2],
}

/// A server to which things happen by chance, and what happened.
struct History {
    peer: Peer,
    random: Rng,
    token: (String, i64),
    commands: u64,
    log: Vec<Came>,
    opportunities: Vec<Opportunity>,
}

#[tokio::test]
async fn the_funnel_is_what_a_plain_count_of_a_random_history_gives() {
    compare_histories(0..HISTORIES / 2).await;
}

/// On another core.
#[tokio::test]
async fn the_funnel_is_what_a_plain_count_of_another_random_history_gives() {
    compare_histories(HISTORIES / 2..HISTORIES).await;
}

async fn compare_histories(seeds: Range<u64>) {
    let started = Instant::now();
    let (mut windows, mut moves, mut rows, mut merged) = (0, 0, 0, 0);
    let histories = seeds.clone().count();
    for seed in seeds {
        let mut history = History::begin(seed).await;
        // Many currencies, for more rows than there may be.
        let currencies = &CURRENCIES[..[1, 2, 9][usize::try_from(seed % 3).unwrap()]];
        for window in 0..WINDOWS {
            let first = if window == 0 && seed % 6 == 5 { 70 } else { 1 };
            for _ in 0..first + history.random.i64(0..=2) {
                history.goes_on(currencies).await;
            }
            let told = history.compare(seed).await;
            windows += 1;
            rows += told.len();
            merged += usize::from(told.iter().any(|row| row["currency"].is_null()));
        }
        moves += history.log.len();
    }
    println!(
        "funnel: {windows} windows of {histories} histories compared, {moves} moves, {rows} rows, {merged} replies with \
         several currencies in one row, {:?}",
        started.elapsed()
    );
    assert!(windows == 1_000 && merged > 10, "{merged}");
}

impl History {
    async fn begin(seed: u64) -> History {
        let builder = ReferenceServer::builder().transport(Transport::Hyper);
        let server = builder.frozen_clock().opportunities(0).start().await;
        History {
            peer: Peer::of(server),
            random: Rng::with_seed(seed),
            token: (String::new(), i64::MIN),
            commands: 0,
            log: Vec::new(),
            opportunities: Vec::new(),
        }
    }

    fn now(&self) -> i64 {
        self.peer.server.now().as_millisecond()
    }

    async fn token(&mut self) -> String {
        if self.now() >= self.token.1 {
            self.token = (self.peer.token(App::Crm).await, self.now() + 300_000);
        }
        self.token.0.clone()
    }

    /// Time passes, or not, and an opportunity is created or moved, if it can be.
    async fn goes_on(&mut self, currencies: &[&'static str]) {
        let unit = *self
            .random
            .choice(&[0, 0, 1, 1_000, 60_000, 3_600_000, DAY])
            .unwrap();
        let passed = (unit * self.random.i64(0..=30)).unsigned_abs();
        self.peer.server.advance(Duration::from_millis(passed));
        let stages: Vec<&str> = STAGES.split(' ').collect();
        let last = if self.random.u8(..100) < 80 { 5 } else { 8 };
        let stage = stages[self.random.usize(0..=last)];
        let who = self.random.usize(0..=self.opportunities.len() * 5 / 3);
        let who = who.min(self.opportunities.len());
        let known = self.opportunities.get(who);
        let before = self
            .log
            .iter()
            .rfind(|came| came.who == who)
            .map(|came| came.stage);
        let reason = *self.random.choice(&REASONS).unwrap();
        let currency = *self.random.choice(currencies).unwrap();
        let mut values = [self.random.i64(-9..=999), self.random.i64(0..=99_999)];
        values.sort_unstable();
        let (kind, payload) = if known.is_some() {
            let mut payload = json!({"stage": stage});
            if reason != "none" {
                payload["reasonCode"] = json!(reason);
            }
            ("move", payload)
        } else {
            let payload = json!({"title": "T", "stage": stage, "currency": currency,
                "valueMinMinor": values[0], "valueMaxMinor": values[1]});
            ("create", payload)
        };
        let body = json!({
            "commandType": format!("opportunity.{kind}"), "commandId": format!("{}", self.commands),
            "subjectReference": known.map(|known| &known.reference), "payload": payload,
        });
        self.commands += 1;
        let refused = |before| ["won", "closed_not_proceeding", stage].contains(&before);
        let got = self.command(&body).await;
        if before.is_some_and(refused) {
            got.expect(409);
            return;
        }
        let reference = got.expect(201)["publicReference"].clone();
        if before.is_none() {
            self.opportunities.push(Opportunity {
                reference,
                currency,
                values,
            });
        }
        let reason = (before.is_some() && reason != "none").then_some(reason);
        let at = self.now();
        self.log.push(Came {
            at,
            who,
            stage,
            reason,
        });
    }

    async fn command(&mut self, body: &Value) -> Got {
        let request = self.peer.posting(App::Crm, "/api/crm/v1/commands", body);
        let token = self.token().await;
        self.peer.read(request.bearer_auth(token)).await
    }

    /// Asks for a window, compares each figure of the reply, and gives its rows.
    async fn compare(&mut self, seed: u64) -> Vec<Value> {
        let now = self.now();
        let mut ends = [self.instant(), self.instant()];
        ends.sort_unstable();
        let text = |at: i64| Timestamp::from_millisecond(at).unwrap().to_string();
        let [from, to] = ends.map(text);
        let (query, from, to) = match self.random.i64(0..=9) {
            0 => (String::new(), now - 30 * DAY, now),
            1 => (format!("?to={to}"), ends[1] - 30 * DAY, ends[1]),
            2 if ends[0] <= now => (format!("?from={from}"), ends[0], now),
            _ => (format!("?from={from}&to={to}"), ends[0], ends[1]),
        };
        let path = format!("/api/crm/v1/funnel{query}");
        let token = self.token().await;
        let mut funnel = self
            .peer
            .get_with(App::Crm, &path, &token)
            .await
            .expect(200);

        let what = format!("seed {seed}, now {now}, {query}: {funnel}");
        let told = funnel["stages"].take().as_array().unwrap().clone();
        let rows = self.rows(from..to, now);
        assert!(told.len() == rows.len() && rows.len() <= 40, "{what}");
        for (told, (row, spent, open)) in told.iter().zip(rows) {
            let mut told = told.clone();
            for (name, times) in [
                ("medianHoursInStage", spent),
                ("medianHoursOpenSoFar", open),
            ] {
                let hours = told
                    .as_object_mut()
                    .unwrap()
                    .remove(name)
                    .expect(name)
                    .as_f64();
                // Rounded to hundredths.
                let near = |(told, hours): (f64, f64)| (told - hours).abs() < 0.005_000_1;
                let median = middle(times);
                let agree = hours.zip(median).map_or(hours == median, near);
                assert!(agree, "{name}: {hours:?}, not {median:?}: {row}\n{what}");
            }
            assert_eq!(told, row, "{what}");
        }
        let rest = json!({
            "schemaVersion": "suite-crm-funnel.v1",
            "window": {"from": text(from), "to": text(to)},
            "stages": null,
            "outcomes": self.outcomes(from..to),
            "provenance": {"countsOpportunitiesCreatedBefore": text(now), "backfilledOpeningEvents": 0},
        });
        assert_eq!(funnel, rest, "{what}");
        told
    }

    /// An instant of which one might think twice.
    fn instant(&mut self) -> i64 {
        match self.random.i64(0..=9) {
            0 => self.now(),
            1 => self.now() + self.random.i64(-400..=400) * DAY,
            _ => self.random.choice(&self.log).unwrap().at + self.random.i64(-1..=1),
        }
    }
}

type Window = std::ops::Range<i64>;

/// A row without its medians, and of what these are.
type Row = (Value, Vec<i64>, Vec<i64>);

/// The count.
impl History {
    fn rows(&self, window: Window, now: i64) -> Vec<Row> {
        let mut names: Vec<&str> = self.opportunities.iter().map(|one| one.currency).collect();
        let all = names.clone();
        names.sort_unstable();
        names.dedup();
        let alone: Vec<Vec<&str>> = names.iter().map(|name| vec![*name]).collect();
        let rows = self.rows_of(&alone, &window, now);
        if rows.len() <= 40 {
            return rows;
        }
        names.sort_by_key(|name| Reverse(all.iter().filter(|other| *other == name).count()));
        let rest = names.split_off(3);
        names.sort_unstable();
        let groups = names.into_iter().map(|name| vec![name]).chain([rest]);
        self.rows_of(&groups.collect::<Vec<_>>(), &window, now)
    }

    fn rows_of(&self, groups: &[Vec<&str>], window: &Window, now: i64) -> Vec<Row> {
        let mut rows = Vec::new();
        for stage in STAGES.split(' ') {
            let of = |group: &[&str]| self.row(stage, group, window, now);
            let told = groups.iter().map(|group| of(group));
            let count = rows.len();
            let figures = ["openCount", "enteredInWindow", "exitedInWindow"];
            rows.extend(told.filter(|(row, ..)| figures.iter().any(|name| row[name] != 0)));
            if rows.len() == count {
                rows.push(of(&["EUR"]));
            }
        }
        rows
    }

    fn row(&self, stage: &str, currencies: &[&str], window: &Window, now: i64) -> Row {
        let (mut entered, mut spent, mut open, mut values) = (0, Vec::new(), Vec::new(), [0, 0]);
        for (place, came) in self.log.iter().enumerate() {
            let opportunity = &self.opportunities[came.who];
            if came.stage != stage || !currencies.contains(&opportunity.currency) {
                continue;
            }
            entered += u64::from(window.contains(&came.at));
            let next = self.log[place + 1..]
                .iter()
                .find(|next| next.who == came.who);
            match next {
                Some(next) if window.contains(&next.at) => spent.push(next.at - came.at),
                None if STAGES.split(' ').take(6).any(|name| name == stage) => {
                    open.push(now - came.at);
                    values = [
                        values[0] + opportunity.values[0],
                        values[1] + opportunity.values[1],
                    ];
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

    fn outcomes(&self, window: Window) -> Value {
        let came = |stage: &'static str| {
            let within = self.log.iter().filter(|came| window.contains(&came.at));
            within.filter(move |came| came.stage == stage)
        };
        let [won, deferred, closed] = ["won", "deferred", "closed_not_proceeding"].map(came);
        let reasons = REASONS.map(|reason| {
            let all = won.clone().chain(deferred.clone()).chain(closed.clone());
            json!({"reasonCode": reason, "count": all.filter(|came| came.reason == Some(reason)).count()})
        });
        let reasons: Vec<_> = reasons
            .into_iter()
            .filter(|reason| reason["count"] != 0)
            .collect();
        json!({
            "won": won.count(), "deferred": deferred.count(), "closedNotProceeding": closed.count(),
            "byCloseReason": reasons,
        })
    }
}

/// The median in hours: what is left when the ends are taken off, pair by pair.
fn middle(mut times: Vec<i64>) -> Option<f64> {
    times.sort_unstable();
    while times.len() > 2 {
        times = times[1..times.len() - 1].to_vec();
    }
    let hours = |millis: &i64| Duration::from_millis(millis.unsigned_abs()).as_secs_f64() / 3_600.0;
    Some(f64::midpoint(hours(times.first()?), hours(times.last()?)))
}

#[tokio::test]
async fn large_amounts_have_an_exact_sum_and_those_of_another_currency_none() {
    let mut history = History::begin(0).await;
    for (id, currency) in ["EUR", "NOK", "EUR"].into_iter().enumerate() {
        let payload =
            json!({"title": id.to_string(), "currency": currency, "valueMaxMinor": i64::MAX});
        let body = json!({"commandType": "opportunity.create", "payload": payload});
        history.command(&body).await.expect(201);
    }
    let funnel = history.peer.crm("/funnel").await;
    let maxima = funnel.text.split(r#""valueMaxMinor":"#).skip(1);
    let maxima: Vec<&str> = maxima
        .filter_map(|text| text.split(',').next())
        .take(2)
        .collect();
    assert_eq!(maxima, ["18446744073709551614", "9223372036854775807"]);
}

/// It begins after it ends, or at an instant that has no notation, or ends twice.
#[tokio::test]
async fn a_window_without_two_instants_in_order_is_rejected() {
    let peer = Peer::start().await;
    for window in [
        "from=2026-02-01T00:00:00Z",
        "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
        "to=0000-01-01T00:00:00Z",
        "to=-009999-01-02T01:59:59Z",
        "to=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
    ] {
        peer.refuses(&format!("/funnel?{window}")).await;
    }
}
