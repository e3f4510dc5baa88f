//! What goes wrong around an outbox: rows that nobody can read, databases that fail, SQL of the caller that fails, and two
//! workers at the same lane.

use std::time::Duration;

use sdk_reference_server::Operation;
use tokio::time::{sleep, timeout};
use tokio_postgres::NoTls;

use super::{LEASE, Lab, TestStore, both, claim, client, connection, done, keyed};
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::store::Store;
use crate::{Entry, Error, State};

const EVENTS: Operation = Operation::SubmitEventCommand;

/// Longer than a statement takes, unless it waits for a lock.
const MOMENT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_row_that_nobody_can_read_is_parked_and_the_others_continue() {
    both(unreadable, unreadable).await;
}

async fn unreadable<S: TestStore>(lab: Lab<S>) {
    for title in ["garbage", "other JSON", "changed", "later version", "good"] {
        lab.place(title, None).await;
    }
    let table = if S::HAS_BODY_TABLE {
        "sdk_outbox_body"
    } else {
        "sdk_outbox"
    };
    let change = |title: &str, to: &str| {
        format!(
            "UPDATE {table} SET command = {to} WHERE id = (SELECT id FROM sdk_outbox WHERE reference = '{title}')"
        )
    };
    lab.raw(&change("garbage", "'{\"secret'")).await;
    lab.raw(&change("other JSON", "'{\"secret\": 1}'")).await;
    lab.raw(&change(
        "changed",
        "replace(command, 'deliveries', 'elsewhere')",
    ))
    .await;
    lab.raw(&change(
        "later version",
        "replace(command, '\"version\":2', '\"version\":3')",
    ))
    .await;
    lab.work_off(lab.worker()).await;
    assert_eq!(lab.committed(), ["good"]);
    let parked = lab.outbox.parked().await.unwrap();
    let notes = parked.iter().map(|it| {
        assert_eq!(it.reason.as_deref(), Some("unreadable"));
        it.note.as_deref().unwrap()
    });
    assert_eq!(
        notes.collect::<Vec<_>>(),
        [
            "it is not JSON: line 1, column 8",
            "it is not the stored form of a command",
            "its digest does not match: it was changed after it was prepared",
            "its stored form has version 3, but this SDK reads only 1 to 2",
        ]
    );
    // Nothing is lost: each row has its body.
    assert_eq!(
        lab.raw(&format!("SELECT count(command) FROM {table}"))
            .await,
        [["5"]]
    );
}

#[tokio::test]
async fn the_callers_sql_is_committed_with_the_receipt_on_sqlite() {
    let mut lab = Lab::<Sqlite>::open().await.unwrap();
    lab.raw("CREATE TABLE orders (id TEXT UNIQUE, delivered TEXT)")
        .await;
    lab.outbox = lab.outbox.on_receipt(|work, stored, receipt| {
        let insert = "INSERT INTO orders VALUES (?1, ?2)";
        work.execute(insert, [stored.reference.as_deref(), Some(&receipt.body)])?;
        // Its second one breaks a rule of the caller's own table.
        let again = stored.reference.as_deref() == Some("bad");
        again
            .then(|| work.execute(insert, ["bad", ""]))
            .transpose()
            .map(drop)
    });
    receipts(lab).await;
}

#[tokio::test]
async fn the_callers_sql_is_committed_with_the_receipt_on_postgresql() {
    let Some(mut lab) = Lab::<Postgres>::open().await else {
        return;
    };
    lab.raw("CREATE TABLE orders (id TEXT UNIQUE, delivered TEXT)")
        .await;
    lab.outbox = lab.outbox.on_receipt(|work, stored, receipt| {
        Box::pin(async move {
            let insert = "INSERT INTO orders VALUES ($1, $2)";
            work.execute(insert, &[&stored.reference, &receipt.body])
                .await?;
            if stored.reference.as_deref() == Some("bad") {
                work.execute(insert, &[&"bad", &""]).await?;
            }
            Ok(())
        })
    });
    receipts(lab).await;
}

