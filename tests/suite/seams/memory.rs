//! The same scenarios in memory and over sockets: nothing of the client is bypassed where there is no network.

use std::collections::BTreeSet;
use std::time::Duration;

use sdk_core::{Error, ErrorKind};
use sdk_reference_server::{Fault, Operation, ReferenceServer, Transport};

use crate::contract::operations::{Answer, Calls, Visitor, visit_all};
use crate::contract::world::World;
use crate::samples::{kick_off, new_person};
use crate::support::{builder_for, quick_tokens_with};

/// When an attempt ends: soon enough for a socket, whose clock nobody pauses.
const SOON: Duration = Duration::from_millis(400);

/// When an attempt ends that nothing holds up.
const LATE: Duration = Duration::from_secs(10);

/// What happened, as the caller and the server saw it.
fn told<A: Answer>(
    scenario: &str,
    server: &ReferenceServer,
    operation: Operation,
    result: Result<A, Error>,
) -> String {
    let (outcome, tried) = match result.map(Answer::response) {
        Ok(reply) => (reply.http_status().to_string(), reply.attempts()),
        Err(error) => {
            let (kind, effect, status) = (error.kind(), error.effect(), error.status());
            let outcome = format!("{kind:?}, {effect}, {status:?}");
            (outcome, error.attempts())
        }
    };
    let requests = server.requests_for(operation);
    let keys = requests.iter().filter_map(|it| it.idempotency_key());
    let keys = keys.collect::<BTreeSet<_>>().len();
    let (seen, commits) = (server.attempts(operation), server.commits(operation));
    let exchanges = server.exchanges();
    format!("{scenario}: {outcome}; {tried} {seen} {commits} {keys} {exchanges}")
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
            .token_policy(quick_tokens_with(|it| it.exchange_timeout = timeout));
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
struct Plain(Vec<String>);

impl Visitor for Plain {
    async fn visit<A: Answer>(
        &mut self,
        world: &World,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let (operation, result) = (calls.operation, calls.plain.await);
        let told = told(operation.id(), &world.server, operation, result);
        self.0.push(told);
    }
}

/// A fault, and whether it costs an attempt its time.
type Named = (&'static str, bool, fn(Fault) -> Fault);

/// What strikes a call.
const FAULTS: [Named; 15] = [
    ("503 once", false, |it| it.times(1).status(503)),
    ("503 for good", false, |it| it.status(503)),
    ("500 after the commit, once", false, |it| {
        it.times(1).reply_after_commit_with(500)
    }),
    ("429", false, |it| it.times(1).status(429).retry_after("0")),
    ("a revoked token", false, |it| it.times(1).revoke_token()),
    ("tokens that are always revoked", false, Fault::revoke_token),
    ("closed once", false, |it| it.times(1).close_connection()),
    ("always closed", false, Fault::close_connection),
    ("a lost reply", false, |it| it.times(1).lose_reply()),
    ("replies that are always lost", false, Fault::lose_reply),
    ("a cut text", false, |it| it.times(1).truncate_body()),
    ("a broken body", false, |it| it.times(1).break_body()),
    ("a body that drips too slowly", true, |it| {
        it.times(1).drip_body(1, Duration::from_millis(50))
    }),
    ("a stall", true, |it| it.times(1).stall()),
    ("late", true, |it| it.times(1).delay(Duration::from_secs(5))),
];

/// The operations that the faults strike: a read, a command with a key, one without, and the exchange of a token.
const STRUCK: [Operation; 4] = [
    Operation::GetPerson,
    Operation::SubmitEventCommand,
    Operation::SubmitCommand,
    Operation::ExchangeToken,
];

/// Lets a fault strike a call of an operation.
async fn strike(place: Place, operation: Operation, (name, is_slow, fault): Named) -> String {
    let world = place.world(if is_slow { SOON } else { LATE }).await;
    if operation != Operation::ExchangeToken {
        world.prewarm().await;
    }
    let _fault = fault(world.server.fault(operation));
    let scenario = format!("{}: {name}", operation.id());
    let (server, crm) = (&world.server, &world.crm);
    match operation {
        Operation::SubmitEventCommand => told(
            &scenario,
            server,
            operation,
            kick_off(&world.calendar).await,
        ),
        Operation::SubmitCommand => {
            let command = crm.commands().submit(new_person("Ann"));
            told(&scenario, server, operation, command.await)
        }
        _ => {
            let person = crm.people().get(server.sample_person());
            told(&scenario, server, operation, person.await)
        }
    }
}

async fn all(place: Place) -> Vec<String> {
    let mut plain = Plain(Vec::new());
    visit_all(&place.world(LATE).await, &mut plain).await;
    let mut told = plain.0;
    let mut slow = Vec::new();
    for operation in STRUCK {
        for fault in FAULTS {
            let strike = strike(place, operation, fault);
            if fault.1 {
                slow.push(strike);
            } else {
                told.push(strike.await);
            }
        }
    }
    // At once, because each takes its time.
    told.extend(futures_util::future::join_all(slow).await);
    told
}

#[test]
fn ninety_eight_scenarios_in_memory_and_over_sockets_are_the_same() {
    let sockets = std::thread::spawn(|| Place::Sockets.run(all));
    let memory = Place::Memory.run(all);
    let sockets = sockets.join().unwrap();

    assert_eq!(memory.len(), 98);
    assert_eq!(memory, sockets);
    // They are no scenarios of success alone.
    for kind in [
        ErrorKind::Unavailable,
        ErrorKind::Transport,
        ErrorKind::Timeout,
        ErrorKind::Decode,
        ErrorKind::Unauthenticated,
        ErrorKind::TokenUnavailable,
    ] {
        let kind = format!(": {kind:?}, ");
        assert!(memory.iter().any(|told| told.contains(&kind)), "{kind}");
    }
}
