//! Settings of a suite on shared connections, and the label that names it in errors and spans.

use std::time::Duration;

use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, ClientCredentials, Error, ErrorKind, Suite};

use super::{Installations, of};
use crate::fixtures::{Given, get_person, person};
use crate::peer::{Peer, always, json, reply, script};
use crate::support::{Clients, Events, assert_says, assert_unsent, builder_at};

#[tokio::test]
async fn the_last_setting_of_the_transport_applies() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let last = Peer::start(always(person()));
    let builder = || builder_at(&last.url());
    let client = reqwest::Client::builder;
    let first = builder().http_client(client()).suite();
    for builder in [
        builder()
            .transport(Installations::default())
            .transport_of(&first),
        builder().transport_of(&first).http_client(client()),
        // The setting has no effect there, but is not an error.
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
async fn the_last_setting_of_credentials_and_scopes_applies() {
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
        // HTTP Basic of `last-client:s3cret-of-last`.
        let sent = exchange.header("authorization").unwrap();
        assert_says(&sent, &["bGFzdC1jbGllbnQ6czNjcmV0LW9mLWxhc3Q="]);
        assert_says(&exchange.text(), &["scope=crm%3Apeople%3Aread"]);
    }
}

#[tokio::test]
async fn a_name_that_the_first_suite_did_not_bind_to_loopback_is_rejected() {
    let peer = Peer::start(always(person()));
    let port = peer.url().rsplit(':').next().unwrap().to_owned();
    let at = |name: &str| {
        let url = format!("http://{name}:{port}");
        builder_at(&peer.url()).application_url(App::Crm, url)
    };
    let first = at("crm.localhost").http_client(reqwest::Client::builder());
    let first = first.suite();

    // The names of the first suite, and IP addresses, always mean this machine. The SDK's own pools bind every such
    // name.
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

#[tokio::test]
async fn every_error_of_an_installation_contains_its_label() {
    let page = json(200, &serde_json::json!({"items": [1], "nextCursor": null}));
    let peer = Peer::start(script([reply(404), reply(200), page]).then_always(person()));
    let suite = builder_at(&peer.url()).label("acme").suite();
    let crm = suite.crm();
    let elsewhere = builder_at(&peer.url()).label("acme").core_url("none");
    let unknown = crm.raw_call((sdk_core::Method::Get, "/../x"));
    let read = crm.raw_call((sdk_core::Method::Get, "/x")).prepare();
    let lonely = Suite::builder().label("acme").build();
    let unset = of(Suite::builder(), 1)
        .label("acme")
        .transport(Installations::default());
    let command = crm.commands().submit(crate::samples::new_person("Ann"));
    let command = command.prepare().unwrap();
    let mut pages = crm.people().list().limit(51).pages();
    let others = sdk_calendar::Client::operations();
    let errors: Vec<Error> = vec![
        get_person(&crm).await.unwrap_err(),
        get_person(&crm).await.unwrap_err(),
        crm.people().list().items().try_next().await.unwrap_err(),
        crm.people().list().limit(51).await.unwrap_err(),
        pages.try_next().await.unwrap_err(),
        unknown.await.unwrap_err(),
        read.unwrap_err(),
        suite.calendar().send_prepared(&command).await.unwrap_err(),
        crm.missing_scopes(others).await.unwrap_err(),
        elsewhere.build().unwrap_err(),
        lonely.unwrap_err(),
        sdk_calendar::Client::new(&unset.suite()).unwrap_err(),
        suite.with_scopes(App::Crm, [""; 0]).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.installation(), Some("acme"), "{error}");
        assert!(error.to_string().starts_with("[acme] "), "{error}");
        assert_says(&format!("{error:?}"), &["[acme] "]);
    }
    let nameless = builder_at(&peer.url()).crm();
    let error = nameless.people().get("..").await.unwrap_err();
    assert_eq!(error.installation(), None);
    assert!(error.to_string().starts_with("crm.getPerson: "), "{error}");
}

#[tokio::test]
async fn token_errors_and_spans_of_calls_and_renewals_contain_the_label() {
    let (events, _guard) = Events::here();
    let peer = Peer::start(always(person()).tokens([reply(401)]));
    let crm = builder_at(&peer.url()).label("acme").crm();
    for error in [crm.prewarm().await, get_person(&crm).await.map(drop)] {
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthenticated);
        assert_eq!(error.installation(), Some("acme"));
    }
    for span in ["suite.call", "suite.token"] {
        let lines = events.lines("INFO", &[span, "suite.installation=\"acme\""]);
        assert!(!lines.is_empty(), "{span} in {}", events.take());
    }
    events.take();
    get_person(&builder_at(&peer.url()).crm()).await.unwrap();
    assert!(!events.take().contains("suite.installation"));
}

