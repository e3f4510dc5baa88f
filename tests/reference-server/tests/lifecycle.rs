//! A hundred servers in one process: each starts, serves, stops, and leaves nothing behind. Alone in its process, since
//! it counts threads and files.
//!
//! `cargo test --test lifecycle -- --nocapture` prints the times.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use sdk_reference_server::{App, ReferenceServer, Transport};

const SERVERS: usize = 100;

#[tokio::test]
async fn a_hundred_servers_leave_nothing_behind() {
    for transport in [Transport::Hyper, Transport::Wiremock] {
        // The first one of a process also makes what stays: the client's pool, lazy statics.
        one(transport).await;
        let before = at_rest().await;

        let mut times = Vec::new();
        let mut ports = Vec::new();
        for _ in 0..SERVERS {
            let (spent, used) = one(transport).await;
            times.push(spent);
            ports.extend(used);
        }

        let after = settled(before).await;
        assert!(
            after.0 <= before.0,
            "threads: {} before, {} after",
            before.0,
            after.0
        );
        assert!(
            after.1 <= before.1,
            "files: {} before, {} after",
            before.1,
            after.1
        );
        for port in &ports {
            TcpListener::bind(("127.0.0.1", *port))
                .unwrap_or_else(|error| panic!("{transport:?} left port {port}: {error}"));
        }
        times.sort();
        println!(
            "{transport:?}: {SERVERS} servers, {} ports; start, one request and stop took {:?} in the middle, \
             {:?} at most, {:?} in all; threads {} -> {}, files {} -> {}",
            ports.len(),
            times[SERVERS / 2],
            times[SERVERS - 1],
            times.iter().sum::<Duration>(),
            before.0,
            after.0,
            before.1,
            after.1,
        );
    }
}

/// Starts a server, asks it for something, stops it; how long that took, and which ports it had.
async fn one(transport: Transport) -> (Duration, Vec<u16>) {
    let started = Instant::now();
    let mut builder = ReferenceServer::builder().transport(transport);
    if transport == Transport::Hyper {
        builder = builder.control_port(0);
    }
    let server = builder.start().await;
    let port = |url: &str| url.rsplit(':').next().unwrap().parse::<u16>().unwrap();
    let mut ports: Vec<u16> = App::ALL
        .into_iter()
        .map(|app| port(&server.url(app)))
        .collect();
    ports.extend(server.control_url().map(port));
    let url = format!("{}/api/health", server.crm_url());
    // A client of its own, so that no connection outlives the server.
    let reply = reqwest::Client::new().get(url).send().await.unwrap();
    assert_eq!(reply.status(), 200);
    drop(reply);
    drop(server);
    (started.elapsed(), ports)
}

/// How many threads and files are open, once they are no more than expected, or after a while: wiremock's threads end
/// a moment after the server is gone.
async fn settled(expected: (usize, usize)) -> (usize, usize) {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let now = open();
        if now.0 <= expected.0 && now.1 <= expected.1 || Instant::now() > deadline {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The same once they no longer change.
async fn at_rest() -> (usize, usize) {
    let mut before = open();
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = open();
        if now == before {
            return now;
        }
        before = now;
    }
}

#[cfg(target_os = "linux")]
fn open() -> (usize, usize) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    (count("/proc/self/task"), count("/proc/self/fd"))
}

/// Elsewhere only the ports are looked at.
#[cfg(not(target_os = "linux"))]
fn open() -> (usize, usize) {
    (0, 0)
}
