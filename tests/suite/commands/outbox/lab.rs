//! Where a service lives and dies: a reference server, a wire that breaks, and the example as a process of its own.

use std::ops::AddAssign;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rusqlite::Connection;
use sdk_calendar::Client;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::PreparedCommand;
use sdk_reference_server::{Operation, ReferenceServer, Transport};
use tokio::runtime::Runtime;

use crate::peer::proxy::{Proxy, Then, Way};
use crate::programs::{Folder, program};
use crate::support::{Clients, suite_for};

/// How many orders a service takes in its life.
pub(super) const ORDERS: u64 = 3;

/// Longer than anything that is waited for takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a service is killed: when so many bytes of requests or replies have passed.
pub(super) type Kill = (Way, usize);

/// What a service left, and what the server saw of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Life {
    pub(super) orders: u64,
    pub(super) commits: u64,
    pub(super) receipts: u64,
    pub(super) replayed: u64,
    pub(super) requests: u64,
}

impl AddAssign for Life {
    fn add_assign(&mut self, other: Life) {
        self.orders += other.orders;
        self.commits += other.commits;
        self.receipts += other.receipts;
        self.replayed += other.replayed;
        self.requests += other.requests;
    }
}

pub(super) struct Lab {
    runtime: Runtime,
    server: ReferenceServer,
    calendar: Client,
    proxy: Proxy,
    folder: Folder,
}

impl Lab {
    pub(super) fn start() -> Lab {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let server = ReferenceServer::builder().transport(Transport::Hyper);
        let server = runtime.block_on(server.start());
        Lab {
            calendar: suite_for(&server).calendar(),
            proxy: Proxy::start(&server.calendar_url()),
            runtime,
            server,
            folder: Folder::new("outbox-kill"),
        }
    }

    /// How many bytes a whole life sends and receives.
    pub(super) fn measure(&mut self) -> (usize, usize) {
        self.live(0, &[]);
        (self.proxy.passed(Way::Up), self.proxy.passed(Way::Down))
    }

    /// A service that is killed at these places, one after another, and then left alone.
    pub(super) fn live(&mut self, number: usize, kills: &[Kill]) -> Life {
        let operation = Operation::SubmitEventCommand;
        let database = self.folder.file(&format!("life-{number:04}.db"));
        let (commits, requests) = (
            self.server.commits(operation),
            self.server.attempts(operation),
        );
        for (way, bytes) in kills {
            self.proxy.break_after(*bytes, *way, Then::Hold);
            let mut service = self.service(&database).spawn().unwrap();
            assert!(self.proxy.broke_within(PATIENCE), "{kills:?}");
            service.kill().unwrap();
            service.wait().unwrap();
        }
        let mut service = self.service(&database).spawn().unwrap();
        assert!(service.wait().unwrap().success(), "after {kills:?}");
        let (commits, requests) = (
            self.server.commits(operation) - commits,
            self.server.attempts(operation) - requests,
        );
        Life {
            commits,
            requests,
            ..self.read(&database)
        }
    }

    /// A service whose first row is no command: its receipts, and what it left to a person.
    pub(super) fn live_beside_nonsense(&mut self) -> (u64, u32) {
        let path = self.folder.file("nonsense.db");
        let mut first = self.service(&path);
        first.args(["--stop-at", "1"]);
        first.stdin(Stdio::null()).stdout(Stdio::null());
        first.status().unwrap();
        let database = Connection::open(&path).unwrap();
        let spoil = "INSERT INTO orders VALUES ('odd', ''); INSERT INTO outbox (order_id, command) VALUES ('odd', '?');";
        database.execute_batch(spoil).unwrap();
        assert!(self.service(&path).status().unwrap().success());
        let count = |row: &rusqlite::Row<'_>| row.get(0);
        let parked = "SELECT count(*) FROM outbox WHERE parked LIKE 'expected value%'";
        let parked = database.query_row(parked, [], count).unwrap();
        (self.read(&path).receipts, parked)
    }

    /// The example, behind the proxy.
    fn service(&self, database: &Path) -> Command {
        let mut command = Command::new(program("outbox"));
        command
            .arg("service")
            .arg(database)
            .arg(ORDERS.to_string())
            .envs(self.server.environment())
            .env("SUITE_CALENDAR_URL", self.proxy.url())
            .env("SUITE_CALENDAR_AUDIENCE", self.server.calendar_url());
        command
    }

    /// What is in the database, each receipt held against what the server says to the same command once more.
    fn read(&self, database: &Path) -> Life {
        let database = Connection::open(database).unwrap();
        let count = |query: &str| {
            database
                .query_row(query, [], |row| row.get::<_, u32>(0))
                .unwrap()
        };
        let mut query = database
            .prepare("SELECT command, event, order_id FROM outbox WHERE event IS NOT NULL")
            .unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        for row in rows.unwrap() {
            let (command, event, order): (String, String, String) = row.unwrap();
            let command: PreparedCommand = serde_json::from_str(&command).unwrap();
            assert!(command.body().contains(&order));
            let again = self
                .calendar
                .send_prepared(&command)
                .typed::<CalendarCommandResult>();
            let again = self.runtime.block_on(again.send()).unwrap();
            assert_eq!(
                (again.is_replay(), &again.public_reference),
                (Some(true), &event)
            );
        }
        Life {
            orders: count("SELECT count(*) FROM orders").into(),
            receipts: count("SELECT count(DISTINCT event) FROM outbox").into(),
            replayed: count("SELECT count(*) FROM outbox WHERE replayed").into(),
            ..Life::default()
        }
    }
}
