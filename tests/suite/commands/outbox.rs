//! The `outbox` example, killed on both sides of each boundary on the wire, and started again. The example itself kills
//! its service at each of its steps.

use std::process::{Command, Stdio};
use std::time::Duration;

use rusqlite::{Connection, Row};
use sdk_calendar::Client;
use sdk_calendar::types::CalendarCommandResult;
use sdk_core::PreparedCommand;
use sdk_reference_server::{Operation, ReferenceServer};

use crate::fixtures;
use crate::peer::proxy::{Proxy, Way};
use crate::programs::{Folder, program};
use crate::support::{calendar_for, is_long};

/// How many orders a service takes in its life.
const ORDERS: u64 = 2;

const COMMANDS: Operation = Operation::SubmitEventCommand;

/// Where a service is killed: when so many bytes of requests or responses have passed.
type Kill = (Way, usize);

/// The bytes of a request or a response.
#[derive(Clone, Copy)]
struct Message {
    head: usize,
    whole: usize,
}

/// A killed service has sent nothing, a part of a request, a whole request, or has a part of the response too. Only the
/// whole request makes a difference: the command is committed, and the next start gets its result as a replay.
#[tokio::test]
async fn a_service_killed_at_any_byte_commits_once_and_gets_its_receipts() {
    let [request, response] = Lab::start().await.measure();
    let mut lives: Vec<(Vec<Kill>, u64)> = Vec::new();
    for (way, message, replayed) in [(Way::Up, request, 0), (Way::Down, response, 1)] {
        let Message { head, whole } = message;
        // The last one is within the second order, after the receipt of the first.
        let boundaries = [0, 1, head - 1, head, whole - 1, whole + 1];
        let between = (0..whole).step_by(whole / 40).filter(|_| is_long());
        for bytes in boundaries.into_iter().chain(between) {
            lives.push((vec![(way, bytes)], replayed));
        }
    }
    // One order after another attempt, after a lost response, and after a part of its replay.
    lives.push((
        vec![(Way::Up, request.whole - 1), (Way::Down, 0), (Way::Down, 1)],
        1,
    ));

    for (kills, replayed) in &lives {
        let lab = Lab::start().await;
        lab.live(kills);
        let database = lab.database();
        let of_each_order = [
            count(&database, "count(DISTINCT order_id)"),
            count(&database, "count(DISTINCT event)"),
            lab.server.commits(COMMANDS),
        ];
        assert_eq!(of_each_order, [ORDERS; 3], "{kills:?}");
        let replays = count(&database, "count(*) FILTER (WHERE replayed)");
        assert_eq!(replays, *replayed, "{kills:?}");
        let lost = kills.iter().filter(|(way, _)| *way == Way::Down).count();
        let requests = lab.server.attempts(COMMANDS);
        assert_eq!(requests, ORDERS + lost as u64, "{kills:?}");
        lab.check_receipts(&database).await;
    }
}

#[tokio::test]
async fn a_row_that_nobody_can_read_is_left_to_a_person_and_the_others_go_on() {
    let lab = Lab::start().await;
    let mut first = lab.service(ORDERS);
    first.args(["--stop-at", "1"]);
    first.stdin(Stdio::null()).stdout(Stdio::null());
    first.status().unwrap();
    let database = lab.database();
    let spoil = "INSERT INTO orders VALUES ('odd', ''); INSERT INTO outbox (order_id, command) VALUES ('odd', '?');";
    database.execute_batch(spoil).unwrap();

    assert!(lab.service(ORDERS).status().unwrap().success());

    assert_eq!(count(&database, "count(DISTINCT event)"), ORDERS);
    let parked = "count(*) FILTER (WHERE parked LIKE 'expected value%')";
    assert_eq!(count(&database, parked), 1);
}

/// A reference server, a wire to it that breaks, and a folder for the database of a service. Each life has its own, in which
/// messages are as long as in any other: names, ports and the numbers of tokens are.
struct Lab {
    server: ReferenceServer,
    calendar: Client,
    proxy: Proxy,
    folder: Folder,
}

impl Lab {
    async fn start() -> Lab {
        let server = fixtures::server().await;
        Lab {
            calendar: calendar_for(&server),
            proxy: Proxy::start(&server.calendar_url()),
            server,
            folder: Folder::new("outbox-kill"),
        }
    }

    fn database(&self) -> Connection {
        Connection::open(self.folder.file("orders.db")).unwrap()
    }

    /// The first request of a service and its response.
    fn measure(&self) -> [Message; 2] {
        assert!(self.service(1).status().unwrap().success());
        let bodies = "SELECT length(command ->> 'body'), length(result) FROM outbox";
        let row = |row: &Row<'_>| Ok([row.get(0)?, row.get(1)?]);
        let [sent, received]: [u16; 2] = self.database().query_row(bodies, [], row).unwrap();
        [(Way::Up, sent), (Way::Down, received)].map(|(way, body)| {
            let whole = self.proxy.passed(way);
            let head = whole - usize::from(body);
            Message { head, whole }
        })
    }

    /// Lets a service be killed at these places, one after another, and then leaves it alone.
    fn live(&self, kills: &[Kill]) {
        for (way, bytes) in kills {
            self.proxy.break_after(*bytes, *way);
            let mut service = self.service(ORDERS).spawn().unwrap();
            let broke = self.proxy.broke_within(Duration::from_secs(60));
            service.kill().unwrap();
            service.wait().unwrap();
            assert!(broke, "{kills:?}");
        }
        let ended = self.service(ORDERS).status().unwrap();
        assert!(ended.success(), "after {kills:?}");
    }

    /// The example behind the wire.
    fn service(&self, orders: u64) -> Command {
        let mut command = Command::new(program("outbox"));
        command
            .arg("service")
            .arg(self.folder.file("orders.db"))
            .arg(orders.to_string())
            .envs(self.server.environment())
            .env("SUITE_CALENDAR_URL", self.proxy.url())
            .env("SUITE_CALENDAR_AUDIENCE", self.server.calendar_url());
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
