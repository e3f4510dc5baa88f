use std::future::pending;
use std::time::Duration;

use rusqlite::Connection;
use sdk_calendar::types::EventCommand;
use sdk_calendar::{Client, Suite};
use sdk_outbox::sqlite::{Outbox, enqueue};
use sdk_outbox::{Entry, State, Worker};
use sdk_reference_server::{Operation::SubmitEventCommand, ReferenceServer};
use tokio::time::{sleep, timeout};

#[tokio::test(start_paused = true)]
async fn a_crash_never_books_twice() -> Result<(), Box<dyn std::error::Error>> {
    let server = ReferenceServer::in_memory();
    let suite = Suite::builder()
        .transport(server.service())
        .variables(server.environment())
        .build()?;
    let calendar = Client::new(&suite)?;
    let file = std::env::temp_dir().join(format!("crash-{}.db", std::process::id()));

    // The service stores an order and its command in one transaction, and is killed.
    let outbox = Outbox::open(&file).await?;
    let delivery = EventCommand::create()
        .collection_reference("deliveries")
        .title("Delivery of order 9")
        .starts_at("2026-12-01T09:00:00Z")
        .ends_at("2026-12-01T09:30:00Z")
        .timezone("UTC");
    let call = calendar.events().command(&delivery);
    let command = call.idempotency_key("order-9.delivery-1").prepare()?;
    let mut database = Connection::open(&file)?;
    database.execute_batch("CREATE TABLE orders (id TEXT PRIMARY KEY)")?;
    let tx = database.transaction()?;
    tx.execute("INSERT INTO orders (id) VALUES ('9')", ())?;
    enqueue(&tx, &Entry::new(&command).reference("9"))?;
    tx.commit()?;
    drop((outbox, database));
    assert_eq!(server.attempts(SubmitEventCommand), 0);

    // The next process is killed while it waits for the response to an applied command.
    server.fault(SubmitEventCommand).times(1).lose_reply();
    let outbox = Outbox::open(&file).await?.with_tokio_clock();
    let worker = Worker::new(outbox.clone()).sender(calendar.clone());
    let killed = timeout(Duration::from_millis(10), worker.run(pending()));
    assert!(killed.await.is_err());
    assert_eq!(server.commits(SubmitEventCommand), 1);

    // The third process resends the command when the lease of the second has ended.
    let worker = Worker::new(outbox.clone()).sender(calendar);
    worker.run(sleep(Duration::from_secs(120))).await?;
    assert_eq!(outbox.status().await?.count(State::Done), 1);
    assert!(server.attempts(SubmitEventCommand) > 1);
    assert_eq!(server.commits(SubmitEventCommand), 1);
    drop(outbox);
    Ok(std::fs::remove_file(&file)?)
}
