//! Both stores keep the same promises.

use std::time::{Duration, UNIX_EPOCH};

use super::{LEASE, Lab, TestStore, both, claim, keyed};
use crate::entry::StoredReceipt;
use crate::store::{Settlement, Store};
use crate::{Entry, Error, State};

fn done() -> Settlement {
    Settlement::Done(StoredReceipt {
        http_status: 201,
        replayed: None,
        body: "{}".to_owned(),
    })
}

#[tokio::test]
async fn a_command_in_no_lane_is_claimed_once_and_done_once() {
    both(once, once).await;
}

async fn once<S: TestStore>(lab: Lab<S>) {
    let id = lab.place("a", None).await;
    let claims = lab.claim(5).await;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].command.id, id);
    assert!(lab.claim(5).await.is_empty());
    assert!(lab.outbox.store.settle(&claims[0], &done()).await.unwrap());
    assert!(!lab.outbox.store.settle(&claims[0], &done()).await.unwrap());
    assert_eq!(lab.count(State::Done).await, 1);
}
