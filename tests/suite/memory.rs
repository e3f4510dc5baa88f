//! The same scenarios in memory and over sockets: nothing of the client is bypassed where there is no network.

use std::time::Duration;

use sdk_core::{Error, ErrorKind};
use sdk_reference_server::{Fault, Operation, ReferenceServer, Transport};

use crate::contract::operations::{Answer, Calls, Visitor, visit_all};
use crate::contract::world::World;
use crate::samples::{kick_off, new_person};
use crate::support::{builder_for, quick_tokens};

/// When an attempt ends: soon enough for a socket, whose clock nobody pauses.
const SOON: Duration = Duration::from_millis(400);

/// When an attempt ends that nothing holds up.
const LATE: Duration = Duration::from_secs(10);

/// What happened, as the caller and the server saw it.
#[derive(Debug, PartialEq)]
struct Told {
    scenario: String,
    /// The status, or the kind, effect and status of the error.
    outcome: String,
    attempts: u32,
    /// What the server saw of the operation: requests, commits and how many keys.
    seen: (u64, u64, usize),
    exchanges: u64,
}

impl Told {
    fn of(
        scenario: String,
        server: &ReferenceServer,
        operation: Operation,
        result: &Result<(u16, u32), Error>,
    ) -> Self {
        let (outcome, attempts) = match result {
            Ok((status, attempts)) => (status.to_string(), *attempts),
            Err(error) => (
                format!(
                    "{:?}, {}, {:?}",
                    error.kind(),
                    error.effect(),
                    error.status()
                ),
                error.attempts(),
            ),
        };
        let requests = server.requests_for(operation);
        let mut keys: Vec<_> = requests
            .iter()
            .filter_map(|request| request.idempotency_key())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        let seen = (
            server.attempts(operation),
            server.commits(operation),
            keys.len(),
        );
        Self {
            scenario,
            outcome,
            attempts,
            seen,
            exchanges: server.exchanges(),
        }
    }
}

/// Where the scenarios run.
#[derive(Clone, Copy, Debug)]
enum Place {
    Memory,
    Sockets,
}

impl Place {
    /// A world of its own.
    async fn world(self, timeout: Duration) -> World {
        let builder = ReferenceServer::builder().frozen_clock();
        let server = match self {
            Self::Memory => builder.in_memory(),
            Self::Sockets => builder.transport(Transport::Hyper).start().await,
        };
        let suite = builder_for(&server)
            .timeout(timeout)
            .token_policy(quick_tokens().with_exchange_timeout(timeout));
        let suite = match self {
            Self::Memory => suite.transport(server.service()),
            Self::Sockets => suite,
        };
        World::through(suite.build().unwrap(), server)
    }

    fn run<T>(self, scenarios: impl AsyncFnOnce(Self) -> T) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        match self {
            // No socket and no driver for one, and no second passes.
            Self::Memory => runtime.enable_time().start_paused(true),
            Self::Sockets => runtime.enable_all(),
        };
        runtime.build().unwrap().block_on(scenarios(self))
    }
}

/// Calls each operation once.
struct Plain(Vec<Told>);

impl Visitor for Plain {
    async fn visit<A: Answer>(
        &mut self,
        world: &World,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let operation = calls.operation;
        let result = told(calls.plain.await);
        let scenario = operation.id().to_owned();
        let told = Told::of(scenario, &world.server, operation, &result);
        self.0.push(told);
    }
}

