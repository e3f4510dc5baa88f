//! Rows 44, 49, 60, 61, 74, 83 and 93: validation and precedence of addresses, names and credentials.

use std::process::Command;

use sdk_core::testing::ScriptedTransport;
use sdk_core::{App, ClientCredentials, Error, ErrorKind, Suite, SuiteBuilder};
use sdk_crm::Client;
use sdk_reference_server::ReferenceServer;

use crate::fixtures::{get_person, in_memory, person};
use crate::peer::{Peer, always};
use crate::programs::{messages, output, program};
use crate::support::{Clients, assert_says, assert_unsent, builder_at};

fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn credentials() -> ClientCredentials {
    ClientCredentials::new("client", "secret")
}

fn sound() -> SuiteBuilder {
    Suite::builder()
        .core_url("https://core.suite.test")
        .application_url(App::Crm, "https://crm.suite.test")
        .credentials(credentials())
}

/// Checks that a setting was rejected, with a line that contains these words.
#[track_caller]
fn assert_refused(error: &Error, words: &[&str]) {
    assert_unsent(error, ErrorKind::Configuration, words);
}

/// Checks with [`assert_refused`] that building a suite fails.
#[track_caller]
fn assert_unbuilt(builder: SuiteBuilder, words: &[&str]) {
    assert_refused(&builder.build().unwrap_err(), words);
}

#[tokio::test]
async fn fault_44_a_name_below_localhost_goes_to_loopback() {
    // No DNS resolver is used for these names, neither with the SDK's client nor with the caller's.
    let peer = Peer::start(always(person()));
    for host in ["localhost", "LOCALHOST", "evil.localhost", "a.b.localhost"] {
        let url = peer.url().replace("127.0.0.1", host);
        let suite = || builder_at(&peer.url()).application_url(App::Crm, &url);
        get_person(&suite().crm()).await.unwrap();
        let own = suite().http_client(reqwest::Client::builder());
        get_person(&own.crm()).await.unwrap();
    }
    assert_eq!(peer.requests().len(), 8);
}

#[tokio::test]
async fn fault_49_a_token_url_keeps_its_query() {
    let peer = Peer::start(always(person()));
    let address = format!("{}/oauth/token?tenant=a%20b&v=2", peer.url());
    let crm = builder_at(&peer.url()).token_url(address).crm();

    get_person(&crm).await.unwrap();

    assert_eq!(peer.exchanges()[0].target, "/oauth/token?tenant=a%20b&v=2");
}

#[test]
fn fault_60_a_misspelled_application_is_rejected_where_it_is_parsed() {
    for wrong in ["cmr", "CRM", "crm ", ""] {
        let error = Error::from(wrong.parse::<App>().unwrap_err());
        let quoted = format!("{wrong:?}");
        assert_refused(&error, &[&quoted, "crm, calendar, accounting, platform"]);
    }
    let long = "x".repeat(100_000).parse::<App>().unwrap_err();
    assert_refused(&long.into(), &["crm, calendar, accounting, platform"]);
    for app in App::all() {
        assert_eq!(app.name().parse(), Ok(app));
    }
}

#[tokio::test]
async fn fault_60_empty_scopes_are_rejected_instead_of_granting_everything() {
    let suite = sound().build().unwrap();
    // Without a scope, the server would grant all scopes of the client.
    for nothing in [&[][..], &[""], &[" ", "\t"]] {
        let error = suite.with_scopes(App::Crm, nothing).unwrap_err();
        assert_refused(&error, &["`with_scopes` must name at least one scope"]);
        let odd = sound().scopes(App::Crm, nothing);
        assert_unbuilt(odd, &["`scopes` must name at least one scope"]);
    }
    let least = sdk_core::least_scopes(&[&sdk_crm::operations::GET_HEALTH]);
    let error = suite.with_scopes(App::Crm, least).unwrap_err();
    assert_refused(&error, &["at least one scope"]);
    let error = suite.with_scopes(App::Crm, ["crm:\"people\""]).unwrap_err();
    assert_refused(&error, &["visible ASCII"]);

    let peer = Peer::start(always(person()));
    let suite = builder_at(&peer.url()).build().unwrap();
    let suite = suite.with_scopes(App::Crm, ["crm:people:read"]).unwrap();
    get_person(&suite.crm()).await.unwrap();
    assert_says(&peer.exchanges()[0].text(), &["scope=crm%3Apeople%3Aread"]);
}

