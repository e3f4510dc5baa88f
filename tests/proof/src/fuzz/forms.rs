//! Token requests. Any client ID, secret, scope and extra field reaches the server unchanged, with Basic or in the
//! form.

use http_body_util::Full;
use sdk_core::{App, ClientAuthentication, ClientCredentials, SuiteBuilder};
use sdk_reference_server::{ClientSpec, ReferenceServer};
use tower_service::Service as _;
use url::form_urlencoded;

use super::choice;
use super::stage::{alone, in_time, is_tidy, reply};

thread_local! {
    static SERVER: ReferenceServer = in_time(async { ReferenceServer::builder().frozen_clock().in_memory() });
}

/// The lines of the input are the secret, the scopes, and the name and value of a field.
pub(super) fn run(data: &[u8]) {
    let (pick, rest) = choice(data);
    let text = String::from_utf8_lossy(rest);
    let mut lines = text.splitn(4, '\n');
    let [secret, scope, name, value] = [(); 4].map(|()| lines.next().unwrap_or_default());
    if secret.is_empty() || (!scope.is_empty() && !is_scope(scope)) {
        return;
    }
    let (basic, extra) = (pick % 2 == 0, pick % 4 > 1);
    let method = if basic {
        ClientAuthentication::Basic
    } else {
        ClientAuthentication::RequestBody
    };
    let mut credentials = ClientCredentials::new("fuzz", secret).with_authentication(method);
    if extra {
        credentials = credentials.with_form_field(name, value);
    }
    let audience = SERVER.with(|it| it.audience(sdk_reference_server::App::Platform));
    let change = |suite: SuiteBuilder| {
        let suite = suite
            .credentials(credentials)
            .audience(App::Platform, &audience);
        if scope.is_empty() {
            return suite;
        }
        suite.scopes(App::Platform, [scope])
    };
    let form = alone(change, None, vec![reply(200, "{}")], async |stage| {
        let result = stage.platform.apps().list().await;
        result.as_ref().err().into_iter().for_each(is_tidy);
        stage.script().forms.pop()
    });
    let form = form.expect("the suite requested a token");
    let mut scopes: Vec<&str> = scope.split_whitespace().collect();
    scopes.sort_unstable();
    scopes.dedup();
    let scopes = scopes.join(" ");
    let own = [
        ("grant_type", "client_credentials"),
        ("client_id", "fuzz"),
        ("client_secret", secret),
        ("audience", &audience),
        ("scope", &scopes),
    ];
    let own = own.into_iter().filter(|(field, it)| {
        let left_out = basic && field.starts_with("client_") || *field == "scope" && it.is_empty();
        let is_replaced = extra && *field == name;
        !left_out && !is_replaced
    });
    let expected = own.chain(extra.then_some((name, value)));
    let fields = form_urlencoded::parse(form.body());
    assert!(
        fields.eq(expected.map(|(name, value)| (name.into(), value.into()))),
        "{text}"
    );
    if extra || !scope.is_empty() {
        return;
    }
    // The server accepts the client with the same secret, in either form.
    SERVER.with(|server| {
        server.add_client(ClientSpec::new("fuzz", secret));
        let (mut head, body) = form.into_parts();
        head.uri = server.token_url().parse().expect("an address");
        let request = http::Request::from_parts(head, Full::new(body));
        let answered = in_time(server.service().call(request));
        assert_eq!(answered.expect("an answer").status(), 200);
    });
}

/// Returns whether the string is a list of at least one RFC 6749 scope.
fn is_scope(text: &str) -> bool {
    let fits = |byte: u8| (b' '..=b'~').contains(&byte) && !b"\"\\".contains(&byte);
    text.bytes().all(fits) && !text.trim().is_empty()
}
