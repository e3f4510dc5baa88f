//! Nothing prints a secret.

use crate::token::credentials::ClientCredentials;

use super::*;

#[tokio::test(start_paused = true)]
async fn fault_32_no_token_and_no_secret_is_printed() {
    let (events, _guard) = Events::here();
    let source = scripted(|number, _| match number {
        0 => Ok(AccessToken::new("canary-token").with_scopes(["crm:read"])),
        _ => Err(outage()),
    });
    let cache = cache(&source);
    let entry = cache.entry(TokenRequest::new());
    let bearer = entry.bearer().await.unwrap();
    assert_eq!(
        entry.reject(&bearer, &OPERATIONS.read, 0),
        Rejection::Dropped
    );
    let error = entry.bearer().await.unwrap_err();
    let credentials = ClientCredentials::new("service", "canary-secret")
        .with_form_field("assertion", "canary-field");
    let built_in = ClientCredentialsSource::new(
        reqwest::Client::new(),
        "https://id.example/token?key=canary-query".parse().unwrap(),
        credentials.clone(),
        &TokenPolicy::default(),
    );

    let printed = [
        format!("{:?} {bearer:#?}", AccessToken::new("canary-token")),
        format!("{:?} {entry:?} {cache:?}", bearer.header()),
        format!("{:?} {error} {error:?}", entry.request()),
        format!("{credentials:?} {built_in:?}"),
        events.all(),
    ]
    .join("\n");

    assert!(!printed.contains("canary"), "{printed}");
    for event in ["token renewed", "token renewal failed"] {
        assert!(printed.contains(event), "{printed}");
    }
}

#[test]
fn everything_crosses_threads() {
    fn check<T: Send + Sync + 'static>() {}
    fn sends<T: Send>(_: T) {}
    check::<TokenCache>();
    check::<TokenEntry>();
    check::<BearerToken>();
    check::<TokenError>();
    check::<AccessToken>();
    check::<ClientCredentialsSource>();
    let (entry, _) = entry(|_| Err(outage()));
    sends(entry.bearer());
    sends(entry.prewarm());
}
