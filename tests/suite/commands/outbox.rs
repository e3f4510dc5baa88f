//! The `outbox` example, killed around the commit of a command, and started again. The example itself kills its service at
//! each of its steps.

use std::process::{Command, Stdio};
use std::time::Duration;

use rusqlite::Connection;
use sdk_calendar::Client;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::PreparedCommand;
use sdk_reference_server::{Fault, Operation, ReferenceServer};

use crate::fixtures;
use crate::programs::{Folder, program};
use crate::support::{Clients as _, builder_for, until};

/// How many orders a service takes in its life.
const ORDERS: u64 = 2;

const COMMANDS: Operation = Operation::SubmitEventCommand;

/// Where a request stands when its service is killed, and whether its command is committed by then.
type Kill = (fn(Fault) -> Fault, bool);

const MINUTE: Duration = Duration::from_secs(60);
const RECEIVED: Kill = (|fault| fault.status(503).delay(MINUTE), false);
const COMMITTED: Kill = (Fault::stall, true);
const ANSWERED_IN_PART: Kill = (|fault| fault.drip_body(1, MINUTE), true);

/// Only the commit makes a difference: the next start gets its result as a replay.
#[tokio::test]
async fn a_service_killed_around_a_commit_commits_once_and_gets_its_receipts() {
    let one_order = [RECEIVED, COMMITTED, ANSWERED_IN_PART].map(|kill| vec![kill]);
    let mut lives = one_order.to_vec();
    // After another attempt, after a lost response, and after a part of its replay.
    lives.push(one_order.concat());
    for (kills, answered) in lives.iter().flat_map(|kills| [(kills, 0), (kills, 1)]) {
        let lab = Lab::start().await;
        for (fault, is_committed) in kills {
            lab.kill(answered, *fault, *is_committed).await;
        }
        assert!(lab.service().status().unwrap().success());

        let database = lab.database();
        let of_each_order = [
            count(&database, "count(DISTINCT order_id)"),
            count(&database, "count(DISTINCT event)"),
            lab.server.commits(COMMANDS),
        ];
        assert_eq!(of_each_order, [ORDERS; 3]);
        let replays = count(&database, "count(*) FILTER (WHERE replayed)");
        let is_replayed = kills.iter().any(|(_, is_committed)| *is_committed);
        assert_eq!(replays, u64::from(is_replayed));
        lab.check_receipts(&database).await;
    }
}

#[tokio::test]
async fn a_row_that_nobody_can_read_is_left_to_a_person_and_the_others_go_on() {
    let lab = Lab::start().await;
    let mut first = lab.service();
    first.args(["--stop-at", "1"]);
    first.stdin(Stdio::null()).stdout(Stdio::null());
    first.status().unwrap();
    let database = lab.database();
    let spoil = "INSERT INTO orders VALUES ('odd', ''); INSERT INTO outbox (order_id, command) VALUES ('odd', '?');";
    database.execute_batch(spoil).unwrap();

    assert!(lab.service().status().unwrap().success());

    assert_eq!(count(&database, "count(DISTINCT event)"), ORDERS);
    let parked = "count(*) FILTER (WHERE parked LIKE 'expected value%')";
    assert_eq!(count(&database, parked), 1);
}

/// A reference server, and a folder for the database of a service.
struct Lab {
    server: ReferenceServer,
    calendar: Client,
    folder: Folder,
}

impl Lab {
    async fn start() -> Lab {
        let server = fixtures::server().await;
        Lab {
            calendar: builder_for(&server).calendar(),
            server,
            folder: Folder::new("outbox-kill"),
        }
    }

    fn database(&self) -> Connection {
        Connection::open(self.folder.file("orders.db")).unwrap()
    }

    /// Kills a service while a request is held, after so many orders of all lives.
    async fn kill(&self, answered: u64, hold: fn(Fault) -> Fault, is_committed: bool) {
        // The orders before it have no request in a later life.
        let done = self.server.commits(COMMANDS).min(answered);
        let fault = hold(self.server.fault(COMMANDS).skip(answered - done));
        let attempts = self.server.attempts(COMMANDS) + answered - done;
        let mut service = self.service().spawn().unwrap();
        until(|| self.server.attempts(COMMANDS) > attempts).await;
        until(|| self.server.commits(COMMANDS) >= answered + u64::from(is_committed)).await;
        service.kill().unwrap();
        service.wait().unwrap();
        fault.remove();
    }

    fn service(&self) -> Command {
        let mut command = Command::new(program("outbox"));
        command
            .arg("service")
            .arg(self.folder.file("orders.db"))
            .arg(ORDERS.to_string())
            .envs(self.server.environment());
        command
    }

    /// Compares each receipt with the server's response to the same command.
    async fn check_receipts(&self, database: &Connection) {
        let rows = "SELECT command, event, order_id FROM outbox WHERE event IS NOT NULL";
        let mut rows = database.prepare(rows).unwrap();
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let rows: Vec<(String, String, String)> = rows.unwrap().map(Result::unwrap).collect();
        for (command, event, order) in rows {
            let command: PreparedCommand = serde_json::from_str(&command).unwrap();
            assert!(command.body().contains(&order));
            let again = self.calendar.send_prepared(&command);
            let again = again.typed::<CalendarCommandResult>().await.unwrap();
            let told = (again.is_replay(), &again.public_reference);
            assert_eq!(told, (Some(true), &event));
        }
    }
}

/// A number out of the orders and their commands.
fn count(database: &Connection, of: &str) -> u64 {
    let query = format!("SELECT {of} FROM orders LEFT JOIN outbox ON order_id = id");
    let count = database.query_row(&query, [], |row| row.get::<_, u32>(0));
    count.unwrap().into()
}
