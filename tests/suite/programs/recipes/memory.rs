use std::time::Duration;

use sdk_crm::{Error, Suite};
use sdk_reference_server::{Operation, ReferenceServer};

#[tokio::test(start_paused = true)]
async fn a_late_response_is_waited_for() -> Result<(), Error> {
    let server = ReferenceServer::in_memory();
    let suite = Suite::builder()
        .transport(server.service())
        .variables(server.environment())
        .build()?;
    let late = Duration::from_secs(5); // the paused clock skips this delay
    server.fault(Operation::ListPeople).times(1).delay(late);

    let crm = sdk_crm::Client::new(&suite)?;
    let first = crm.people().list().items().try_next().await?;

    assert!(first.is_some());
    Ok(())
}
