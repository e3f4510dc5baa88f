//! Tests of the guarantees that both stores give to the worker and to operators.

use std::time::{Duration, SystemTime};

use super::{LEASE, Lab, TestStore, both, claim, done, keyed};
use crate::store::{Claim, Settlement};
use crate::{Entry, Error, State, sqlite};

const NO_LEASE: Duration = Duration::ZERO;

fn later(claim: &Claim, first_sent: Option<SystemTime>) -> Settlement {
    Settlement::later(claim, SystemTime::UNIX_EPOCH, first_sent, "503".to_owned())
}

fn parked(claim: &Claim) -> Settlement {
    Settlement::parked(claim, "refused", None, "400".to_owned())
}

/// Returns every possible result of a claim.
fn all(claim: &Claim) -> [Settlement; 4] {
    [
        later(claim, None),
        parked(claim),
        Settlement::released(claim),
        done(claim),
    ]
}

impl<S: TestStore> Lab<S> {
    async fn settle(&self, claim: &Claim, to: &Settlement) -> bool {
        self.outbox.store.settle(claim, to).await.unwrap()
    }

    /// Claims the only command that can be claimed.
    async fn claim_one(&self) -> Claim {
        let mut claims = self.claim(9).await;
        assert_eq!(claims.len(), 1, "{claims:?}");
        claims.remove(0)
    }
}

#[tokio::test]
async fn a_claim_is_settled_once() {
    both(settled_once, settled_once).await;
}

async fn settled_once<S: TestStore>(lab: Lab<S>) {
    let id = lab.place("a", None).await;
    let claim = lab.claim_one().await;
    assert_eq!((claim.command.id, claim.command.attempts), (id, 0));
    assert!(lab.claim(9).await.is_empty());
    assert!(lab.settle(&claim, &done(&claim)).await);
    for again in all(&claim) {
        assert!(!lab.settle(&claim, &again).await, "{again:?}");
    }
    assert_eq!(lab.count(State::Done).await, 1);
}

#[tokio::test]
async fn a_worker_whose_lease_expired_changes_only_the_late_note() {
    both(stale, stale).await;
}

async fn stale<S: TestStore>(lab: Lab<S>) {
    lab.place("a", Some("lane")).await;
    lab.outbox.store.maintain().await.unwrap();
    let stale = claim(&lab.outbox, 1, NO_LEASE).await.remove(0);
    assert!(!stale.lease_expired);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let current = lab.claim_one().await;
    assert!(current.lease_expired && current.command.first_sent.is_some());
    for to in all(&stale) {
        assert!(!lab.settle(&stale, &to).await, "{to:?}");
        assert_eq!(lab.count(State::Leased).await, 1, "{to:?}");
    }
    assert!(lab.settle(&current, &parked(&current)).await);
    let row = lab.outbox.list(State::Parked).await.unwrap().remove(0);
    assert_eq!(row.late.unwrap(), "it was applied: status 201");
}

#[tokio::test]
async fn a_claim_stores_the_first_sending_and_a_result_without_effect_clears_it() {
    both(first_sent, first_sent).await;
}

async fn first_sent<S: TestStore>(lab: Lab<S>) {
    lab.place("a", None).await;
    let first = lab.claim_one().await;
    // If this process crashed now, the next worker would have to assume that the command was sent.
    let stored = "SELECT first_sent FROM sdk_outbox";
    assert_ne!(lab.raw(stored).await[0][0], "");
    assert!(lab.settle(&first, &later(&first, Some(first.at))).await);
    let before = lab.raw(stored).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    let second = lab.claim_one().await;
    assert_eq!(lab.raw(stored).await, before);
    assert_eq!(
        (second.command.first_sent, second.command.attempts),
        (Some(first.at), 1)
    );
    assert!(lab.settle(&second, &Settlement::released(&second)).await);
    let third = lab.claim_one().await;
    assert_eq!(
        (third.command.first_sent, third.command.attempts),
        (Some(first.at), 1)
    );
    assert!(lab.settle(&third, &later(&third, None)).await);
    assert_eq!(lab.raw(stored).await[0][0], "");
}

#[tokio::test]
async fn a_lane_sends_one_command_at_a_time_and_waits_for_its_head() {
    both(lane, lane).await;
}

