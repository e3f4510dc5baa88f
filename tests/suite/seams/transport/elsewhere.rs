//! A server that clients reach elsewhere than where it listens: each way, the calls of a tour.

use std::net::{SocketAddr, TcpListener as Bound};
use std::time::Duration;

use futures_util::TryStreamExt;
use http::Version;
use sdk_core::Suite;
use sdk_reference_server::{App, Builder, Operation, ReferenceServer, Transport};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::samples::kick_off;
use crate::support::{Clients, builder_for};

const CERTIFICATE: &str = include_str!("../../../reference-server/tests/tls/cert.pem");
const KEY: &str = include_str!("../../../reference-server/tests/tls/key.pem");

fn server() -> Builder {
    ReferenceServer::builder().transport(Transport::Hyper)
}

async fn tour(server: &ReferenceServer, suite: Suite) {
    suite.platform().organization().get().await.unwrap();
    suite.accounting().counterparties().list().await.unwrap();
    kick_off(&suite.calendar()).await.unwrap();
    for _ in 0..2 {
        let people = suite.crm().people().list().limit(50).items();
        assert_eq!(people.try_collect::<Vec<_>>().await.unwrap().len(), 300);
        // A token that has expired is replaced.
        server.advance(Duration::from_secs(301));
    }
    assert_eq!(server.commits(Operation::SubmitEventCommand), 1);
}

/// Hands on what comes to a port, as a port mapping does.
async fn forward(from: Bound, to: SocketAddr) {
    from.set_nonblocking(true).unwrap();
    let from = TcpListener::from_std(from).unwrap();
    while let Ok((mut near, _)) = from.accept().await {
        tokio::spawn(async move {
            let mut far = TcpStream::connect(to).await.unwrap();
            copy_bidirectional(&mut near, &mut far).await
        });
    }
}

#[tokio::test]
async fn behind_a_port_mapping_and_below_a_path() {
    for path in ["", "/below/a/path"] {
        let (mut builder, mut ports) = (server(), Vec::new());
        for app in App::all() {
            let port = Bound::bind("127.0.0.1:0").unwrap();
            let number = port.local_addr().unwrap().port();
            let url = format!("http://localhost:{number}{path}");
            builder = builder.public_url(app, url);
            ports.push((app, port));
        }
        let server = builder.start().await;
        for (app, port) in ports {
            tokio::spawn(forward(port, server.address(app).unwrap()));
        }
        tour(&server, builder_for(&server).build().unwrap()).await;
    }
}

#[tokio::test]
async fn over_tls_by_either_version_of_http() {
    for (http1, protocol) in [(false, Version::HTTP_2), (true, Version::HTTP_11)] {
        let server = server().tls(CERTIFICATE, KEY).public_host("localhost");
        let server = server.start().await;
        let root = reqwest::Certificate::from_pem(CERTIFICATE.as_bytes()).unwrap();
        let mut client = reqwest::Client::builder().tls_certs_only([root]);
        if http1 {
            client = client.http1_only();
        }
        let client = client.build().unwrap();
        let health = client.get(server.crm_url() + "/api/health").send();
        assert_eq!(health.await.unwrap().version(), protocol);
        let suite = builder_for(&server).http_client(client);
        tour(&server, suite.build().unwrap()).await;
    }
}
