//! Rows 44, 49, 60, 61, 62, 74 and 83: addresses, names and credentials that are refused where they are said.

use std::process::Command;

use sdk_core::{App, ClientCredentials, Error, ErrorKind, Suite, SuiteBuilder};
use sdk_crm::Client;
use sdk_reference_server::ReferenceServer;

use crate::fixtures::{get_person, person};
use crate::peer::{Peer, always};
use crate::programs::{output, program, told};
use crate::support::{Clients, assert_says, assert_unsent, builder_at, builder_for};

fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn sound() -> SuiteBuilder {
    Suite::builder()
        .core_url("https://core.suite.test")
        .application_url(App::Crm, "https://crm.suite.test")
        .credentials(ClientCredentials::new("client", "secret"))
}

/// Refused by the builder, in a line that has these words.
fn assert_refused(error: &Error, words: &[&str]) {
    assert_unsent(error, ErrorKind::Configuration, words);
}

/// [`assert_refused`], of what is about to be built.
fn assert_unbuilt(builder: SuiteBuilder, words: &[&str]) {
    assert_refused(&builder.build().unwrap_err(), words);
}

#[tokio::test]
async fn fault_44_a_name_that_only_sounds_like_loopback_goes_to_loopback_or_is_refused() {
    for bad in [
        "http://crm.suite.test",
        "http://localhost.suite.test",
        "http://notlocalhost",
        "http://127.0.0.1.suite.test",
        "http://localhost.",
        "http://0.0.0.0:1",
        "http://[::ffff:127.0.0.1]",
    ] {
        let odd = sound().application_url(App::Crm, bad);
        assert_unbuilt(odd, &["`application_url(App::Crm, …)`", "HTTPS"]);
    }
    // No resolver is asked about these, whatever it would say: with the SDK's own client, and with the caller's.
    let peer = Peer::start(always(person()));
    let port = peer.url().rsplit(':').next().unwrap().to_owned();
    for host in ["localhost", "LOCALHOST", "evil.localhost", "a.b.localhost"] {
        for own in [false, true] {
            let url = format!("http://{host}:{port}");
            let mut suite = builder_at(&peer.url()).application_url(App::Crm, url);
            if own {
                suite = suite.http_client(reqwest::Client::builder());
            }
            get_person(&suite.crm()).await.unwrap();
        }
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
    // A fragment is none, and a base has no query.
    let odd = sound().token_url("https://a.suite.test/#f");
    assert_unbuilt(odd, &["`token_url`"]);
    assert_unbuilt(sound().core_url("https://a.suite.test/?q"), &["`core_url`"]);
}

#[test]
fn fault_60_a_misspelt_application_is_refused_where_it_is_parsed() {
    for wrong in ["cmr", "CRM", "crm ", ""] {
        let error = Error::from(wrong.parse::<App>().unwrap_err());
        let quoted = format!("{wrong:?}");
        assert_refused(&error, &[&quoted, "crm, calendar, accounting, platform"]);
    }
    for app in App::all() {
        assert_eq!(app.name().parse(), Ok(app));
    }
}

#[tokio::test]
async fn fault_60_least_privilege_never_fails_open() {
    let none: [&str; 0] = [];
    let suite = sound().build().unwrap();
    // Without a scope the server would grant what the client may have: all.
    for nothing in [&none[..], &[""], &[" ", "\t"]] {
        let error = suite.with_scopes(App::Crm, nothing).unwrap_err();
        assert_refused(&error, &["`with_scopes` must name at least one scope"]);
        let odd = sound().scopes(App::Crm, nothing);
        assert_unbuilt(odd, &["`scopes` must name at least one scope"]);
    }
    let open = [&sdk_crm::operations::GET_HEALTH];
    let least = sdk_core::least_scopes(&open);
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

#[test]
fn fault_60_empty_credentials_are_refused() {
    for (id, secret, what) in [("", "s", "a client id"), ("c", "", "a secret")] {
        let odd = sound().credentials(ClientCredentials::new(id, secret));
        assert_unbuilt(odd, &["`credentials`", what]);
    }
    let variables = of(&[
        ("SUITE_CORE_URL", "https://core.suite.test"),
        ("SUITE_CLIENT_ID", ""),
        ("SUITE_CLIENT_SECRET", ""),
    ]);
    let odd = Suite::builder().variables(variables);
    assert_unbuilt(
        odd,
        &["missing environment variables: SUITE_CLIENT_ID, SUITE_CLIENT_SECRET"],
    );
    assert_unbuilt(sound().audience(App::Crm, ""), &["`audience(App::Crm, …)`"]);
}

#[tokio::test]
async fn fault_61_what_is_set_in_code_counts_before_variables_in_any_order() {
    let (code, variables) = (Peer::start(always(person())), Peer::start(always(person())));
    let variables_of = || {
        of(&[
            ("SUITE_CORE_URL", &variables.url()),
            ("SUITE_CRM_URL", &variables.url()),
            ("SUITE_CRM_AUDIENCE", "from-variables"),
            ("SUITE_CLIENT_ID", "other"),
            ("SUITE_CLIENT_SECRET", "other-secret"),
        ])
    };
    let before = builder_at(&code.url()).variables(variables_of());
    let after = Suite::builder()
        .variables(variables_of())
        .core_url(code.url())
        .application_url(App::Crm, code.url())
        .audience(App::Crm, "crm")
        .credentials(ClientCredentials::new("client", "secret"));
    for suite in [before, after] {
        get_person(&suite.crm()).await.unwrap();
    }
    for seen in code.exchanges() {
        let credential = seen.header("authorization");
        assert_eq!(credential, Some("Basic Y2xpZW50OnNlY3JldA=="));
        assert!(seen.text().contains("audience=crm"));
    }
    assert_eq!((code.exchanges().len(), code.requests().len()), (2, 2));
    assert!(variables.connections() == 0);
}

/// The environment is the process's, so each case is a process: an example that is told to go on alone.
#[test]
fn fault_61_what_is_set_in_code_counts_before_the_environment_in_any_order() {
    const CASE: &str = "SETTINGS_CASE";
    if let Ok(case) = std::env::var(CASE) {
        let credentials = ClientCredentials::new("client", "vault-secret");
        let suite = match &*case {
            "both" => Suite::builder().environment().credentials(credentials),
            "source" => Suite::builder()
                .environment()
                .credential_source(credentials),
            "before" => Suite::builder().credentials(credentials).environment(),
            "variables" => Suite::builder().environment().variables(of(&[
                ("SUITE_CORE_URL", "https://own.suite.test"),
                ("SUITE_CRM_URL", "https://own-crm.suite.test"),
                ("SUITE_CLIENT_ID", "client"),
                ("SUITE_CLIENT_SECRET", "variable-secret"),
            ])),
            "own addresses" => Suite::builder()
                .environment()
                .core_url("https://own.suite.test")
                .application_url(App::Crm, "https://own-crm.suite.test")
                .credentials(credentials),
            _ => Suite::builder().environment(),
        };
        let built = suite.build().map(|_| "built".to_owned());
        let told = built.unwrap_or_else(|error| error.to_string());
        println!("case {case}: {told}");
        return;
    }
    let run = |case: &str| {
        let mut own = Command::new(std::env::current_exe().unwrap());
        // It belongs to the credential of the environment alone.
        let method = ["odd", "client_secret_post"][usize::from(case == "environment alone")];
        own.args(["--exact", "--nocapture", "faults::settings::fault_61_what_is_set_in_code_counts_before_the_environment_in_any_order"])
            .env(CASE, case)
            .env("SUITE_CORE_URL", "https://environment.suite.test")
            .env("SUITE_CRM_URL", "https://environment-crm.suite.test")
            .env("SUITE_CLIENT_ID", "client")
            .env("SUITE_CLIENT_SECRET", "environment-secret")
            .env("SUITE_TOKEN_AUTH_METHOD", method);
        let told = String::from_utf8(own.output().unwrap().stdout).unwrap();
        let line = told.lines().find(|line| line.contains("case "));
        let line = line.unwrap().to_owned();
        assert!(!line.contains("-secret"), "{line}");
        line
    };
    let odd = run("odd method");
    assert_says(&odd, &["`SUITE_TOKEN_AUTH_METHOD` must be", "got \"odd\""]);
    // With the method that is odd: it belongs to the credential of the environment, which does not count.
    for fine in ["both", "before", "source", "own addresses", "variables"] {
        assert!(run(fine).ends_with(": built"), "{}", run(fine));
    }
    assert!(run("environment alone").ends_with(": built"));
}

#[test]
fn fault_74_secrets_are_taken_as_given_and_mistakes_named_as_they_were_made() {
    // In code by the name of the call, among variables by theirs.
    let error = sound().core_url("core.suite.test").build().unwrap_err();
    assert_refused(&error, &["`core_url` must be an absolute URL"]);
    assert!(!error.to_string().contains("SUITE_CORE_URL"), "{error}");
    let odd = sound().application_url(App::Crm, "ftp://a");
    let error = odd.build().unwrap_err();
    assert!(!error.to_string().contains("SUITE_"), "{error}");
    let variables = of(&[
        ("SUITE_CALENDAR_URL", "nonsense"),
        ("SUITE_ACCOUNTING_AUDIENCE", "a\nb"),
    ]);
    let odd = sound().variables(variables);
    assert_unbuilt(
        odd,
        &["`SUITE_CALENDAR_URL`", "`SUITE_ACCOUNTING_AUDIENCE`"],
    );
}

#[tokio::test]
async fn fault_74_blanks_at_the_ends_of_a_secret_belong_to_it() {
    let peer = Peer::start(always(person()));
    let variables = of(&[
        ("SUITE_CORE_URL", &peer.url()),
        ("SUITE_CRM_URL", &peer.url()),
        ("SUITE_CRM_AUDIENCE", " crm "),
        ("SUITE_CLIENT_ID", " client"),
        ("SUITE_CLIENT_SECRET", " secret \n"),
    ]);
    let suite = Suite::builder().variables(variables).build().unwrap();
    get_person(&suite.crm()).await.unwrap();

    // Each half is form-encoded: `+client:+secret+%0A`.
    let seen = &peer.exchanges()[0];
    let credential = seen.header("authorization");
    assert_eq!(credential, Some("Basic K2NsaWVudDorc2VjcmV0KyUwQQ=="));
    assert!(seen.text().contains("audience=+crm+"), "{}", seen.text());
}

#[tokio::test]
async fn fault_83_applications_of_one_origin_need_audiences_of_their_own() {
    let peer = Peer::start(always(person()));
    let base = || {
        Suite::builder()
            .credentials(ClientCredentials::new("client", "secret"))
            .core_url("https://core.suite.test")
            .token_url(format!("{}/oauth/token", peer.url()))
            .application_url(App::Crm, format!("{}/crm", peer.url()))
            .application_url(App::Calendar, format!("{}/calendar", peer.url()))
    };
    let suite = base().build().unwrap();
    let error = Client::new(&suite).unwrap_err();
    assert_refused(&error, &["crm and calendar", "SUITE_CRM_AUDIENCE"]);
    assert_refused(&error, &["`audience(App::Crm, …)`"]);
    let error = sdk_calendar::Client::new(&suite).unwrap_err();
    assert_refused(&error, &["SUITE_CALENDAR_AUDIENCE"]);

    // One that is said is enough for its client, and the tokens are two.
    let suite = base()
        .audience(App::Crm, "a")
        .audience(App::Calendar, "b")
        .build()
        .unwrap();
    get_person(&suite.crm()).await.unwrap();
    suite.calendar().prewarm().await.unwrap();
    assert_eq!(peer.exchanges().len(), 2);
    let suite = base().audience(App::Crm, "a").build().unwrap();
    assert!(Client::new(&suite).is_ok() && sdk_calendar::Client::new(&suite).is_err());
}

#[test]
fn fault_61_the_program_of_a_stranger_names_what_is_missing() {
    let mut tour = Command::new(program("tour"));
    tour.env("SUITE_CRM_URL", "https://crm.suite.test");
    let output = output(&mut tour);
    let missing = "SUITE_CORE_URL, SUITE_CLIENT_ID, SUITE_CLIENT_SECRET";
    let said = format!("missing environment variables: {missing}");
    assert_says(&told(&output), &[&said]);
}

#[test]
fn fault_61_what_is_missing_is_named_by_the_way_it_could_be_given() {
    let core = || Suite::builder().core_url("https://core.suite.test");
    let credentials = ClientCredentials::new("client", "secret");
    let ids = "missing environment variables: SUITE_CLIENT_ID, SUITE_CLIENT_SECRET";
    for (builder, said) in [
        (core(), "`credentials`, `token_source` or `environment`"),
        (core().variables(of(&[])), ids),
        (
            Suite::builder().credentials(credentials),
            "call `core_url` or `token_url`",
        ),
    ] {
        assert_unbuilt(builder, &[said]);
    }
}

#[tokio::test]
async fn variables_say_how_the_credential_is_presented() {
    const METHOD: &str = "SUITE_TOKEN_AUTH_METHOD";
    const FIELD: &str = "SUITE_TOKEN_AUDIENCE_FIELD";
    for (method, field) in [
        ("", ""),
        ("client_secret_basic", "audience"),
        ("client_secret_post", ""),
        ("client_secret_post", "resource"),
    ] {
        let server = ReferenceServer::start().await;
        let suite = builder_for(&server).variables(of(&[(METHOD, method), (FIELD, field)]));
        let listed = suite.crm().people().list().await;

        let seen = &server.requests_for("exchangeToken")[0];
        let text = String::from_utf8_lossy(seen.body());
        let in_form = method == "client_secret_post";
        assert_eq!(seen.header("authorization").is_none(), in_form);
        assert_eq!(text.contains("client_id="), in_form);
        let is_renamed = field == "resource";
        assert_eq!(text.contains("&resource="), is_renamed, "{text}");
        assert_eq!(text.contains("&audience="), !is_renamed, "{text}");
        // The server knows no `resource`, so that its token is for no application.
        assert_eq!(listed.is_ok(), !is_renamed);
    }
    // All mistakes at once, also without the credential they belong to.
    let variables = |field| of(&[(METHOD, "client_secret_jwt"), (FIELD, field)]);
    for field in ["scope", "grant_type", "a b", "résource", "a\n"] {
        let odd = Suite::builder().variables(variables(field));
        let rules = [
            format!(
                "`{METHOD}` must be `client_secret_basic` or `client_secret_post`: got \"client_secret_jwt\""
            ),
            format!("`{FIELD}` must name a form field"),
            format!("got {field:?}"),
            "SUITE_CORE_URL, SUITE_CLIENT_ID, SUITE_CLIENT_SECRET".to_owned(),
        ];
        assert_unbuilt(odd, &rules.each_ref().map(String::as_str));
        // They belong to the credential of the variables, and to no other.
        let source = ClientCredentials::new("client", "secret");
        for own in [sound(), sound().credential_source(source)] {
            assert!(own.variables(variables(field)).build().is_ok());
        }
    }
}