async fn lane<S: TestStore>(lab: Lab<S>) {
    let mut ids = Vec::new();
    for title in ["1", "2"] {
        ids.push(lab.place(title, Some("lane")).await);
    }
    let free = lab.place("free", None).await;
    let mut claims = lab.claim(9).await;
    claims.sort_by_key(|it| it.command.id);
    let claimed: Vec<i64> = claims.iter().map(|it| it.command.id).collect();
    assert_eq!(claimed, [ids[0], free]);
    // This command is admitted while a worker has claimed the head.
    ids.push(lab.place("3", Some("lane")).await);
    assert!(lab.claim(9).await.is_empty());
    // The first command is due later. It stays the head, so it is sent before the second.
    assert!(lab.settle(&claims[0], &later(&claims[0], None)).await);
    let head = lab.claim_one().await;
    assert_eq!(head.command.id, ids[0]);
    assert!(lab.settle(&head, &parked(&head)).await);
    assert!(lab.claim(9).await.is_empty());
    lab.outbox.retry(ids[0], "ann").await.unwrap();
    let head = lab.claim_one().await;
    assert_eq!((head.command.id, head.command.attempts), (ids[0], 0));
    assert!(head.approved_at.is_some() && head.command.first_sent.is_none());
    assert!(lab.settle(&head, &done(&head)).await);
    let second = lab.claim_one().await;
    assert_eq!(second.command.id, ids[1]);
    assert!(lab.settle(&second, &parked(&second)).await);
    lab.outbox.drop(ids[1], "ann", "cancelled").await.unwrap();
    assert_eq!(lab.claim_one().await.command.id, ids[2]);
    let decided = "SELECT decided_by, note FROM sdk_outbox WHERE state = 6";
    assert_eq!(lab.raw(decided).await, [["ann", "cancelled"]]);
}

#[tokio::test]
async fn each_sender_gets_its_own_commands_in_the_order_in_which_they_were_stored() {
    both(order, order).await;
}

async fn order<S: TestStore>(lab: Lab<S>) {
    for number in 0..30 {
        let title = number.to_string();
        let command = keyed(&lab.calendar, &title);
        let entry = Entry::new(&command).reference(&title);
        let entry = if number % 3 == 0 {
            entry.installation("other")
        } else {
            entry
        };
        S::enqueue(&lab.place, &entry).await;
    }
    let mut claimed = Vec::new();
    while let [first, rest @ ..] = &lab.claim(2).await[..] {
        for claim in [first].into_iter().chain(rest) {
            assert_eq!(claim.command.installation, "");
            claimed.push(
                claim
                    .command
                    .reference
                    .clone()
                    .unwrap()
                    .parse::<u32>()
                    .unwrap(),
            );
        }
    }
    let expected: Vec<u32> = (0..30).filter(|it| it % 3 > 0).collect();
    claimed.chunks_mut(2).for_each(<[u32]>::sort_unstable);
    assert_eq!(claimed, expected);
    assert_eq!(lab.count(State::Ready).await, 10);
}

#[tokio::test]
async fn workers_that_claim_at_the_same_time_share_the_commands() {
    both(share, share).await;
}

async fn share<S: TestStore>(lab: Lab<S>) {
    for number in 0..60 {
        lab.place(&number.to_string(), (number % 2 == 0).then_some("lane"))
            .await;
    }
    lab.outbox.store.maintain().await.unwrap();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let outbox = S::open(&lab.place).await;
        workers.spawn(async move {
            let mut ids = Vec::new();
            while let [one] = &claim(&outbox, 1, LEASE).await[..] {
                ids.push(one.command.id);
                assert!(outbox.store.settle(one, &done(one)).await.unwrap());
            }
            ids
        });
    }
    let mut ids = workers.join_all().await.concat();
    // The lane's next command may have been promoted when each worker had already ended.
    while let [one, ..] = &lab.claim(1).await[..] {
        ids.push(one.command.id);
        assert!(lab.settle(one, &done(one)).await);
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((all, ids.len()), (60, 60));
}

#[tokio::test]
async fn an_operator_gets_counts_and_the_oldest_command_and_purges_settled_commands() {
    both(operator, operator).await;
}

