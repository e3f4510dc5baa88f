//! Tests with unreadable rows, failing databases, and failing SQL of the caller.

use std::time::Duration;

use sdk_reference_server::Operation;
use tokio::time::sleep;

use super::{Lab, TestStore, both, connection, keyed};
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{Error, State};

const EVENTS: Operation = Operation::SubmitEventCommand;

#[tokio::test]
async fn an_unreadable_row_is_parked_and_the_others_continue() {
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
    let parked = lab.outbox.list(State::Parked).await.unwrap();
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
    // Each row still has its body.
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
        // The second insert violates the UNIQUE constraint of the caller's table.
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
    // The note must not contain the database's details, which may quote a row.
    assert!(!note.contains("Key ("), "{note}");
    assert_eq!(lab.count(State::Waiting).await, 1);
}

#[tokio::test]
async fn caller_sql_that_panics_hangs_or_breaks_the_transaction_parks_the_command() {
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
    let parked = lab.outbox.list(State::Parked).await.unwrap();
    assert_eq!(parked.len(), 4);
    for parked in parked {
        let note = parked.note.unwrap();
        assert_eq!(parked.reason.as_deref(), Some("not_settled"), "{note}");
        assert!(note.ends_with("it was applied, with status 201"), "{note}");
    }
}

impl Lab<Sqlite> {
    async fn pragma(&self, pragma: &str) {
        let connection = self.outbox.store.connection.lock().await;
        connection
            .execute_batch(&format!("PRAGMA {pragma}"))
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_waits_out_a_full_disk_or_a_locked_file() {
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
async fn a_read_only_file_or_an_invalid_path_is_a_clear_error() {
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
async fn another_driver_enqueues_with_the_documented_statement() {
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
            Err(error) => return println!("skipped: {error}"),
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