#[tokio::test]
async fn fault_61_settings_in_code_override_variables_in_any_order() {
    let code = Peer::start(always(person()));
    let variables = || {
        of(&[
            ("SUITE_CORE_URL", "https://core.suite.test"),
            ("SUITE_CRM_URL", "https://crm.suite.test"),
            ("SUITE_CRM_AUDIENCE", "from-variables"),
            ("SUITE_CLIENT_ID", "other"),
            ("SUITE_CLIENT_SECRET", "other-secret"),
        ])
    };
    let before = builder_at(&code.url()).variables(variables());
    let after = Suite::builder()
        .variables(variables())
        .core_url(code.url())
        .application_url(App::Crm, code.url())
        .audience(App::Crm, "crm")
        .credentials(credentials());
    for suite in [before, after] {
        get_person(&suite.crm()).await.unwrap();
    }
    for seen in code.exchanges() {
        let credential = seen.header("authorization");
        assert_eq!(credential, Some("Basic Y2xpZW50OnNlY3JldA=="));
        assert!(seen.text().contains("audience=crm"));
    }
    assert_eq!((code.exchanges().len(), code.requests().len()), (2, 2));
}

/// The environment belongs to the process, so each case runs this test in a new process.
#[test]
fn fault_61_settings_in_code_override_the_environment_in_any_order() {
    const CASE: &str = "SETTINGS_CASE";
    if let Ok(case) = std::env::var(CASE) {
        let suite = match &*case {
            "after" => Suite::builder().environment().credentials(credentials()),
            "before" => Suite::builder().credentials(credentials()).environment(),
            "variables" => Suite::builder().environment().variables(of(&[
                ("SUITE_CORE_URL", "https://own.suite.test"),
                ("SUITE_CRM_URL", "https://own-crm.suite.test"),
                ("SUITE_CLIENT_ID", "client"),
                ("SUITE_CLIENT_SECRET", "variable-secret"),
            ])),
            "acme" => Suite::builder().environment().installation("acme"),
            _ => Suite::builder().environment(),
        };
        let built = suite.build().map(|_| "built".to_owned());
        let printed = built.unwrap_or_else(|error| error.to_string());
        println!("case {case}: {printed}");
        return;
    }
    let run = |case: &str| {
        let mut own = Command::new(std::env::current_exe().unwrap());
        own.args([
            "--exact",
            "--nocapture",
            "faults::settings::fault_61_settings_in_code_override_the_environment_in_any_order",
        ])
        .env(CASE, case)
        .env("SUITE_CORE_URL", "https://environment.suite.test")
        .env("SUITE_CRM_URL", "https://environment-crm.suite.test")
        .env("SUITE_CLIENT_ID", "client")
        .env("SUITE_CLIENT_SECRET", "environment-secret")
        .env("SUITE_TOKEN_AUTH_METHOD", "odd")
        .env("ACME_SUITE_CLIENT_ID", "acme")
        .env("ACME_SUITE_CLIENT_SECRET", "acme-secret");
        let printed = String::from_utf8(own.output().unwrap().stdout).unwrap();
        let line = printed.lines().find(|line| line.contains("case "));
        let line = line.unwrap().to_owned();
        assert!(!line.contains("-secret"), "{line}");
        line
    };
    let odd = run("environment alone");
    assert_says(&odd, &["`SUITE_TOKEN_AUTH_METHOD` must be", "got \"odd\""]);
    // The invalid method belongs to the environment's credential, which these cases don't use.
    for case in ["after", "before", "variables"] {
        let line = run(case);
        assert!(line.ends_with(": built"), "{line}");
    }
    // Only the variables of the installation are read, so its Platform address is missing.
    let line = run("acme");
    assert!(line.ends_with("variables: ACME_SUITE_CORE_URL"), "{line}");
}

