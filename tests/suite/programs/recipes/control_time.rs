use std::time::Duration;

use sdk_crm::{Client, Error, Suite};
use sdk_reference_server::{Operation, ReferenceServer};
use tokio::time::{Instant, sleep};

#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_and_a_retry_waits() -> Result<(), Error> {
    let server = ReferenceServer::in_memory();
    let suite = Suite::builder()
        .transport(server.service())
        .variables(server.environment())
        .build()?;
    let crm = Client::new(&suite)?;
    crm.today().get().await?;

    sleep(Duration::from_secs(301)).await; // takes no real time; the token expires
    crm.today().get().await?;
    assert_eq!(server.attempts(Operation::ExchangeToken), 2);

    server
        .fault(Operation::GetToday)
        .times(1)
        .status(503)
        .retry_after("20");
    let start = Instant::now(); // tokio's, not the standard library's
    crm.today().get().await?;
    assert!(start.elapsed() >= Duration::from_secs(20));
    Ok(())
}