async fn receipts<S: TestStore>(lab: Lab<S>) {
    for (title, lane) in [
        ("good", None),
        ("bad", Some("lane")),
        ("next", Some("lane")),
    ] {
        lab.place(title, lane).await;
    }
    let some_time = sleep(Duration::from_secs(1));
    lab.worker().run(some_time).await.unwrap();
    assert_eq!(lab.committed().len(), 2);
    let orders = "SELECT id FROM orders WHERE delivered LIKE '%event.create%'";
    assert_eq!(lab.raw(orders).await, [["good"]]);
    let (reason, note) = lab.parked().await;
    assert_eq!(reason, "not_settled");
    assert!(note.to_lowercase().contains("unique"), "{note}");
    assert!(note.ends_with("it was applied, with status 201"), "{note}");
    // The details of the database may quote a row.
    assert!(!note.contains("Key ("), "{note}");
    assert_eq!(lab.count(State::Waiting).await, 1);
}

#[tokio::test]
async fn sql_of_the_caller_that_panics_hangs_or_spoils_the_transaction_parks_the_command() {
    let lab = Lab::<Sqlite>::open().await.unwrap();
    lab.place("panics", None).await;
    let outbox = lab.outbox.clone();
    let outbox = outbox.on_receipt(|_, _, _| panic!("a mistake of the caller"));
    let worker = crate::Worker::new(outbox).sender(lab.calendar.clone());
    lab.work_off(worker).await;
    assert_eq!(lab.parked().await.0, "not_settled");

    let Some(mut lab) = Lab::<Postgres>::open().await else {
        return;
    };
    for title in ["panics", "hangs", "swallows", "ends"] {
        lab.place(title, None).await;
    }
    lab.outbox = lab.outbox.on_receipt(|work, stored, _| {
        Box::pin(async move {
            match stored.reference.as_deref() {
                Some("panics") => panic!("a mistake of the caller"),
                Some("hangs") => std::future::pending().await,
                Some("swallows") => drop(work.execute("SELECT nothing", &[]).await),
                _ => work.batch_execute("ROLLBACK").await?,
            }
            Ok(())
        })
    });
    lab.work_off(lab.worker()).await;
    let parked = lab.outbox.parked().await.unwrap();
    assert_eq!(parked.len(), 4);
    for parked in parked {
        let note = parked.note.unwrap();
        assert_eq!(parked.reason.as_deref(), Some("not_settled"), "{note}");
        assert!(note.ends_with("it was applied, with status 201"), "{note}");
    }
}

