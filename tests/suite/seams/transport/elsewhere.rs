//! A server that clients reach elsewhere than where it listens: each way, the calls of a tour.

use std::time::Duration;

use futures_util::TryStreamExt;
use http::Version;
use sdk_core::Suite;
use sdk_reference_server::{App, Builder, Operation, ReferenceServer, Transport};

use crate::peer::proxy::Proxy;
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

#[tokio::test]
async fn behind_a_port_mapping_and_below_a_path() {
    for path in ["", "/below/a/path"] {
        let ports: Vec<_> = App::all().map(|app| (app, Proxy::waiting())).collect();
        let server = ports.iter().fold(server(), |server, (app, port)| {
            let url = format!("http://localhost:{}{path}", port.address.port());
            server.public_url(*app, url)
        });
        let server = server.start().await;
        for (app, port) in &ports {
            port.lead_to(server.address(*app).unwrap());
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