/// A fault, and whether it costs an attempt its time.
type Named = (&'static str, bool, fn(Fault) -> Fault);

/// What strikes a call.
const FAULTS: [Named; 15] = [
    ("503 once", false, |fault| fault.times(1).status(503)),
    ("503 for good", false, |fault| fault.status(503)),
    ("500 after the commit, once", false, |fault| {
        fault.times(1).reply_after_commit_with(500)
    }),
    ("429 with a wait", false, |fault| {
        fault.times(1).status(429).retry_after("0")
    }),
    ("a revoked token", false, |fault| {
        fault.times(1).revoke_token()
    }),
    ("tokens that are always revoked", false, Fault::revoke_token),
    ("closed before it is served", false, |fault| {
        fault.times(1).close_connection()
    }),
    ("always closed", false, Fault::close_connection),
    ("a lost reply", false, |fault| fault.times(1).lose_reply()),
    ("replies that are always lost", false, Fault::lose_reply),
    ("a truncated body", false, |fault| {
        fault.times(1).truncate_body()
    }),
    ("a broken body", false, |fault| fault.times(1).break_body()),
    ("a body that drips too slowly", true, |fault| {
        fault.times(1).drip_body(1, Duration::from_millis(50))
    }),
    ("a stall", true, |fault| fault.times(1).stall()),
    ("a reply that is late", true, |fault| {
        fault.times(1).delay(Duration::from_secs(5))
    }),
];

/// The operations that the faults strike: a read, a command with a key, one without, and the exchange of a token.
const STRUCK: [Operation; 4] = [
    Operation::GetPerson,
    Operation::SubmitEventCommand,
    Operation::SubmitCommand,
    Operation::ExchangeToken,
];

/// Lets a fault strike a call of an operation.
async fn strike(place: Place, operation: Operation, (name, is_slow, fault): Named) -> Told {
    let world = place.world(if is_slow { SOON } else { LATE }).await;
    if operation != Operation::ExchangeToken {
        world.prewarm().await;
    }
    let _fault = fault(world.server.fault(operation));
    let result = match operation {
        Operation::SubmitEventCommand => told(kick_off(&world.calendar).await),
        Operation::SubmitCommand => {
            let command = world.crm.commands().submit(new_person("Ann"));
            told(command.await)
        }
        _ => {
            let person = world.server.sample_person();
            told(world.crm.people().get(person).await)
        }
    };
    let scenario = format!("{}: {name}", operation.id());
    Told::of(scenario, &world.server, operation, &result)
}

fn told<A: Answer>(result: Result<A, Error>) -> Result<(u16, u32), Error> {
    result.map(|answer| {
        let response = answer.response();
        (response.http_status(), response.attempts())
    })
}

async fn struck(place: Place) -> Vec<Told> {
    let mut quick = Vec::new();
    let mut slow = Vec::new();
    for operation in STRUCK {
        for fault in FAULTS {
            let strike = strike(place, operation, fault);
            if fault.1 {
                slow.push(strike);
            } else {
                quick.push(strike.await);
            }
        }
    }
    // At once, because each takes its time.
    quick.extend(futures_util::future::join_all(slow).await);
    quick
}

async fn all(place: Place) -> Vec<Told> {
    let mut plain = Plain(Vec::new());
    visit_all(&place.world(LATE).await, &mut plain).await;
    let mut told = plain.0;
    told.extend(struck(place).await);
    told
}

#[test]
fn ninety_eight_scenarios_in_memory_and_over_sockets_are_the_same() {
    let sockets = std::thread::spawn(|| Place::Sockets.run(all));
    let memory = Place::Memory.run(all);
    let sockets = sockets.join().unwrap();

    assert_eq!(memory.len(), 98);
    for (memory, sockets) in memory.iter().zip(&sockets) {
        assert_eq!(memory, sockets);
    }
    assert_eq!(memory.len(), sockets.len());
    // They are no scenarios of success alone.
    let with = |kind: ErrorKind| {
        let kind = format!("{kind:?}");
        memory.iter().any(|told| told.outcome.starts_with(&kind))
    };
    for kind in [
        ErrorKind::Unavailable,
        ErrorKind::Transport,
        ErrorKind::Timeout,
        ErrorKind::Decode,
        ErrorKind::Unauthenticated,
        ErrorKind::TokenUnavailable,
    ] {
        assert!(with(kind), "{kind:?}");
    }
}