#[tokio::test]
async fn a_worker_needs_no_right_but_those_on_the_tables() {
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

impl Lab<Sqlite> {
    /// Changes the connection of the outbox itself.
    async fn pragma(&self, pragma: &str) {
        let connection = self.outbox.store.connection.lock().await;
        connection
            .execute_batch(&format!("PRAGMA {pragma}"))
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_or_a_locked_file_is_waited_for() {
    for (fail, restore) in [
        ("max_page_count = 1", "max_page_count = 1000000"),
        ("busy_timeout = 1", "busy_timeout = 5000"),
    ] {
        let lab = Lab::<Sqlite>::open().await.unwrap();
        for number in 0..30 {
            lab.place(&number.to_string(), Some("lane")).await;
        }
        // The receipts need new pages.
        lab.server
            .fault(EVENTS)
            .times(1)
            .delay(Duration::from_secs(2));
        let other = connection(&lab.place);
        let trouble = async {
            sleep(Duration::from_secs(1)).await;
            lab.pragma(fail).await;
            let begun = other.execute_batch(if fail.starts_with("busy") {
                "BEGIN IMMEDIATE"
            } else {
                ""
            });
            begun.unwrap();
            sleep(Duration::from_secs(20)).await;
            let early = lab.committed().len();
            assert!(early < 30, "{fail}: {early}");
            if fail.starts_with("busy") {
                other.execute_batch("COMMIT").unwrap();
            }
            lab.pragma(restore).await;
            super::idle(&lab.outbox, Duration::from_millis(100)).await;
        };
        lab.worker().run(trouble).await.unwrap();
        assert_eq!(lab.server.commits(EVENTS), 30, "{fail}");
        assert_eq!(lab.count(State::Done).await, 30, "{fail}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_an_error_that_says_so() {
    let lab = Lab::<Sqlite>::open().await.unwrap();
    lab.place("a", None).await;
    lab.pragma("query_only = ON").await;
    let error = lab.worker().run(std::future::pending()).await.unwrap_err();
    let message = "outbox database: attempt to write a readonly database";
    assert_eq!(error.to_string(), message);
    lab.pragma("query_only = OFF").await;
    lab.work_off(lab.worker()).await;
    assert_eq!(lab.committed(), ["a"]);

    let folder = lab.place.parent().unwrap();
    let nowhere = folder.join("nowhere/outbox.db");
    let odd = folder.join("odd.db");
    std::fs::write(
        &odd,
        "This is no database, but it is long enough to be taken for one. ".repeat(64),
    )
    .unwrap();
    for (path, message) in [
        (folder.to_owned(), "unable to open database file"),
        (nowhere, "No such file or directory"),
        (odd, "file is not a database"),
    ] {
        let error = Sqlite::try_open(&path).await.unwrap_err();
        assert!(
            error.to_string().contains(message),
            "{}: {error}",
            path.display()
        );
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |name: &str| folder.join(name).metadata().unwrap().permissions().mode();
        let modes = ["outbox.db", "outbox.db-wal"].map(|name| mode(name) & 0o777);
        assert_eq!(modes, [0o600; 2]);
    }
}

#[tokio::test]
async fn a_database_that_ends_its_connections_or_does_not_respond_loses_nothing() {
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
        assert!(ended > 3, "{ended}");
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
async fn a_row_that_somebody_else_holds_keeps_nobody_waiting() {
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
    let claims = timeout(MOMENT, claim(&lab.outbox, 1, LEASE)).await;
    assert_eq!(
        claims.unwrap()[0].command.reference.as_deref(),
        Some("free")
    );
}

#[tokio::test]
async fn a_lane_is_stored_into_by_one_transaction_at_a_time() {
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
        let stored = timeout(MOMENT, crate::postgres::enqueue(&second, &entry)).await;
        assert_eq!(stored.is_err(), waits, "{lane:?}");
    }
}

#[tokio::test]
async fn a_command_admitted_while_the_head_of_its_lane_is_finished_is_neither_a_second_head_nor_stuck()
 {
    let Some(lab) = Lab::<Postgres>::open().await else {
        return;
    };
    lab.place("1", Some("lane")).await;
    let other = Postgres::open(&lab.place).await;
    let first = lab.claim(1).await.remove(0);
    // Holds the settlement at its commit.
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
        // The head that is being finished is still there for everybody else.
        assert_eq!(lab.raw(heads).await, [["1"]]);
        drop(holder);
    };
    assert!(tokio::join!(settled, admitted).0);
    other.store.maintain().await.unwrap();
    assert_eq!(lab.raw(heads).await, [["1"]]);
    let next = claim(&other, 9, LEASE).await;
    assert_eq!(next[0].command.reference.as_deref(), Some("2"));
}

#[tokio::test]
async fn another_driver_enqueues_by_the_documented_statement_alone() {
    both(by_plain_sql, by_plain_sql).await;
}

async fn by_plain_sql<S: TestStore>(lab: Lab<S>) {
    let quoted = |text: String| format!("'{}'", text.replace('\'', "''"));
    for title in ["1", "it's 2"] {
        let command = serde_json::to_string(&keyed(&lab.calendar, title)).unwrap();
        let values = [
            "'calendar'".into(),
            "''".into(),
            "'lane'".into(),
            quoted(title.into()),
            quoted(command),
        ];
        let mut statement = S::documented_statement();
        for (at, value) in (1..).zip(&values) {
            for parameter in [format!("?{at}"), format!("${at}")] {
                statement = statement.replace(&parameter, value);
            }
        }
        let output = S::other_driver(&lab.place, &statement).output();
        let output = match output {
            Ok(output) => output,
            Err(error) => return println!("left out: {error}"),
        };
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    lab.work_off(lab.worker()).await;
    assert_eq!(lab.committed(), ["1", "it's 2"]);
    assert!(matches!(
        lab.outbox.retry(1, "ann").await,
        Err(Error::NotParked { id: 1 })
    ));
}
