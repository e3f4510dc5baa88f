//! A call failed. Which HTTP status does my own service respond with?
//!
//! Dependencies: sdk-crm and tokio (features `macros` and `rt-multi-thread`). This demo starts
//! sdk-reference-server. A real service calls `Suite::from_env()` instead.

use sdk_crm::{
    App, Client, ClientCredentials, Effect, Error, ErrorKind, RawJson, RetryPolicy, Suite,
};
use sdk_reference_server::{Operation, ReferenceServer};

/// Returns the status and message for the service's own caller. In axum, return this pair from `IntoResponse`.
fn respond(error: &Error) -> (u16, &'static str) {
    use ErrorKind as Kind;
    match error.kind() {
        // The command may have been applied. Only the same command with the same key is safe to resend.
        _ if error.command().is_some() && error.effect() == Effect::Unknown => {
            (502, "the command may have been applied")
        }
        // The caller can fix these errors.
        Kind::InvalidInput | Kind::Rejected => (422, "the request is invalid"),
        Kind::NotFound => (404, "there is no such record"),
        Kind::Conflict => (409, "the record has changed"),
        // These errors are temporary. Copy `error.retry_after()`, if present, into the `Retry-After` header.
        Kind::RateLimited
        | Kind::Unavailable
        | Kind::TokenUnavailable
        | Kind::Connect
        | Kind::Transport => (503, "try again later"),
        Kind::Timeout => (504, "try again later"),
        Kind::Decode | Kind::SchemaVersion | Kind::UnexpectedStatus | Kind::Pagination => {
            (502, "the suite's response is unusable")
        }
        // The service's operators can fix these errors: credential, scopes, settings or SDK version.
        _ => (500, "internal error"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let server = ReferenceServer::start().await;
    let builder = || Suite::builder().variables(server.environment());
    let suite = builder().retry(RetryPolicy::none()).build()?;
    let crm = Client::new(&suite)?;
    let stranger = ClientCredentials::new(server.client_id(), "another secret");
    let stranger = Client::new(&builder().credentials(stranger).build()?)?;
    let narrow = Client::new(&suite.with_scopes(App::Crm, ["crm:today:read"])?)?;

    let mut errors = vec![
        crm.people().get("4711").await.err(), // rejected locally, not sent
        crm.people().get("PER-000000000000").await.err(),
        stranger.people().list().await.err(),
        narrow.people().list().await.err(),
    ];
    let list = server.fault(Operation::ListPeople);
    let list = list.status(429).retry_after("60");
    errors.push(crm.people().list().await.err());
    list.status(503);
    errors.push(crm.people().list().await.err());
    server.fault(Operation::SubmitCommand).lose_reply();
    let person = r#"{"commandType": "person.create", "payload": {"displayName": "Ann"}}"#;
    let person: RawJson = person.parse()?;
    errors.push(crm.commands().submit(&person).await.err());

    for error in errors.iter().flatten() {
        let (status, message) = respond(error);
        println!("{status} {message}");
        println!("    log: {error}"); // contains the operation, effect and request ID, but no secrets
    }
    Ok(())
}
