//! The label of an installation: in each of its errors and spans, and fit to stand there.

use sdk_core::{App, Error, ErrorKind, Suite};

use super::{World, of};
use crate::fixtures::{get_person, person};
use crate::peer::{Peer, always, json, reply, script};
use crate::support::{Clients, Events, assert_says, assert_unsent, builder_at};

#[tokio::test]
async fn every_error_of_an_installation_names_it() {
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
        .transport(World::default());
    let command = crm.commands().submit(crate::samples::new_person("Ann"));
    let command = command.prepare().unwrap();
    let mut walk = crm.people().list().limit(51).pages();
    let others = sdk_calendar::Client::operations();
    let errors: Vec<Error> = vec![
        get_person(&crm).await.unwrap_err(),
        get_person(&crm).await.unwrap_err(),
        crm.people().list().items().try_next().await.unwrap_err(),
        crm.people().list().limit(51).await.unwrap_err(),
        walk.try_next().await.unwrap_err(),
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
async fn an_error_of_the_token_and_the_spans_of_calls_and_renewals_name_it_too() {
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
