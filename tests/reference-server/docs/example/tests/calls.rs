use calls::book_calls;
use jiff::Zoned;
use sdk_crm::{Backoff, Effect, Error, RetryPolicy, Suite};
use sdk_reference_server::{ClientSpec, Operation, ReferenceServer};

/// Builds a suite for this server, without delays between retries.
fn suite_for(server: &ReferenceServer) -> Result<Suite, Error> {
    let quick = RetryPolicy::default().with_backoff(Backoff::none());
    Suite::builder()
        .variables(server.environment())
        .retry(quick)
        .build()
}

fn monday() -> Zoned {
    "2026-02-02T09:00[Europe/Oslo]".parse().unwrap()
}

#[tokio::test]
async fn every_unowned_opportunity_gets_one_call() -> Result<(), Error> {
    let server = ReferenceServer::start().await;

    let booked = book_calls(&suite_for(&server)?, &monday()).await?;

    assert!(!booked.is_empty());
    assert_eq!(
        server.commits(Operation::SubmitEventCommand),
        booked.len() as u64
    );
    Ok(())
}

#[tokio::test]
async fn a_call_whose_reply_is_lost_is_not_booked_twice() -> Result<(), Error> {
    let server = ReferenceServer::start().await;
    server
        .fault(Operation::SubmitEventCommand)
        .times(1)
        .lose_reply();

    let booked = book_calls(&suite_for(&server)?, &monday()).await?;

    assert_eq!(
        server.attempts(Operation::SubmitEventCommand),
        booked.len() as u64 + 1
    );
    assert_eq!(
        server.commits(Operation::SubmitEventCommand),
        booked.len() as u64
    );
    Ok(())
}

#[tokio::test]
async fn the_next_run_completes_an_interrupted_run() -> Result<(), Error> {
    let server = ReferenceServer::start().await;
    let suite = suite_for(&server)?;
    // The server books the third call, but all three attempts get no response.
    server
        .fault(Operation::SubmitEventCommand)
        .skip(2)
        .times(3)
        .lose_reply();

    let error = book_calls(&suite, &monday()).await.unwrap_err();
    assert_eq!(error.effect(), Effect::Unknown);
    let booked = book_calls(&suite, &monday()).await?;

    assert_eq!(
        server.commits(Operation::SubmitEventCommand),
        booked.len() as u64
    );
    Ok(())
}

#[tokio::test]
async fn without_the_scope_it_fails_and_books_nothing() -> Result<(), Error> {
    let server = ReferenceServer::builder()
        .client(ClientSpec::new("calls", "s3cret").without_scope("calendar:event:write"))
        .start()
        .await;

    let error = book_calls(&suite_for(&server)?, &monday())
        .await
        .unwrap_err();

    assert_eq!(error.status(), Some(403));
    assert_eq!(server.commits(Operation::SubmitEventCommand), 0);
    Ok(())
}
