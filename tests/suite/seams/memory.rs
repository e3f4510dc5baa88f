//! The same faults in memory and over sockets: nothing of the client is bypassed where there is no network.

use std::collections::BTreeSet;

use sdk_core::{Error, ErrorKind};
use sdk_reference_server::{Fault, Operation, ReferenceServer, Transport};

use crate::samples::{kick_off, new_person};
use crate::support::{Clients, builder_for};

/// What strikes a call. Slow replies are the server's own tests, because they take their time over sockets.
const FAULTS: [(&str, fn(Fault) -> Fault); 13] = [
    ("nothing", |it| it.times(0)),
    ("503 once", |it| it.times(1).status(503)),
    ("503 for good", |it| it.status(503)),
    ("500 after the commit, once", |it| {
        it.times(1).reply_after_commit_with(500)
    }),
    ("429", |it| it.times(1).status(429).retry_after("0")),
    ("a revoked token", |it| it.times(1).revoke_token()),
    ("tokens that are always revoked", Fault::revoke_token),
    ("closed once", |it| it.times(1).close_connection()),
    ("always closed", Fault::close_connection),
    ("a lost reply", |it| it.times(1).lose_reply()),
    ("replies that are always lost", Fault::lose_reply),
    ("a cut text", |it| it.times(1).truncate_body()),
    ("a broken body", |it| it.times(1).break_body()),
];

/// The operations that the faults strike: a read, a command with a key, one without, and the exchange of a token.
const STRUCK: [Operation; 4] = [
    Operation::GetPerson,
    Operation::SubmitEventCommand,
    Operation::SubmitCommand,
    Operation::ExchangeToken,
];

/// Each fault for each operation, as the caller and the server saw it.
async fn all(in_memory: bool) -> Vec<String> {
    let mut all = Vec::new();
    for operation in STRUCK {
        for (name, fault) in FAULTS {
            let builder = ReferenceServer::builder().frozen_clock();
            let (server, suite) = if in_memory {
                let server = builder.in_memory();
                let suite = builder_for(&server).transport(server.service());
                (server, suite.suite())
            } else {
                let server = builder.transport(Transport::Hyper).start().await;
                let suite = builder_for(&server).suite();
                (server, suite)
            };
            let (crm, calendar) = (suite.crm(), suite.calendar());
            if operation != Operation::ExchangeToken {
                crm.prewarm().await.unwrap();
                calendar.prewarm().await.unwrap();
            }
            let _fault = fault(server.fault(operation));
            let result: Result<(u16, u32), Error> = match operation {
                Operation::SubmitEventCommand => kick_off(&calendar)
                    .await
                    .map(|it| (it.http_status(), it.attempts())),
                Operation::SubmitCommand => crm
                    .commands()
                    .submit(new_person("Ann"))
                    .await
                    .map(|it| (it.http_status(), it.attempts())),
                _ => crm
                    .people()
                    .get(server.sample_person())
                    .await
                    .map(|it| (it.http_status(), it.attempts())),
            };
            let told = match result {
                Ok(told) => format!("{told:?}"),
                Err(error) => {
                    let (kind, effect, status) = (error.kind(), error.effect(), error.status());
                    format!("{kind:?}, {effect}, {status:?}, {}", error.attempts())
                }
            };
            let requests = server.requests_for(operation);
            let keys = requests.iter().filter_map(|it| it.idempotency_key());
            let keys = keys.collect::<BTreeSet<_>>().len();
            let (seen, commits) = (server.attempts(operation), server.commits(operation));
            let (id, exchanges) = (operation.id(), server.exchanges());
            all.push(format!(
                "{id}: {name}: {told}; {seen} {commits} {keys} {exchanges}"
            ));
        }
    }
    all
}

#[test]
fn faults_in_memory_and_over_sockets_are_the_same() {
    let runtime = tokio::runtime::Builder::new_current_thread;
    let sockets = std::thread::spawn(move || {
        let runtime = runtime().enable_all().build().unwrap();
        runtime.block_on(all(false))
    });
    // Without a driver for sockets.
    let memory = runtime().enable_time().start_paused(true).build().unwrap();
    let memory = memory.block_on(all(true));

    assert_eq!(memory, sockets.join().unwrap());
    for kind in [
        ErrorKind::Unavailable,
        ErrorKind::Transport,
        ErrorKind::Decode,
        ErrorKind::Unauthenticated,
        ErrorKind::TokenUnavailable,
    ] {
        let kind = format!(": {kind:?}, ");
        assert!(memory.iter().any(|told| told.contains(&kind)), "{kind}");
    }
}
