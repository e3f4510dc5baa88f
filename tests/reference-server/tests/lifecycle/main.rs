//! A hundred servers in one process: each starts, serves, stops, and leaves nothing behind. One test at a time, since
//! threads and files are counted, and nobody else may take a port that came free.
//!
//! `cargo test --test lifecycle -- --nocapture` prints the times.

mod drops;

use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sdk_reference_server::{App, ReferenceServer, Transport};

const SERVERS: usize = 100;

/// Held by the test that runs.
static ALONE: Mutex<()> = Mutex::new(());

/// Long enough for a busy machine: what hangs, hangs for good.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_hundred_servers_leave_nothing_behind() {
    let _alone = ALONE.lock().unwrap();
    drops::single().block_on(leave_nothing_behind());
}

async fn leave_nothing_behind() {
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
        come_free(&ports, &format!("{transport:?}"));
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

#[test]
fn a_server_in_memory_takes_no_thread_and_no_file() {
    use http_body_util::Empty;
    use tower_service::Service;

    let _alone = ALONE.lock().unwrap();
    drops::single().block_on(async {
        let before = at_rest().await;
        for _ in 0..SERVERS {
            let server = ReferenceServer::in_memory();
            let request = http::Request::get(format!("{}/api/health", server.crm_url()));
            let request = request.body(Empty::<&[u8]>::new()).unwrap();
            let reply = server.service().call(request).await.unwrap();
            assert_eq!(reply.status(), 200);
            // Fewer than before are left from another test.
            let now = open();
            assert!(now.0 <= before.0 && now.1 <= before.1, "{now:?} {before:?}");
        }
    });
    // It needs no runtime to be made either.
    assert!(ReferenceServer::in_memory().control_url().is_none());
}

/// Waits until nobody listens at any of the ports; another process may have taken one for a while. They cannot always be
/// bound: a client's connection may have come from one since.
fn come_free(ports: &[u16], whose: &str) {
    let deadline = Instant::now() + PATIENCE;
    let is_free = |port: &&u16| {
        let address = ("127.0.0.1", **port);
        TcpListener::bind(address).is_ok() || TcpStream::connect(address).is_err()
    };
    while let Some(port) = ports.iter().find(|port| !is_free(port)) {
        assert!(Instant::now() < deadline, "{whose} left port {port}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn port(url: &str) -> u16 {
    url.rsplit(':').next().unwrap().parse().unwrap()
}

/// Starts a server, asks it for something, stops it; how long that took, and which ports it had.
async fn one(transport: Transport) -> (Duration, Vec<u16>) {
    let started = Instant::now();
    let mut builder = ReferenceServer::builder().transport(transport);
    if transport == Transport::Hyper {
        builder = builder.control_port(0);
    }
    let server = builder.start().await;
    let mut ports: Vec<u16> = App::all().map(|app| port(&server.url(app))).collect();
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