#[test]
fn a_label_is_one_short_line() {
    let long = "x".repeat(65);
    let short = "| | a|a |a  b|a\nb|\u{1b}[31m|a\u{202e}b|a\u{200b}".split('|');
    for bad in short.chain([&*long]) {
        let builder = of(Suite::builder(), 1).label(bad);
        let error = builder.build().unwrap_err();
        let words = ["`label` must be 1 to 64 visible"];
        assert_unsent(&error, ErrorKind::Configuration, &words);
        assert_eq!(error.installation(), None);
        assert!(!error.to_string().contains(char::is_control));
    }
    for good in ["a", "Zürich GmbH & Co.", &"x".repeat(64)] {
        let suite = of(Suite::builder(), 1).label(good).suite();
        assert_eq!(suite.label(), Some(good));
        assert_says(&format!("{suite:?}"), &[good]);
    }
}

/// Returns the variables of an installation, and invalid variables without its prefix.
fn variables(prefix: &str, peer: &Peer) -> Vec<(String, String)> {
    let values = [
        ("CORE_URL", peer.url()),
        ("CRM_URL", peer.url().replace("127.0.0.1", "localhost")),
        ("CLIENT_ID", "client".to_owned()),
        ("CLIENT_SECRET", "secret".to_owned()),
    ];
    let odd = values
        .iter()
        .map(|(name, _)| (format!("SUITE_{name}"), "odd\n".to_owned()));
    let named = |(name, value): &(&str, String)| (format!("{prefix}SUITE_{name}"), value.clone());
    odd.chain(values.iter().map(named)).collect()
}

#[tokio::test]
async fn an_installation_reads_only_variables_with_its_prefix() {
    let peer = Peer::start(always(person()));
    let of = || {
        let builder = Suite::builder().variables(variables("ACME_EU_", &peer));
        builder.installation("acme-eu")
    };
    let suite = of().suite();
    get_person(&suite.crm()).await.unwrap();
    assert_eq!(suite.label(), Some("acme-eu"));
    for suite in [
        of().label("Acme"),
        of().label("Acme").installation("acme-eu"),
    ] {
        assert_eq!(suite.suite().label(), Some("Acme"));
    }

    // Later errors contain the prefixed names too.
    let error = sdk_accounting::Client::new(&suite).unwrap_err();
    assert_says(&error, &["[acme-eu] ", "set ACME_EU_SUITE_ACCOUNTING_URL"]);
    let odd = [("ACME_EU_SUITE_CALENDAR_URL".to_owned(), "odd".to_owned())];
    let error = of().variables(odd).build().unwrap_err();
    assert_says(&error, &["`ACME_EU_SUITE_CALENDAR_URL` must be"]);
    let crm = peer.url().replace("127.0.0.1", "localhost");
    let twin = of().application_url(App::Calendar, crm).suite();
    let error = sdk_calendar::Client::new(&twin).unwrap_err();
    assert_says(&error, &["set ACME_EU_SUITE_CALENDAR_AUDIENCE"]);

    let rejecting = Peer::start(always(person()).tokens([reply(400)]));
    let own = of().token_url(rejecting.url() + "/oauth/token");
    let error = get_person(&own.crm()).await.unwrap_err();
    assert_says(
        &error,
        &["if that is wrong, set ACME_EU_SUITE_CRM_AUDIENCE"],
    );
}

#[test]
fn an_incomplete_installation_is_one_error_with_the_full_variable_names() {
    let core = (
        "ACME_SUITE_CORE_URL".to_owned(),
        "https://core.acme.test".to_owned(),
    );
    let of = |variables: Vec<_>| Suite::builder().installation("acme").variables(variables);
    let error = of(vec![core]).build().unwrap_err().to_string();
    let missing = "missing environment variables: ACME_SUITE_CLIENT_ID, ACME_SUITE_CLIENT_SECRET";
    assert!(error.ends_with(missing), "{error}");
    let none = [
        "variables: ACME_SUITE_CORE_URL, ACME_SUITE_CLIENT_ID, ACME_SUITE_CLIENT_SECRET",
        "; no variable begins with ACME_SUITE_",
    ];
    let other = ("SUITE_CORE_URL".to_owned(), "https://core.test".to_owned());
    for variables in [vec![], vec![other]] {
        let error = of(variables).build().unwrap_err();
        assert_unsent(&error, ErrorKind::Configuration, &none);
        assert_eq!(error.installation(), Some("acme"));
    }
    let own = Suite::builder().installation("acme");
    let own = own.credentials(ClientCredentials::new("client", "secret"));
    let error = own.build().unwrap_err();
    assert_says(&error, &["set ACME_SUITE_CORE_URL or ACME_SUITE_TOKEN_URL"]);

    for bad in ["", "a b", "a.b", "zürich", "a/b", &"x".repeat(65)] {
        let error = Suite::builder().installation(bad).environment().build();
        let error = error.unwrap_err();
        let words = ["`installation` must be 1 to 64 ASCII letters, digits, `-` and `_`"];
        assert_unsent(&error, ErrorKind::Configuration, &words);
        assert!(!error.to_string().contains("missing"), "{error}");
    }
}
