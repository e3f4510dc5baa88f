//! Servers are dropped wherever a program happens to be: nothing waits for the runtime in which that is, and all ports
//! come free.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sdk_reference_server::{App, ReferenceServer, Transport};
use tokio::runtime::{self, Runtime};
use tokio::task::{JoinSet, spawn_blocking};

use crate::{ALONE, PATIENCE, come_free, port};

/// How many are dropped at once, in each of the places, runtimes and transports.
const SERVERS: usize = 100;

type Servers = Vec<ReferenceServer>;
type Place = fn(&Runtime, Servers);

/// Where servers are dropped.
const PLACES: [(&str, Place); 7] = [
    ("at once in a task", |runtime, servers| {
        runtime
            .block_on(runtime.spawn(async { drop(servers) }))
            .unwrap();
    }),
    ("each in a task", |runtime, servers| {
        let tasks = servers.into_iter().map(|server| async { drop(server) });
        runtime.block_on(async { tasks.collect::<JoinSet<()>>().join_all().await });
    }),
    ("stopped in order", |runtime, servers| {
        runtime.block_on(async { servers.into_iter().for_each(ReferenceServer::stop) });
    }),
    ("while blocking", |runtime, servers| {
        runtime
            .block_on(async { spawn_blocking(|| drop(servers)).await })
            .unwrap();
    }),
    ("in another runtime", |runtime, servers| {
        let inner = || single().block_on(async { drop(servers) });
        runtime
            .block_on(async { spawn_blocking(inner).await })
            .unwrap();
    }),
    ("with requests under way", |runtime, servers| {
        runtime.block_on(under_way(servers));
    }),
    ("with their runtime", |_, servers| {
        let owner = single();
        owner.spawn(async {
            std::future::pending::<()>().await;
            drop(servers);
        });
        owner.block_on(tokio::task::yield_now());
    }),
];

/// Drops them while each has a reply to give in a minute.
async fn under_way(servers: Servers) {
    let mut calls = JoinSet::new();
    for server in &servers {
        server.fault_everywhere().delay(Duration::from_secs(60));
        let url = format!("{}/api/health", server.crm_url());
        calls.spawn(async { reqwest::get(url).await.is_ok() });
    }
    while servers
        .iter()
        .any(|server| server.attempts("getHealth") == 0)
    {
        tokio::task::yield_now().await;
    }
    drop(servers);
    assert!(!calls.join_all().await.contains(&true));
}

pub(crate) fn single() -> Runtime {
    runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn several() -> Runtime {
    let mut builder = runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

async fn started(transport: Transport) -> (Servers, Vec<u16>) {
    let (mut servers, mut ports) = (Vec::new(), Vec::new());
    for _ in 0..SERVERS {
        let builder = ReferenceServer::builder().transport(transport);
        let server = builder.control_port(0).start().await;
        ports.extend(App::all().map(|app| port(&server.url(app))));
        ports.extend(server.control_url().map(port));
        servers.push(server);
    }
    (servers, ports)
}

#[test]
fn fault_65_servers_are_dropped_anywhere_and_their_ports_come_free() {
    let _alone = ALONE.lock().unwrap();
    for transport in [Transport::Hyper, Transport::Wiremock] {
        for make in [single, several] {
            for (place, drop_there) in PLACES {
                let (done, ended) = mpsc::channel();
                thread::spawn(move || {
                    let runtime = make();
                    let (servers, ports) = runtime.block_on(started(transport));
                    drop_there(&runtime, servers);
                    done.send(ports)
                });
                let ports = ended.recv_timeout(PATIENCE);
                let ports = ports.unwrap_or_else(|_| panic!("{transport:?} {place}: it hangs"));
                come_free(&ports, place);
            }
        }
    }
}