#[tokio::test]
async fn variables_set_the_authentication_method_and_the_audience_field() {
    const METHOD: &str = "SUITE_TOKEN_AUTH_METHOD";
    const FIELD: &str = "SUITE_TOKEN_AUDIENCE_FIELD";
    for (method, field) in [
        ("", ""),
        ("client_secret_basic", "audience"),
        ("client_secret_post", ""),
        ("client_secret_post", "resource"),
    ] {
        let (server, builder) = in_memory();
        let suite = builder.variables(of(&[(METHOD, method), (FIELD, field)]));
        let listed = suite.crm().people().list().await;

        let seen = &server.requests_for("exchangeToken")[0];
        let text = String::from_utf8_lossy(seen.body());
        let in_form = method == "client_secret_post";
        assert_eq!(seen.header("authorization").is_none(), in_form);
        assert_eq!(text.contains("client_id="), in_form);
        let is_renamed = field == "resource";
        assert_eq!(text.contains("&resource="), is_renamed, "{text}");
        assert_eq!(text.contains("&audience="), !is_renamed, "{text}");
        // The server doesn't know `resource`, so its token is for no application.
        assert_eq!(listed.is_ok(), !is_renamed);
    }
    // One error lists all mistakes, even without the credential that they belong to.
    let method = "must be `client_secret_basic` or `client_secret_post`: got \"client_secret_jwt\"";
    let missing = "SUITE_CORE_URL, SUITE_CLIENT_ID, SUITE_CLIENT_SECRET";
    for field in ["scope", "grant_type", "a b", "résource", "a\n"] {
        let variables = || of(&[(METHOD, "client_secret_jwt"), (FIELD, field)]);
        let odd = Suite::builder().variables(variables());
        let named = format!("`{FIELD}` must name an unused form field");
        assert_unbuilt(odd, &[method, missing, &named, &format!("got {field:?}")]);
        // The variables apply only to the credential from variables.
        for own in [sound(), sound().credential_source(credentials())] {
            assert!(own.variables(variables()).build().is_ok());
        }
    }
}

#[test]
fn fault_74_an_error_names_the_method_or_the_variable() {
    let (core, secret) = ("https://core.suite.test", ClientCredentials::new);
    let (no_id, no_secret) = (
        "`credentials` must have a client id",
        "`credentials` must have a secret",
    );
    let crm = "`application_url(App::Crm, …)`";
    let no_source = "`credentials`, `token_source` or `environment`";
    let no_core = "call `core_url` or `token_url`";
    let long = "x".repeat(100_000) + "\n";
    for (builder, phrase) in [
        (sound().core_url("core.suite.test"), "`core_url` must be"),
        (sound().core_url("https://a.test/?q"), "`core_url`"),
        (sound().token_url("https://a.test/#f"), "`token_url`"),
        (sound().application_url(App::Crm, "ftp://a"), crm),
        (sound().audience(App::Crm, ""), "`audience(App::Crm, …)`"),
        (sound().audience(App::Crm, long), "`audience(App::Crm, …)`"),
        (sound().max_in_flight(0), "`max_in_flight` must be"),
        (sound().credentials(secret("", "s")), no_id),
        (sound().credentials(secret("c", "")), no_secret),
        (Suite::builder().core_url(core), no_source),
        (Suite::builder().credentials(credentials()), no_core),
    ] {
        let error = builder.build().unwrap_err();
        assert_refused(&error, &[phrase]);
        assert!(!error.to_string().contains("`SUITE_"), "{error}");
    }
    sound().max_in_flight(usize::MAX).build().unwrap();

    let odd = of(&[
        ("SUITE_CALENDAR_URL", "nonsense"),
        ("SUITE_CRM_AUDIENCE", "a\nb"),
    ]);
    let named = ["`SUITE_CALENDAR_URL`", "`SUITE_CRM_AUDIENCE`"];
    assert_unbuilt(sound().variables(odd), &named);
    let missing = ["missing environment variables: SUITE_CLIENT_ID, SUITE_CLIENT_SECRET"];
    let empty = of(&[("SUITE_CLIENT_ID", ""), ("SUITE_CLIENT_SECRET", "")]);
    assert_unbuilt(Suite::builder().core_url(core).variables(empty), &missing);
    let absent = of(&[("SUITE_CORE_URL", core)]);
    assert_unbuilt(Suite::builder().variables(absent), &missing);
}

