//! How do several workers send the commands of several customers, each with its own installation, from PostgreSQL?
//!
//! Dependencies: sdk-calendar, sdk-outbox (feature `postgres`), tokio-postgres (feature `runtime`) and tokio (features
//! `macros`, `rt-multi-thread`, `signal` and `time`). This demo starts sdk-reference-server twice and runs both workers
//! in one process. A real fleet runs one worker per process. A remote database needs TLS, not `NoTls`.

use std::time::Duration;

use sdk_calendar::types::EventCommand;
use sdk_calendar::{Client, IdempotencyKey, Suite};
use sdk_outbox::postgres::{Outbox, enqueue};
use sdk_outbox::{Entry, Worker};
use sdk_reference_server::ReferenceServer;
use tokio_postgres::{Config, NoTls, Transaction};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str =
    "OUTBOX_DATABASE is missing: bash .ci/postgres cargo run --example outbox_fleet";

#[tokio::main]
async fn main() -> Result<()> {
    let address = std::env::var("OUTBOX_DATABASE").map_err(|_| USAGE)?;
    let config: Config = address.parse()?;
    let outbox = Outbox::open(config.clone(), NoTls).await?; // creates its tables
    let other = Outbox::open(config.clone(), NoTls).await?;
    let (mut database, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    let table = "CREATE TABLE IF NOT EXISTS outbox_fleet_orders (id bigserial, customer text)";
    database.execute(table, &[]).await?;

    // A worker needs three calls: `new`, `sender` for each customer, and `run`.
    let mut workers = [outbox.clone(), other].map(Worker::new);
    let mut servers = Vec::new();
    for customer in ["acme", "globex"] {
        let server = ReferenceServer::start().await;
        let suite = Suite::builder().label(customer);
        let calendar = Client::new(&suite.variables(server.environment()).build()?)?;
        for _ in 0..3 {
            let tx = database.transaction().await?;
            place(&tx, &calendar, customer).await?;
            tx.commit().await?;
        }
        workers = workers.map(|worker| worker.sender(calendar.clone()));
        servers.push(server);
    }
    let [one, two] = workers.map(|worker| worker.run(shutdown(&outbox)));
    tokio::try_join!(one, two)?;
    println!("{:?}", outbox.status().await?.counts);
    Ok(())
}

/// Stores an order and its delivery command in one transaction. This sends nothing.
async fn place(tx: &Transaction<'_>, calendar: &Client, customer: &str) -> Result<()> {
    let insert = "INSERT INTO outbox_fleet_orders (customer) VALUES ($1) RETURNING id";
    let order: i64 = tx.query_one(insert, &[&customer]).await?.get(0);
    let order = order.to_string();
    let delivery = EventCommand::create()
        .collection_reference("deliveries")
        .title(format!("Delivery of order {order}"))
        .starts_at("2026-12-01T09:00:00Z")
        .ends_at("2026-12-01T09:30:00Z")
        .timezone("UTC");
    let key = IdempotencyKey::derive("orders/delivery", [&order]);
    let call = calendar.events().command(&delivery);
    let command = call.idempotency_key(key).prepare()?;
    let entry = Entry::new(&command).lane(customer).reference(&order);
    enqueue(tx, &entry.installation(customer)).await?; // this line enqueues
    Ok(())
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
