//! What a suite on another's connections may set, and what is refused.

use std::time::Duration;

use sdk_core::{App, ErrorKind, Suite, SuiteBuilder};

use super::world::{World, of};
use crate::faults::fixtures::{get_person, person};
use crate::peer::{Peer, always};
use crate::support::{Clients, assert_unsent, builder_at};

#[test]
fn settings_of_the_transport_that_exclude_each_other_are_mistakes() {
    const SECOND: Duration = Duration::from_secs(1);
    let first = of(Suite::builder(), 1).suite();
    let client = || reqwest::Client::builder();
    let built = || client().build().unwrap();
    let base = || of(Suite::builder(), 2);
    let shared = |builder: SuiteBuilder| builder.transport_of(&first);
    for (builder, later, sooner) in [
        (
            shared(base().connect_timeout(SECOND)),
            "connect_timeout",
            "transport_of",
        ),
        (
            shared(base()).connect_timeout(SECOND),
            "connect_timeout",
            "transport_of",
        ),
        (
            shared(base()).http2_pings(SECOND, SECOND),
            "http2_pings",
            "transport_of",
        ),
        (
            shared(base().http_client(client())),
            "transport_of",
            "http_client",
        ),
        (
            shared(base()).http_client(client()),
            "http_client",
            "transport_of",
        ),
        (
            shared(base()).transport(World::default()),
            "transport",
            "transport_of",
        ),
        (
            base().transport(World::default()).http_client(built()),
            "http_client",
            "transport",
        ),
        (
            base().transport(World::default()).connect_timeout(SECOND),
            "connect_timeout",
            "transport",
        ),
        (
            base().http_client(built()).http2_pings(SECOND, SECOND),
            "http2_pings",
            "http_client",
        ),
    ] {
        let said = format!("`{later}` must not be called together with `{sooner}`");
        assert_unsent(
            &builder.build().unwrap_err(),
            ErrorKind::Configuration,
            &[&said],
        );
    }
    // What the suite's own transport heeds, and the same call twice, as with any other setting.
    for builder in [
        base()
            .http_client(client())
            .connect_timeout(SECOND)
            .http2_pings(SECOND, SECOND),
        base().http_client(client()).http_client(client()),
        shared(shared(base())),
    ] {
        assert!(builder.build().is_ok());
    }
}

#[tokio::test]
async fn a_name_that_the_first_suite_did_not_bind_to_loopback_is_refused() {
    let peer = Peer::start(always(person()));
    let port = peer.url().rsplit(':').next().unwrap().to_owned();
    let at = |name: &str| {
        let url = format!("http://{name}:{port}");
        builder_at(&peer.url()).application_url(App::Crm, url)
    };
    let first = at("crm.localhost").http_client(reqwest::Client::builder());
    let first = first.suite();

    // The names of the first one, and addresses, are surely this machine.
    for known in ["crm.localhost", "127.0.0.1"] {
        let other = at(known).transport_of(&first).suite();
        get_person(&other.crm()).await.unwrap();
    }
    let other = at("other.localhost").transport_of(&first).build();
    let words = ["`other.localhost`", "127.0.0.1"];
    assert_unsent(&other.unwrap_err(), ErrorKind::Configuration, &words);
    // The pools of the SDK bind every such name.
    let usual = builder_at(&peer.url()).suite();
    let other = at("other.localhost").transport_of(&usual).suite();
    get_person(&other.crm()).await.unwrap();
    assert_eq!(peer.requests().len(), 3);
}