#[cfg(unix)]
#[test]
fn fault_74_a_variable_that_is_not_utf8_is_rejected_by_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let mut tour = Command::new(program("tour"));
    tour.env("SUITE_CORE_URL", "https://core.suite.test")
        .env("SUITE_CLIENT_ID", "client")
        .env("SUITE_CLIENT_SECRET", OsStr::from_bytes(b"s3cret-\xff"));
    let output = output(&mut tour);
    assert!(!output.status.success());
    let printed = messages(&output);
    assert_says(
        &printed,
        &["`SUITE_CLIENT_SECRET` must be UTF-8: got invalid UTF-8"],
    );
    assert!(!printed.contains("s3cret"), "{printed}");
}

#[tokio::test]
async fn fault_74_leading_and_trailing_spaces_of_a_secret_are_preserved() {
    let peer = Peer::start(always(person()));
    let suite = Suite::builder().variables(of(&[
        ("SUITE_CORE_URL", &peer.url()),
        ("SUITE_CRM_URL", &peer.url()),
        ("SUITE_CRM_AUDIENCE", " crm "),
        ("SUITE_CLIENT_ID", " client"),
        ("SUITE_CLIENT_SECRET", " secret \n"),
    ]));
    get_person(&suite.crm()).await.unwrap();

    // Both parts are form-encoded: `+client:+secret+%0A`.
    let seen = &peer.exchanges()[0];
    let credential = seen.header("authorization");
    assert_eq!(credential, Some("Basic K2NsaWVudDorc2VjcmV0KyUwQQ=="));
    assert!(seen.text().contains("audience=+crm+"), "{}", seen.text());
}

#[tokio::test]
async fn fault_83_applications_behind_one_origin_need_explicit_audiences() {
    let peer = Peer::start(always(person()));
    let base = || {
        Suite::builder()
            .credentials(credentials())
            .core_url("https://core.suite.test")
            .token_url(format!("{}/oauth/token", peer.url()))
            .application_url(App::Crm, format!("{}/crm", peer.url()))
            .application_url(App::Calendar, format!("{}/calendar", peer.url()))
    };
    let suite = base().suite();
    let error = Client::new(&suite).unwrap_err();
    assert_refused(&error, &["crm and calendar", "SUITE_CRM_AUDIENCE"]);
    assert_refused(&error, &["`audience(App::Crm, …)`"]);
    let error = sdk_calendar::Client::new(&suite).unwrap_err();
    assert_refused(&error, &["SUITE_CALENDAR_AUDIENCE"]);

    // One explicit audience is enough for its client. The two applications get separate tokens.
    let one = || base().audience(App::Crm, "a");
    let suite = one().audience(App::Calendar, "b").suite();
    get_person(&suite.crm()).await.unwrap();
    suite.calendar().prewarm().await.unwrap();
    assert_eq!(peer.exchanges().len(), 2);
    let suite = one().suite();
    assert!(Client::new(&suite).is_ok() && sdk_calendar::Client::new(&suite).is_err());
}

/// The lists in the SDK and in the reference server contain every application of `App::ALL`.
#[test]
fn fault_93_testing_and_environment_cover_every_application() {
    let scripted = ScriptedTransport::new().suite().max_in_flight(1).suite();
    let shown = format!("{scripted:?}");
    let served = ReferenceServer::in_memory().environment();
    for app in App::all() {
        assert_says(&shown, &[&format!("{app:?}")]);
        scripted.with_scopes(app, ["app:read"]).unwrap();
        let (url, audience) = (app.url_variable(), app.audience_variable());
        assert!(served.iter().any(|(name, _)| name == url), "{url}");
        for (name, odd) in [(url, "nonsense"), (audience, "a\nb")] {
            let variables = Suite::builder().variables(of(&[(name, odd)]));
            assert_unbuilt(variables, &[&format!("`{name}` must")]);
        }
    }
}
