//! Who reaches a server and should not: those who guess keys.

use sdk_reference_server::{App, Builder, ReferenceServer, Transport};

use crate::peer::Peer;

fn on(transport: Transport) -> Builder {
    let builder = ReferenceServer::builder().transport(transport);
    builder.frozen_clock().control_port(0)
}

#[tokio::test]
async fn fault_87_the_signing_key_follows_from_neither_seed_nor_address() {
    let builder = || on(Transport::Hyper).audience(App::Crm, "crm");
    let first = Peer::of(builder().start().await);
    let port = first.server.core_url().rsplit(':').next().unwrap().parse();
    let token = first.token(App::Crm).await;
    let today = "/api/crm/v1/today";
    let seen = first.get_with(App::Crm, today, &token).await.expect(200);
    drop(first);

    let second = builder().port(App::Platform, port.unwrap());
    let second = Peer::of(second.start().await);

    second.get_with(App::Crm, today, &token).await.expect(401);
    // The data are the same.
    assert_eq!(second.crm("/today").await.expect(200), seen);
}
