//! Token requests: any id, secret, scope and extra field arrives as it was given, by Basic or in the form.

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::Full;
use sdk_core::{App, ClientAuthentication, ClientCredentials};
use sdk_reference_server::{ClientSpec, ReferenceServer};
use tower_service::Service as _;
use url::form_urlencoded;

use super::stage::{alone, in_time, is_tidy, reply};
use super::{choice, line};

thread_local! {
    static SERVER: ReferenceServer = in_time(async { ReferenceServer::builder().frozen_clock().in_memory() });
}

/// The lines are the secret, the scopes, and the name and value of a field.
pub(super) fn run(data: &[u8]) {
    let (pick, rest) = choice(data);
    let Ok(rest) = str::from_utf8(rest) else {
        return;
    };
    let (secret, rest) = line(rest.as_bytes());
    let (scope, rest) = line(rest);
    let (name, value) = line(rest);
    let [secret, scope, name, value] =
        [secret, scope, name, value].map(|it| str::from_utf8(it).expect("whole lines"));
    let basic = pick % 2 == 0;
    let method = if basic {
        ClientAuthentication::Basic
    } else {
        ClientAuthentication::RequestBody
    };
    let mut credentials = ClientCredentials::new("fuzz", secret).with_authentication(method);
    let extra = pick % 4 > 1;
    if extra {
        credentials = credentials.with_form_field(name, value);
    }
    if secret.is_empty() || (!scope.is_empty() && !is_scope(scope)) {
        return;
    }
    let change = |suite: sdk_core::SuiteBuilder| {
        let suite = suite.credentials(credentials);
        if scope.is_empty() {
            suite
        } else {
            suite.scopes(App::Platform, [scope])
        }
    };
    let form = alone(change, None, vec![reply(200, "{}")], async |stage| {
        let result = stage.platform.apps().list().await;
        result.as_ref().err().into_iter().for_each(is_tidy);
        stage.script().forms.pop()
    });
    let form = form.expect("a token was asked for");
    let fields: Vec<(String, String)> = form_urlencoded::parse(form.body()).into_owned().collect();
    let mut scopes: Vec<&str> = scope.split_whitespace().collect();
    scopes.sort_unstable();
    scopes.dedup();
    let scopes = scopes.join(" ");
    let audience = "https://platform.suite.test";
    let own = [
        ("grant_type", "client_credentials"),
        ("client_id", "fuzz"),
        ("client_secret", secret),
        ("audience", audience),
        ("scope", &scopes),
    ];
    let own = own.into_iter().filter(|(field, it)| {
        let left_out = basic && field.starts_with("client_") || *field == "scope" && it.is_empty();
        let is_replaced = extra && *field == name;
        !left_out && !is_replaced
    });
    let expected: Vec<(&str, &str)> = own.chain(extra.then_some((name, value))).collect();
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    assert_eq!(fields, expected);
    if extra || !scope.is_empty() {
        return;
    }
    // The server knows the client by the same secret, however it came.
    SERVER.with(|server| {
        server.add_client(ClientSpec::new("fuzz", secret));
        let body = String::from_utf8_lossy(form.body()).replace(
            "https%3A%2F%2Fplatform.suite.test",
            &form_urlencoded::byte_serialize(
                server
                    .audience(sdk_reference_server::App::Platform)
                    .as_bytes(),
            )
            .collect::<String>(),
        );
        let request = http::Request::post(server.token_url())
            .header(CONTENT_TYPE, &form.headers()[CONTENT_TYPE]);
        let request = form
            .headers()
            .get(AUTHORIZATION)
            .into_iter()
            .fold(request, |it, header| it.header(AUTHORIZATION, header));
        let answered = in_time(
            server.service().call(
                request
                    .body(Full::new(bytes::Bytes::from(body)))
                    .expect("a request"),
            ),
        );
        assert_eq!(answered.expect("an answer").status(), 200);
    });
}

/// Scopes of RFC 6749, of which there is at least one.
fn is_scope(text: &str) -> bool {
    let fits = |byte: u8| (b' '..=b'~').contains(&byte) && !b"\"\\".contains(&byte);
    text.bytes().all(fits) && !text.trim().is_empty()
}
