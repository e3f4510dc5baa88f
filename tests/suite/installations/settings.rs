//! What a suite on another's connections may set, and what is refused.

use std::time::Duration;

use sdk_core::{App, ErrorKind, Suite, SuiteBuilder};

use super::world::{of, world};
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
    let own = || base().transport(world());
    let timed = |builder: SuiteBuilder| builder.connect_timeout(SECOND);
    let pinged = |builder: SuiteBuilder| builder.http2_pings(SECOND, SECOND);
    let (handed, ready) = (base().http_client(client()), base().http_client(built()));
    let (of, handed_in) = ("transport_of", "http_client");
    for (later, sooner, builder) in [
        ("connect_timeout", of, shared(timed(base()))),
        ("connect_timeout", of, timed(shared(base()))),
        ("http2_pings", of, pinged(shared(base()))),
        (of, handed_in, shared(handed)),
        (handed_in, of, shared(base()).http_client(client())),
        ("transport", of, shared(base()).transport(world())),
        (handed_in, "transport", own().http_client(built())),
        ("connect_timeout", "transport", timed(own())),
        ("http2_pings", handed_in, pinged(ready)),
    ] {
        let said = format!("`{later}` must not be called together with `{sooner}`");
        let error = builder.build().unwrap_err();
        assert_unsent(&error, ErrorKind::Configuration, &[&said]);
    }
    // What the suite's own transport heeds, and the same call twice, as with any other setting.
    for builder in [
        pinged(timed(base().http_client(client()))),
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
