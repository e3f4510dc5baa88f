//! How do I store an order and its command in one SQLite transaction, and send the command from a worker?
//!
//! Dependencies: sdk-calendar, sdk-outbox (feature `sqlite`), rusqlite (feature `bundled`) and tokio (features
//! `macros`, `rt-multi-thread`, `signal` and `time`). This demo starts sdk-reference-server. A real service calls
//! `Suite::from_env()` instead, and has a permanent database.

use std::time::Duration;

use rusqlite::Connection;
use sdk_calendar::types::EventCommand;
use sdk_calendar::{Client, IdempotencyKey, Suite};
use sdk_outbox::sqlite::{Outbox, enqueue};
use sdk_outbox::{Entry, State, Worker};
use sdk_reference_server::ReferenceServer;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let server = ReferenceServer::start().await;
    let suite = Suite::builder().variables(server.environment()).build()?;
    let calendar = Client::new(&suite)?;
    let folder = std::env::temp_dir().join(format!("suite-outbox-{}", std::process::id()));
    std::fs::create_dir(&folder)?;

    let path = folder.join("service.db");
    let outbox = Outbox::open(&path).await?; // creates a file that only its owner can read
    let mut database = Connection::open(&path)?;
    database.execute_batch("CREATE TABLE orders (id TEXT PRIMARY KEY, delivery TEXT)")?;
    for number in 1..=3 {
        place(&mut database, &calendar, "customer-17", &number.to_string())?;
    }
    println!("stored: {:?}", outbox.status().await?.counts);

    let outbox = outbox.on_receipt(|tx, stored, receipt| {
        let update = "UPDATE orders SET delivery = ?2 WHERE id = ?1";
        tx.execute(update, (&stored.reference, &receipt.body))?;
        Ok(())
    });
    // The worker takes these two lines and the line above that opens the outbox.
    let worker = Worker::new(outbox.clone()).sender(calendar);
    worker.run(shutdown(&outbox)).await?;

    println!("sent: {:?}", outbox.status().await?.counts);
    println!("parked: {:?}", outbox.list(State::Parked).await?);
    Ok(std::fs::remove_dir_all(folder)?)
}

/// Stores an order and its delivery command in one transaction. This sends nothing.
fn place(database: &mut Connection, calendar: &Client, customer: &str, order: &str) -> Result<()> {
    let delivery = EventCommand::create()
        .collection_reference("deliveries")
        .title(format!("Delivery of order {order}"))
        .starts_at("2026-12-01T09:00:00Z")
        .ends_at("2026-12-01T09:30:00Z")
        .timezone("UTC");
    let call = calendar.events().command(&delivery);
    let key = IdempotencyKey::derive("orders/delivery", [order]);
    let command = call.idempotency_key(key).prepare()?;

    let tx = database.transaction()?;
    tx.execute("INSERT INTO orders (id) VALUES (?1)", [order])?;
    enqueue(&tx, &Entry::new(&command).lane(customer).reference(order))?; // this line enqueues
    Ok(tx.commit()?)
}

/// Completes on Ctrl-C. In this demo, it also completes once all commands have been sent.
async fn shutdown(outbox: &Outbox) {
    let sent = async {
        while outbox.status().await.is_ok_and(|it| it.oldest.is_some()) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! { _ = tokio::signal::ctrl_c() => {} () = sent => {} }
}
