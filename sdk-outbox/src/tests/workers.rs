//! Tests of the worker. Tests that depend on time use a paused clock.

use std::collections::BTreeMap;
use std::future::ready;
use std::time::Duration;

use sdk_reference_server::{Operation, ReferenceServer};
use tokio::time::{Instant, sleep};

use super::{Lab, TestStore, both, calendar, committed, idle, keyed, unkeyed};
use crate::sqlite::Sqlite;
use crate::{Entry, State, StoredRule, Worker};

const EVENTS: Operation = Operation::SubmitEventCommand;
const DAY: Duration = Duration::from_secs(24 * 3600);

impl Lab<Sqlite> {
    /// Opens an outbox on tokio's clock, which the test may pause.
    async fn on_tokio_clock() -> Self {
        let mut lab = Self::open().await.unwrap();
        lab.outbox = lab.outbox.with_tokio_clock();
        lab
    }
}

#[tokio::test]
async fn every_command_is_sent_in_lane_order_and_gets_its_receipt() {
    both(everything, everything).await;
}

async fn everything<S: TestStore>(lab: Lab<S>) {
    for number in 0..20 {
        let lane = ["a", "b"][number % 2];
        lab.place(&format!("{lane} {number:02}"), Some(lane)).await;
    }
    lab.place("free", None).await;
    lab.server.fault(EVENTS).every(4).lose_reply();
    lab.work_off(lab.worker()).await;
    let committed = lab.committed();
    assert_eq!(committed.len(), 21);
    assert_eq!(lab.server.commits(EVENTS), 21);
    for lane in ["a", "b"] {
        let own: Vec<_> = committed.iter().filter(|it| it.starts_with(lane)).collect();
        assert!(own.is_sorted(), "{own:?}");
    }
    assert_eq!(lab.count(State::Done).await, 21);
    let receipts = "SELECT http_status, count(*) FROM sdk_outbox WHERE result LIKE '%suite-calendar-command-result.v1%' GROUP BY 1";
    let receipts = lab.raw(receipts).await;
    let (created, replayed): (Vec<_>, Vec<_>) = receipts.iter().partition(|it| it[0] == "201");
    assert!(!created.is_empty() && replayed.len() <= 1, "{receipts:?}");
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_during_an_outage_and_after_a_day_the_command_is_parked() {
    let lab = Lab::on_tokio_clock().await;
    lab.place("a", None).await;
    let outage = lab.server.fault(EVENTS).status(503);
    let began = Instant::now();
    let poll = Duration::from_secs(600);
    let worker = lab.worker().poll(poll);
    worker.run(idle(&lab.outbox, poll)).await.unwrap();
    let (reason, note) = lab.parked().await;
    assert_eq!(reason, "too_old", "{note}");
    let lasted = began.elapsed();
    assert!(
        lasted > DAY && lasted < DAY + Duration::from_secs(1900),
        "{lasted:?}"
    );
    // The attempts are up to ten minutes apart, and each call has retries.
    let attempts = lab.server.attempts(EVENTS);
    assert!((200..1000).contains(&attempts), "{attempts}");
    outage.remove();
    let id = lab.outbox.list(State::Parked).await.unwrap()[0].id;
    lab.outbox.retry(id, "ann").await.unwrap();
    lab.work_off(lab.worker()).await;
    assert_eq!(lab.count(State::Done).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_command_without_a_key_whose_response_was_lost_is_never_resent() {
    let lab = Lab::on_tokio_clock().await;
    let command = unkeyed(&lab.calendar, "a");
    Sqlite::enqueue(&lab.place, &Entry::new(&command)).await;
    lab.server.fault(Operation::RespondAttendance).lose_reply();
    lab.work_off(lab.worker()).await;
    sleep(DAY).await;
    lab.work_off(lab.worker()).await;
    assert_eq!(lab.parked().await.0, "no_replay");
    assert_eq!(lab.server.attempts(Operation::RespondAttendance), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_before_its_lease_does() {
    let lab = Lab::on_tokio_clock().await;
    lab.place("a", None).await;
    lab.server
        .fault(EVENTS)
        .times(1)
        .delay(Duration::from_secs(600));
    let lease = Duration::from_secs(4);
    let worker = lab.worker().lease(lease);
    let others = Sqlite::open(&lab.place).await.with_tokio_clock();
    let steal = async {
        // If the lease expired during the call, another worker would release the command.
        for _ in 0..60 {
            sleep(Duration::from_millis(100)).await;
            let expired = "SELECT count(*) FROM sdk_outbox WHERE lease_expired";
            crate::store::Store::maintain(&others.store).await.unwrap();
            assert_eq!(lab.raw(expired).await, [["0"]]);
        }
    };
    tokio::join!(lab.work_off(worker), steal);
    assert_eq!(lab.count(State::Done).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_worker_ignores_commands_without_a_matching_sender() {
    let lab = Lab::on_tokio_clock().await;
    let command = keyed(&lab.calendar, "other");
    let entry = Entry::new(&command).installation("other");
    Sqlite::enqueue(&lab.place, &entry).await;
    lab.place("own", None).await;
    lab.worker()
        .run(sleep(Duration::from_secs(60)))
        .await
        .unwrap();
    assert_eq!(lab.committed(), ["own"]);
    let untouched = "SELECT state, attempts FROM sdk_outbox WHERE installation = 'other'";
    assert_eq!(lab.raw(untouched).await, [["1", "0"]]);
    let other = calendar(&lab.server, Some("other"));
    let worker = Worker::new(lab.outbox.clone()).sender(other);
    lab.work_off(worker).await;
    assert_eq!(lab.committed(), ["own", "other"]);
}

#[tokio::test(start_paused = true)]
async fn wake_ends_the_wait_for_the_next_poll() {
    let lab = Lab::on_tokio_clock().await;
    let worker = lab.worker().poll(Duration::from_secs(3600));
    let commit = async {
        sleep(Duration::from_secs(60)).await;
        lab.place("a", None).await;
        lab.outbox.wake();
        sleep(Duration::from_secs(1)).await;
    };
    let began = Instant::now();
    worker.run(commit).await.unwrap();
    assert_eq!(lab.committed(), ["a"]);
    assert!(began.elapsed() < Duration::from_secs(70));
}

#[tokio::test(start_paused = true)]
async fn a_lane_continues_without_waiting_for_the_next_poll() {
    let lab = Lab::on_tokio_clock().await;
    for number in 0..20 {
        lab.place(&number.to_string(), Some("lane")).await;
    }
    let worker = lab.worker().poll(Duration::from_secs(3600));
    worker.run(sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!(lab.count(State::Done).await, 20);
}

#[tokio::test(start_paused = true)]
async fn the_callers_check_runs_before_each_attempt_and_can_park_the_command() {
    let lab = Lab::on_tokio_clock().await;
    for title in ["good", "bad"] {
        lab.place(title, None).await;
    }
    lab.server.fault(EVENTS).times(3).status(503);
    let checks = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = checks.clone();
    let worker = lab.worker().before_send(move |stored, command| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        assert!(
            command
                .body()
                .contains(stored.reference.as_deref().unwrap())
        );
        let is_bad = stored.reference.as_deref() == Some("bad");
        ready(if is_bad {
            Err("not approved".to_owned())
        } else {
            Ok(())
        })
    });
    lab.work_off(worker).await;
    assert_eq!(lab.committed(), ["good"]);
    let parked = lab.parked().await;
    assert_eq!(
        parked,
        ("check_failed".to_owned(), "not approved".to_owned())
    );
    // The bad command is checked once, and the good command twice, because its first call failed.
    assert_eq!(checks.load(std::sync::atomic::Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_check_that_hangs_or_panics_parks_its_command_and_delays_no_other() {
    let lab = Lab::on_tokio_clock().await;
    for title in ["hangs", "panics", "good"] {
        lab.place(title, None).await;
    }
    let worker = lab.worker().before_send(|stored, _| async move {
        match stored.reference.as_deref() {
            Some("hangs") => std::future::pending().await,
            Some("panics") => panic!("a mistake of the caller"),
            _ => Ok(()),
        }
    });
    let began = Instant::now();
    lab.work_off(worker).await;
    assert!(began.elapsed() < Duration::from_secs(40));
    assert_eq!(lab.committed(), ["good"]);
    let parked = lab.outbox.list(State::Parked).await.unwrap();
    let notes = parked.iter().map(|it| it.note.as_deref().unwrap());
    let expected = [
        "the check took longer than the lease allows",
        "the check panicked",
    ];
    assert_eq!(notes.collect::<Vec<_>>(), expected);
    assert!(parked.iter().all(|it| it.first_sent.is_none()));
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_a_worker_settles_calls_in_flight_and_claims_nothing_more() {
    let lab = Lab::on_tokio_clock().await;
    for number in 0..10 {
        lab.place(&number.to_string(), None).await;
    }
    lab.server.fault(EVENTS).delay(Duration::from_secs(5));
    let began = Instant::now();
    let worker = lab.worker();
    worker.run(sleep(Duration::from_secs(1))).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(lab.server.attempts(EVENTS), 4);
    assert_eq!(lab.count(State::Done).await, 4);
    let rest = "SELECT state, attempts, first_sent, count(*) FROM sdk_outbox WHERE state <> 5 GROUP BY 1, 2, 3";
    assert_eq!(lab.raw(rest).await, [["1", "0", "", "6"]]);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_shutdown_has_an_unknown_effect() {
    let lab = Lab::on_tokio_clock().await;
    lab.place("keyed", None).await;
    let command = unkeyed(&lab.calendar, "unkeyed");
    Sqlite::enqueue(&lab.place, &Entry::new(&command)).await;
    lab.server.fault_everywhere().delay(Duration::from_secs(25));
    let began = Instant::now();
    let worker = lab.worker().shutdown_time(Duration::from_secs(10));
    worker.run(sleep(Duration::from_secs(1))).await.unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(12),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(lab.parked().await.0, "no_replay");
    let keyed =
        "SELECT state, attempts, first_sent IS NULL FROM sdk_outbox WHERE reference = 'keyed'";
    assert_eq!(lab.raw(keyed).await, [["1", "1", "0"]]);
}

#[tokio::test(start_paused = true)]
async fn an_installation_that_is_down_is_retried_after_pauses_and_delays_no_other() {
    let lab = Lab::on_tokio_clock().await;
    let (up, down) = (ReferenceServer::in_memory(), ReferenceServer::in_memory());
    let outage = down.fault_everywhere().refuse_connection();
    let clients = [calendar(&up, Some("up")), calendar(&down, Some("down"))];
    for number in 0..100 {
        let label = ["up", "down"][number % 2];
        let command = keyed(&lab.calendar, &number.to_string());
        // Both servers have the same audiences as the lab's server.
        let entry = Entry::new(&command).installation(label);
        Sqlite::enqueue(&lab.place, &entry).await;
    }
    let [one, other] = clients;
    let worker = || {
        Worker::new(lab.outbox.clone())
            .sender(one.clone())
            .sender(other.clone())
    };
    worker().run(sleep(Duration::from_secs(600))).await.unwrap();
    assert_eq!(committed(&up).len(), 50);
    let tried = lab
        .raw("SELECT sum(attempts), max(attempts) FROM sdk_outbox WHERE installation = 'down'")
        .await;
    // The pauses grow to a minute. After the first four commands, about ten attempts fit into ten minutes.
    let tried: u32 = tried[0][0].parse().unwrap();
    assert!((8..40).contains(&tried), "{tried}");
    outage.remove();
    lab.work_off(worker()).await;
    assert_eq!(committed(&down).len(), 50);
}

/// Returns the 99th percentile of the waiting time of commands for the installations `a` and `b`.
async fn waiting(slow: Option<Duration>) -> Duration {
    let lab = Lab::on_tokio_clock().await;
    let servers = ["a", "b", "c"].map(|label| (label, ReferenceServer::in_memory()));
    if let Some(delay) = slow {
        servers[2].1.fault(EVENTS).delay(delay);
    }
    let mut worker = Worker::new(lab.outbox.clone());
    for (label, server) in &servers {
        server.fault(EVENTS).delay(Duration::from_millis(20));
        worker = worker.sender(calendar(server, Some(label)));
    }
    let stored: std::sync::Arc<std::sync::Mutex<BTreeMap<String, Duration>>> =
        std::sync::Arc::default();
    let times = stored.clone();
    let began = Instant::now();
    let worker = worker.before_send(move |command, _| {
        let placed: u64 = command.reference.unwrap().parse().unwrap();
        let waited = began
            .elapsed()
            .saturating_sub(Duration::from_millis(placed));
        if command.installation != "c" {
            times.lock().unwrap().insert(command.id.to_string(), waited);
        }
        ready(Ok(()))
    });
    let place = async {
        for number in 0..150 {
            let placed = began.elapsed().as_millis().to_string();
            let command = keyed(&lab.calendar, &number.to_string());
            let label = servers[number % 3].0;
            let entry = Entry::new(&command).installation(label).reference(&placed);
            Sqlite::enqueue(&lab.place, &entry).await;
            sleep(Duration::from_millis(30)).await;
        }
        sleep(Duration::from_secs(5)).await;
    };
    worker
        .shutdown_time(Duration::ZERO)
        .run(place)
        .await
        .unwrap();
    let mut waits: Vec<Duration> = stored.lock().unwrap().values().copied().collect();
    assert_eq!(waits.len(), 100);
    waits.sort_unstable();
    waits[waits.len() * 99 / 100]
}

#[tokio::test(start_paused = true)]
async fn fault_94_an_installation_that_takes_30_seconds_does_not_make_the_others_wait() {
    let (usual, beside) = (
        waiting(None).await,
        waiting(Some(Duration::from_secs(30))).await,
    );
    println!(
        "waiting time, 99th percentile: {usual:?} without the slow installation, {beside:?} with it"
    );
    assert!(beside <= usual * 2, "{usual:?}, {beside:?}");
}

#[tokio::test(start_paused = true)]
async fn the_callers_rule_decides_when_a_command_is_parked() {
    let lab = Lab::on_tokio_clock().await;
    lab.place("a", None).await;
    lab.server.fault(EVENTS).status(503);
    let rule = StoredRule::default().with_max_attempts(3);
    lab.work_off(lab.worker().rule(rule)).await;
    assert_eq!(lab.parked().await.0, "too_many_attempts");
}

#[tokio::test(start_paused = true)]
async fn on_status_receives_a_status_every_30_seconds() {
    let lab = Lab::on_tokio_clock().await;
    lab.place("a", None).await;
    let seen: std::sync::Arc<std::sync::Mutex<Vec<u64>>> = std::sync::Arc::default();
    let counts = seen.clone();
    let worker = lab.worker().on_status(move |status| {
        counts.lock().unwrap().push(status.count(State::Done));
    });
    worker.run(sleep(Duration::from_secs(100))).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [0, 1, 1, 1]);
}
