//! Rows 45, 74, 75 and 79: what was provably never sent, and settings of the environment that are no text.

use std::net::TcpListener;
use std::time::Duration;

use sdk_core::{App, Effect, ErrorKind};

use crate::fixtures::{add_person, at_once};
use crate::peer::{Peer, always, reply};
use crate::support::{Clients, assert_says, assert_tried, assert_unsent, builder_at, crm_at};

#[tokio::test]
async fn fault_45_a_connection_that_does_not_stand_in_time_sent_nothing() {
    // A connection is accepted, and its TLS handshake never answered.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    for own in [false, true] {
        let tokens = Peer::start([]);
        let mut suite = builder_at(&tokens.url())
            .application_url(App::Crm, format!("https://{address}"))
            .connect_timeout(Duration::from_millis(50));
        if own {
            // Whatever the caller's own client would wait for.
            let patient = reqwest::Client::builder().connect_timeout(Duration::from_secs(3_600));
            suite = suite.http_client(patient);
        }
        let crm = suite.crm();

        let error = add_person(&crm).await.unwrap_err();

        assert_tried(&error, ErrorKind::Connect, Effect::NotSent, 3);
        assert_says(&error, &[&address.to_string(), "50ms"]);
    }
}

#[tokio::test]
async fn fault_79_a_url_that_is_too_long_fails_before_a_token_is_requested() {
    let peer = Peer::start(always(reply(414)));
    let crm = crm_at(&peer);
    let long = "q".repeat(70_000);
    for error in [
        crm.people().list().q(&*long).await.unwrap_err(),
        crm.people().get(&*long).await.unwrap_err(),
        crm.people().list().query("x", &long).await.unwrap_err(),
        crm.people()
            .list()
            .query("x", &long)
            .items()
            .try_next()
            .await
            .unwrap_err(),
    ] {
        assert_unsent(&error, ErrorKind::InvalidInput, &["` must ", "got "]);
        assert!(error.to_string().len() < 1_000, "{error}");
    }
    // Not even a token was requested.
    assert_eq!(peer.connections(), 0);
}

#[test]
fn fault_75_without_a_runtime_a_token_and_a_look_at_scopes_are_errors_that_say_so() {
    let peer = Peer::start([]);
    let crm = crm_at(&peer);
    let needed = [&sdk_crm::operations::LIST_PEOPLE];
    for error in [
        at_once(async { crm.prewarm().await.unwrap_err() }),
        at_once(async { crm.missing_scopes(&needed).await.unwrap_err() }),
    ] {
        assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
        assert_says(&error, &["no Tokio runtime"]);
    }
    assert_eq!(peer.connections(), 0);
}

#[cfg(unix)]
#[test]
fn fault_74_a_variable_that_is_no_text_is_refused_by_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;

    use crate::programs::{output, program, told};

    let mut tour = Command::new(program("tour"));
    tour.env("SUITE_CORE_URL", "https://core.suite.test")
        .env("SUITE_CLIENT_ID", "client")
        .env("SUITE_CLIENT_SECRET", OsStr::from_bytes(b"s3cret-\xff"));

    let output = output(&mut tour);

    assert!(!output.status.success());
    let told = told(&output);
    let said = "`SUITE_CLIENT_SECRET` must be UTF-8: got other bytes";
    assert_says(&told, &[said]);
    assert!(!told.contains("s3cret"), "{told}");
}
