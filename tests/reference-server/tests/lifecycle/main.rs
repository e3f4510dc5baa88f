//! Servers can be dropped anywhere in a program. The drop doesn't wait for the surrounding runtime, frees all ports,
//! and leaves no thread or file behind. There is only one test, because it counts threads and files.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use http_body_util::Empty;
use sdk_reference_server::{App, ReferenceServer, Transport};
use tokio::runtime::{self, Runtime};
use tokio::task::{JoinSet, spawn_blocking, yield_now};
use tower_service::Service;

const SERVERS: usize = 20;

/// Long enough for a busy machine. Longer waits never end.
const PATIENCE: Duration = Duration::from_secs(30);

type Servers = Vec<ReferenceServer>;
type Place = fn(&Runtime, Servers);

const PLACES: [(&str, Place); 4] = [
    ("stopped in a task", |runtime, servers| {
        let stop = async { servers.into_iter().for_each(ReferenceServer::stop) };
        runtime.block_on(runtime.spawn(stop)).unwrap();
    }),
    ("in another runtime", |runtime, servers| {
        let inner = || single().block_on(async { drop(servers) });
        let blocking = async { spawn_blocking(inner).await };
        runtime.block_on(blocking).unwrap();
    }),
    ("with requests in flight", |runtime, servers| {
        runtime.block_on(in_flight(servers));
    }),
    ("with their runtime", |_, servers| {
        let owner = single();
        owner.spawn(async {
            std::future::pending::<()>().await;
            drop(servers);
        });
        owner.block_on(yield_now());
    }),
];

/// Drops the servers while each has a response due in a minute.
async fn in_flight(servers: Servers) {
    let mut calls = JoinSet::new();
    for server in &servers {
        server.fault_everywhere().delay(Duration::from_secs(60));
        let url = format!("{}/api/health", server.crm_url());
        calls.spawn(async { reqwest::get(url).await.is_ok() });
    }
    let waits = |server: &ReferenceServer| server.attempts("getHealth") == 0;
    while servers.iter().any(waits) {
        yield_now().await;
    }
    drop(servers);
    assert!(!calls.join_all().await.contains(&true));
}

fn single() -> Runtime {
    let mut builder = runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
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
        let control = server.control_url().unwrap().to_owned();
        let urls = App::all().map(|app| server.url(app)).chain([control]);
        let port = |url: String| url.rsplit(':').next().unwrap().parse::<u16>();
        ports.extend(urls.map(|url| port(url).unwrap()));
        servers.push(server);
    }
    (servers, ports)
}

/// Starts servers in a runtime, drops them in a place, and returns their ports.
fn come_and_go(
    transport: Transport,
    make: fn() -> Runtime,
    (name, drop_there): (&str, Place),
) -> Vec<u16> {
    let (done, ended) = mpsc::channel();
    let thread = thread::spawn(move || {
        let runtime = make();
        let (servers, ports) = runtime.block_on(started(transport));
        drop_there(&runtime, servers);
        done.send(ports)
    });
    let ports = ended.recv_timeout(PATIENCE);
    let ports = ports.unwrap_or_else(|_| panic!("{transport:?} {name}: it hangs"));
    thread.join().unwrap().unwrap();
    ports
}

#[test]
fn fault_65_servers_are_dropped_anywhere_and_leave_nothing_behind() {
    // The first runtime of a process creates resources that stay, so create it before counting.
    let runtime = single();
    // In-memory servers use no thread and no file, and need no runtime to start.
    let before = open();
    let servers: Servers = (0..SERVERS).map(|_| ReferenceServer::in_memory()).collect();
    for server in &servers {
        assert_eq!(runtime.block_on(healthy(server)), 200);
    }
    assert_eq!(open(), before);
    drop(servers);

    for transport in [Transport::Hyper, Transport::Wiremock] {
        for make in [single, several] {
            for place in PLACES {
                let ports = come_and_go(transport, make, place);
                let what = format!("{transport:?} {}", place.0);
                eventually(&what, || ports.iter().all(|port| is_free(*port)));
                eventually(&what, || open().0 <= before.0 && open().1 <= before.1);
            }
        }
    }
}

async fn healthy(server: &ReferenceServer) -> u16 {
    let request = http::Request::get(format!("{}/api/health", server.crm_url()));
    let request = request.body(Empty::<&[u8]>::new()).unwrap();
    let reply = server.service().call(request).await.unwrap();
    reply.status().as_u16()
}

/// Waits for another thread of this process, or for another process that took a free port.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: {:?}", open());
        thread::sleep(Duration::from_millis(1));
    }
}

/// Whether no server listens on a port. The port can't always be bound, because a client's connection may use it.
fn is_free(port: u16) -> bool {
    let address = ("127.0.0.1", port);
    TcpListener::bind(address).is_ok() || TcpStream::connect(address).is_err()
}

/// Returns the number of threads and open files.
#[cfg(target_os = "linux")]
fn open() -> (usize, usize) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    (count("/proc/self/task"), count("/proc/self/fd"))
}

/// On other systems, the test checks only the ports.
#[cfg(not(target_os = "linux"))]
fn open() -> (usize, usize) {
    (0, 0)
}
