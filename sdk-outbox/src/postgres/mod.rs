//! An outbox in a PostgreSQL database, for any number of processes.
//!
//! # Enqueue with another driver
//! Run this statement in the transaction that writes your own rows. `command` is the prepared command as JSON, and
//! `application` is [`PreparedCommand::application`](sdk_core::PreparedCommand::application). Lane and reference may be
//! NULL. The lock keeps each lane in commit order. If a transaction enqueues into several lanes, enqueue in the order
//! of the lane names. Otherwise, two transactions may deadlock.
//! ```sql
#![doc = include_str!("enqueue.sql")]
//! ```
//!
//! # Privileges and poolers
//! If the tables don't exist, [`open`](Outbox::open) creates them in the first schema of the connection's
//! `search_path`. After that, a worker needs SELECT, INSERT, UPDATE and DELETE on the tables, and a program that
//! enqueues needs SELECT and INSERT. The tables contain the bodies of commands, so grant these privileges only to your
//! service. Never change or delete rows by hand. A connection pooler must use session mode.

mod session;
mod sql;
mod store;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, GenericClient, Socket, Transaction};

use self::session::Session;
use self::sql::{ENQUEUE, MIGRATIONS, SESSION};
use crate::entry::{Entry, StoredCommand, StoredReceipt};
use crate::error::Error;
use crate::store::migrations;

/// An outbox in a PostgreSQL database.
pub type Outbox = crate::Outbox<Postgres>;

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

type Connect = dyn Fn() -> Boxed<'static, Result<Client, tokio_postgres::Error>> + Send + Sync;

type OnReceipt = dyn for<'a> Fn(
        &'a Transaction<'_>,
        &'a StoredCommand,
        &'a StoredReceipt,
    ) -> Boxed<'a, Result<(), tokio_postgres::Error>>
    + Send
    + Sync;

/// The store of an [`Outbox`].
#[derive(Clone)]
pub struct Postgres {
    connect: Arc<Connect>,
    session: Arc<Mutex<Option<Session>>>,
    on_receipt: Option<Arc<OnReceipt>>,
}

/// Stores a command, and returns its ID.
///
/// Call it in the transaction that writes your own rows, so that both are committed or neither is.
///
/// # Errors
/// If the entry is invalid, or the database fails.
pub async fn enqueue(transaction: &impl GenericClient, entry: &Entry<'_>) -> Result<i64, Error> {
    let command = entry.body()?;
    let values: [(&(dyn ToSql + Sync), Type); 5] = [
        (&entry.command.application(), Type::TEXT),
        (&entry.installation, Type::TEXT),
        (&entry.lane, Type::TEXT),
        (&entry.reference, Type::TEXT),
        (&command, Type::TEXT),
    ];
    let rows = transaction.query_typed(ENQUEUE, &values).await?;
    Ok(rows[0].get(0))
}

impl Outbox {
    /// Opens an outbox in a database.
    ///
    /// If its tables don't exist, this creates them. Their names begin with `sdk_outbox`. The outbox touches no other
    /// tables, and replaces a lost connection.
    ///
    /// `tls` is `tokio_postgres::NoTls`, or a connector from `tokio-postgres-rustls` or
    /// `postgres-native-tls`. If the configuration sets no timeouts, a connection attempt ends after 10 seconds, and a
    /// silent connection after about a minute.
    ///
    /// # Errors
    /// If there is no database, a privilege is missing, or a later release created the tables.
    pub async fn open<T>(config: Config, tls: T) -> Result<Self, Error>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let store = Postgres::new(config, tls);
        store.migrate(true).await?;
        Ok(Self::new(store))
    }

    /// Opens an existing outbox.
    ///
    /// Use it in tools, where the address might be wrong, because it creates no tables.
    ///
    /// # Errors
    /// [`Error::Missing`] if the database has no outbox, and the errors of [`open`](Self::open).
    pub async fn open_existing<T>(config: Config, tls: T) -> Result<Self, Error>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let store = Postgres::new(config, tls);
        store.migrate(false).await?;
        Ok(Self::new(store))
    }

    /// Sets your own SQL, which runs in the transaction that records a receipt.
    ///
    /// If your SQL fails, panics, or takes longer than 5 seconds, the receipt is not recorded, and the command is
    /// parked with the reason `not_settled`. Your SQL must not end the transaction, and must not use the outbox, whose
    /// connection waits for it. To ignore an error of a statement, use a savepoint.
    ///
    /// ```
    /// # fn example(outbox: sdk_outbox::postgres::Outbox) {
    /// let outbox = outbox.on_receipt(|transaction, stored, receipt| Box::pin(async move {
    ///     let update = "UPDATE orders SET delivery = $2 WHERE id = $1";
    ///     transaction.execute(update, &[&stored.reference, &receipt.body]).await?;
    ///     Ok(())
    /// }));
    /// # }
    /// ```
    #[must_use]
    pub fn on_receipt(
        mut self,
        record: impl for<'a> Fn(
            &'a Transaction<'_>,
            &'a StoredCommand,
            &'a StoredReceipt,
        ) -> Pin<
            Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send + 'a>,
        > + Send
        + Sync
        + 'static,
    ) -> Self {
        self.store.on_receipt = Some(Arc::new(record));
        self
    }
}

impl Postgres {
    /// Creates a store that connects when it is first used.
    fn new<T>(mut config: Config, tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(30));
        }
        if config.get_keepalives_idle() == Duration::from_secs(2 * 3600) {
            config.keepalives_idle(Duration::from_secs(30));
        }
        let connect = move || -> Boxed<'static, Result<Client, tokio_postgres::Error>> {
            let (config, tls) = (config.clone(), tls.clone());
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                // The task ends with the client. The next statement returns its error, so it is dropped here.
                tokio::spawn(async move { drop(connection.await) });
                client.batch_execute(SESSION).await?;
                Ok(client)
            })
        };
        Self {
            connect: Arc::new(connect),
            session: Arc::default(),
            on_receipt: None,
        }
    }

    /// Creates or migrates the tables. Only this needs the privilege to create tables.
    async fn migrate(&self, may_create: bool) -> Result<(), Error> {
        let mut session = self.session().await?;
        let transaction = session.client.transaction().await?;
        // The lock lets one process migrate at a time.
        let alone = "SELECT pg_advisory_xact_lock(hashtext('sdk_outbox tables'))";
        transaction.batch_execute(alone).await?;
        let exist = "SELECT to_regclass('sdk_outbox_version') IS NOT NULL";
        let exist: bool = transaction.query_one(exist, &[]).await?.get(0);
        let found = if exist {
            let version = "SELECT version FROM sdk_outbox_version";
            transaction.query_one(version, &[]).await?.get(0)
        } else if may_create {
            0
        } else {
            return Err(Error::Missing);
        };
        let missing = migrations(MIGRATIONS, found)?;
        if !missing.is_empty() {
            let latest = MIGRATIONS.len();
            let version = format!(
                "CREATE TABLE IF NOT EXISTS sdk_outbox_version (version bigint NOT NULL);
                 DELETE FROM sdk_outbox_version; INSERT INTO sdk_outbox_version VALUES ({latest})"
            );
            let statements = missing.iter().copied().chain([&*version]);
            for statement in statements {
                transaction.batch_execute(statement).await?;
            }
        }
        Ok(transaction.commit().await?)
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").finish_non_exhaustive()
    }
}
