//! Tests that only concern PostgreSQL: locks between workers and services, privileges, and lost connections.

use std::time::Duration;

use sdk_reference_server::Operation;
use tokio::time::{sleep, timeout};
use tokio_postgres::NoTls;

use super::{LEASE, Lab, TestStore, claim, client, done, keyed};
use crate::Entry;
use crate::postgres::Postgres;
use crate::store::Store;

const EVENTS: Operation = Operation::SubmitEventCommand;

/// A statement that takes longer than this is presumably waiting for a lock.
const MOMENT: Duration = Duration::from_millis(300);

/// A time limit for statements, longer than a statement on a busy machine takes and shorter than the lock timeout.
const LIMIT: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_worker_needs_only_privileges_on_the_tables() {
    let Some(lab) = Lab::<Postgres>::open().await else {
        return;
    };
    let schema = lab.raw("SHOW search_path").await[0][0].clone();
    let grant = format!(
        "CREATE ROLE {schema}; GRANT USAGE ON SCHEMA {schema} TO {schema};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {schema}"
    );
    lab.raw(&grant).await;
    let mut place = lab.place.clone();
    place.options(format!("-c role={schema} -c search_path={schema}"));
    let outbox = crate::postgres::Outbox::open(place.clone(), NoTls)
        .await
        .unwrap();
    let command = keyed(&lab.calendar, "a");
    let entry = Entry::new(&command).lane("lane");
    Postgres::enqueue(&place, &entry).await;
    let worker = crate::Worker::new(outbox.clone()).sender(lab.calendar.clone());
    lab.work_off(worker).await;
    assert_eq!(lab.committed(), ["a"]);
    assert_eq!(outbox.purge(Duration::ZERO).await.unwrap(), 1);
}

#[tokio::test]
async fn a_lane_among_many_commands_does_not_wait_for_the_next_poll() {
    let Some(lab) = Lab::<Postgres>::open().await else {
        return;
    };
    for number in 0..15 {
        let lane = (number < 3).then_some("lane");
        lab.place(&number.to_string(), lane).await;
    }
    let worker = lab.worker().poll(Duration::from_secs(60));
    let idle = super::idle(&lab.outbox, Duration::from_millis(20));
    timeout(Duration::from_secs(10), worker.run(idle))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn no_command_is_lost_if_the_database_ends_connections() {
    let Some(lab) = Lab::<Postgres>::open().await else {
        return;
    };
    for number in 0..60 {
        let lane = ["a", "b", "c"][number % 3];
        lab.place(&number.to_string(), Some(lane)).await;
    }
    lab.server.fault(EVENTS).delay(Duration::from_millis(10));
    let schema = lab.raw("SHOW search_path").await[0][0].clone();
    let end =
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = ";
    let end = format!("{end}'{schema}'");
    let mut named = lab.place.clone();
    named.application_name(&schema);
    let outbox = crate::postgres::Outbox::open(named, NoTls).await.unwrap();
    let trouble = async {
        let mut ended = 0;
        for _ in 0..8 {
            sleep(Duration::from_millis(60)).await;
            ended += lab.raw(&end).await[0][0].parse::<u32>().unwrap();
        }
        assert!(ended > 0);
        super::idle(&lab.outbox, Duration::from_millis(20)).await;
    };
    let worker = crate::Worker::new(outbox).sender(lab.calendar.clone());
    worker
        .poll(Duration::from_millis(20))
        .run(trouble)
        .await
        .unwrap();
    assert_eq!(lab.committed().len(), 60);
    assert_eq!(lab.server.commits(EVENTS), 60);

    let mut nowhere = lab.place.clone();
    nowhere.dbname("nowhere");
    let error = crate::postgres::Outbox::open(nowhere, NoTls)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("database \"nowhere\" does not exist"),
        "{error}"
    );
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_locked_row_does_not_block_claims_of_other_rows() {
    let Some(lab) = Lab::<Postgres>::open().await else {
        return;
    };
    for title in ["held", "free"] {
        lab.place(title, None).await;
    }
    lab.outbox.store.maintain().await.unwrap();
    let mut holder = client(&lab.place).await.unwrap();
    let held = holder.transaction().await.unwrap();
    held.execute(
        "SELECT id FROM sdk_outbox WHERE reference = 'held' FOR UPDATE",
        &[],
    )
    .await
    .unwrap();
    let claims = timeout(LIMIT, claim(&lab.outbox, 1, LEASE)).await;
    assert_eq!(
        claims.unwrap()[0].command.reference.as_deref(),
        Some("free")
    );
}

#[tokio::test]
async fn one_transaction_at_a_time_enqueues_into_a_lane() {
    let Some(lab) = Lab::<Postgres>::open().await else {
        return;
    };
    let command = keyed(&lab.calendar, "a");
    let [mut one, mut other] = [
        client(&lab.place).await.unwrap(),
        client(&lab.place).await.unwrap(),
    ];
    let first = one.transaction().await.unwrap();
    crate::postgres::enqueue(&first, &Entry::new(&command).lane("lane"))
        .await
        .unwrap();
    let second = other.transaction().await.unwrap();
    for (lane, waits) in [(None, false), (Some("other"), false), (Some("lane"), true)] {
        let entry = Entry::new(&command);
        let entry = lane.map_or(entry, |lane| entry.lane(lane));
        let limit = if waits { MOMENT } else { LIMIT };
        let stored = timeout(limit, crate::postgres::enqueue(&second, &entry)).await;
        assert_eq!(stored.is_err(), waits, "{lane:?}");
    }
}

#[tokio::test]
async fn a_command_admitted_while_its_lanes_head_is_settled_becomes_the_next_head() {
    let Some(lab) = Lab::<Postgres>::open().await else {
        return;
    };
    lab.place("1", Some("lane")).await;
    let other = Postgres::open(&lab.place).await;
    let first = lab.claim(1).await.remove(0);
    // The trigger stops the settlement at its commit.
    lab.raw(
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock(94, 36); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON sdk_outbox DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (new.state = 5) EXECUTE FUNCTION hold()",
    )
    .await;
    let holder = client(&lab.place).await.unwrap();
    let lock = "SELECT pg_advisory_lock(94, 36)";
    holder.batch_execute(lock).await.unwrap();
    let heads = "SELECT count(*) FROM sdk_outbox WHERE state IN (1, 3, 4)";
    let settled = async {
        lab.outbox
            .store
            .settle(&first, &done(&first))
            .await
            .unwrap()
    };
    let admitted = async {
        let held = "SELECT pid FROM pg_locks WHERE classid = 94 AND objid = 36 AND NOT granted";
        while lab.raw(held).await.is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
        lab.place("2", Some("lane")).await;
        other.store.maintain().await.unwrap();
        // Until the commit, other connections still see the head.
        assert_eq!(lab.raw(heads).await, [["1"]]);
        drop(holder);
    };
    assert!(tokio::join!(settled, admitted).0);
    other.store.maintain().await.unwrap();
    assert_eq!(lab.raw(heads).await, [["1"]]);
    let next = claim(&other, 9, LEASE).await;
    assert_eq!(next[0].command.reference.as_deref(), Some("2"));
}