async fn operator<S: TestStore>(lab: Lab<S>) {
    for title in ["done", "parked", "dropped", "ready"] {
        lab.place(title, None).await;
    }
    for claim in lab.claim(3).await {
        let to = if claim.command.reference.as_deref() == Some("done") {
            done(&claim)
        } else {
            parked(&claim)
        };
        assert!(lab.settle(&claim, &to).await);
    }
    let waiting = lab.outbox.list(State::Parked).await.unwrap();
    let [parked, dropped] = &waiting[..] else {
        panic!("{waiting:?}")
    };
    assert_eq!(
        (parked.reason.as_deref(), parked.note.as_deref()),
        (Some("refused"), Some("400"))
    );
    assert_eq!(parked.prepared().unwrap().operation(), "submitEventCommand");
    assert!(!format!("{parked:?}").contains("deliveries"), "{parked:?}");
    let found = lab.outbox.find(parked.id).await.unwrap().unwrap();
    assert_eq!(
        (found.id, found.state, &found.reason),
        (parked.id, State::Parked, &parked.reason)
    );
    assert!(lab.outbox.find(0).await.unwrap().is_none());
    lab.outbox.drop(dropped.id, "ann", "").await.unwrap();
    let error = lab.outbox.retry(dropped.id, "ann").await.unwrap_err();
    assert!(
        matches!(error, Error::NotParked { id } if id == dropped.id),
        "{error}"
    );

    let status = lab.outbox.status().await.unwrap();
    let counts = State::ALL.map(|state| status.count(state));
    assert_eq!(counts, [0, 1, 0, 0, 1, 1, 1]);
    let reasons = status.counts.iter().filter_map(|it| it.reason.as_deref());
    assert_eq!(reasons.collect::<Vec<_>>(), ["refused"]);
    assert_eq!(status.oldest.unwrap().reference.unwrap(), "ready");

    assert_eq!(lab.outbox.purge(Duration::from_secs(60)).await.unwrap(), 0);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(lab.outbox.purge(Duration::ZERO).await.unwrap(), 2);
    assert_eq!(lab.count(State::Parked).await, 1);
}

#[tokio::test]
async fn many_new_commands_are_admitted_in_batches() {
    both(flood, flood).await;
}

async fn flood<S: TestStore>(lab: Lab<S>) {
    for number in 0..501 {
        let command = keyed(&lab.calendar, &number.to_string());
        S::enqueue(&lab.place, &Entry::new(&command)).await;
    }
    assert!(lab.outbox.store.maintain().await.unwrap());
    assert_eq!(lab.count(State::New).await, 1);
    assert!(!lab.outbox.store.maintain().await.unwrap());
    assert_eq!(lab.count(State::Ready).await, 501);
}

#[tokio::test]
async fn tables_of_a_later_release_are_rejected() {
    both(too_new, too_new).await;
}

async fn too_new<S: TestStore>(lab: Lab<S>) {
    lab.raw("UPDATE sdk_outbox_version SET version = 2").await;
    let error = S::try_open(&lab.place).await.unwrap_err();
    let message =
        "the outbox tables have version 2, but this release supports only versions up to 1";
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn an_invalid_lane_or_reference_is_rejected_before_anything_is_stored() {
    both(invalid, invalid).await;
}

async fn invalid<S: TestStore>(lab: Lab<S>) {
    let command = keyed(&lab.calendar, "a");
    let long = "x".repeat(501);
    for entry in [
        Entry::new(&command).lane(""),
        Entry::new(&command).lane(&long),
        Entry::new(&command).reference("a\0b"),
        Entry::new(&command).installation("a\0b"),
    ] {
        let error = S::try_enqueue(&lab.place, &entry).await.unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
    }
    assert_eq!(lab.raw("SELECT count(*) FROM sdk_outbox").await, [["0"]]);
}

#[tokio::test]
async fn open_existing_creates_no_outbox() {
    let folder = std::env::temp_dir().join(format!("sdk-outbox-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("other.db");
    assert!(sqlite::Outbox::open_existing(&path).await.is_err());
    assert!(!path.exists());
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE users (name TEXT)")
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = sqlite::Outbox::open_existing(&path).await.unwrap_err();
    assert!(matches!(error, Error::Missing), "{error}");
    assert_eq!(
        std::fs::read(&path).unwrap(),
        before,
        "its journal mode has changed"
    );
    sqlite::Outbox::open(&path).await.unwrap();
    sqlite::Outbox::open_existing(&path).await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
