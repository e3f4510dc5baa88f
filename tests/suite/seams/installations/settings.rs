//! What a suite on another's connections may set, and what is refused.

use std::time::Duration;

use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, ClientCredentials, ErrorKind};

use super::World;
use crate::fixtures::{Given, get_person, person};
use crate::peer::{Peer, always};
use crate::support::{Clients, assert_says, assert_unsent, builder_at};

#[tokio::test]
async fn of_calls_that_choose_the_transport_the_last_one_counts() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let last = Peer::start(always(person()));
    let builder = || builder_at(&last.url());
    let client = reqwest::Client::builder;
    let first = builder().http_client(client()).suite();
    for builder in [
        builder().transport(World::default()).transport_of(&first),
        builder().transport_of(&first).http_client(client()),
        // Without effect there, and no mistake.
        builder().connect_timeout(HOUR).transport_of(&first),
        builder().http2_pings(HOUR, HOUR).transport_of(&first),
    ] {
        get_person(&builder.crm()).await.unwrap();
    }
    assert_eq!(last.requests().len(), 4);
    let scripted = ScriptedTransport::new().status(404);
    let suite = builder().transport_of(&first).transport(scripted);
    assert!(get_person(&suite.crm()).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn of_calls_that_choose_where_tokens_come_from_and_their_scopes_the_last_one_counts() {
    let peer = Peer::start(always(person()));
    let fixed = || ClientCredentials::new("last-client", "s3cret-of-last");
    let none = || {
        let builder = builder_at(&peer.url()).scopes(App::Crm, [""; 0]);
        let builder = builder.scopes(App::Crm, ["crm:people:read"]);
        builder.credentials(ClientCredentials::new("", ""))
    };
    for (builder, exchanges) in [
        (none().token_source(Given).credentials(fixed()), 1),
        (none().token_source(Given).credential_source(fixed()), 2),
        (none().credential_source(fixed()), 3),
        (none().token_source(Given), 3),
        (none().credential_source(fixed()).token_source(Given), 3),
    ] {
        get_person(&builder.crm()).await.unwrap();
        assert_eq!(peer.exchanges().len(), exchanges);
    }
    for exchange in peer.exchanges() {
        // As HTTP Basic: `last-client:s3cret-of-last`.
        let sent = exchange.header("authorization").unwrap();
        assert_says(&sent, &["bGFzdC1jbGllbnQ6czNjcmV0LW9mLWxhc3Q="]);
        assert_says(&exchange.text(), &["scope=crm%3Apeople%3Aread"]);
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

    // The names of the first one, and addresses, are surely this machine. The pools of the SDK bind every such name.
    let usual = builder_at(&peer.url()).suite();
    for (known, on) in [
        ("crm.localhost", &first),
        ("127.0.0.1", &first),
        ("other.localhost", &usual),
    ] {
        let other = at(known).transport_of(on).suite();
        get_person(&other.crm()).await.unwrap();
    }
    assert_eq!(peer.requests().len(), 3);
    let other = at("other.localhost").transport_of(&first).build();
    let words = ["`other.localhost`", "127.0.0.1"];
    assert_unsent(&other.unwrap_err(), ErrorKind::Configuration, &words);
}
