//! Rows 55, 82 and 85: checkpoints that come back otherwise, and what they give away.

use sdk_core::{Checkpoint, Effect, ErrorKind, IdempotencyKey, Secret};
use serde_json::{Value, json};

use crate::peer::{Peer, always, json, script};
use crate::support::{assert_failed, assert_says, crm_at, key};
use crate::walks::{page, rest};

#[tokio::test]
async fn fault_55_a_checkpoint_with_absurd_numbers_or_of_another_installation_is_refused() {
    let page = json!({"items": [{"a": 1}, {"a": 2}], "nextCursor": "c-2"});
    let peer = Peer::start(always(json(200, &page)));
    let crm = crm_at(&peer);
    let mut items = crm.people().list().items();
    items.try_next().await.unwrap();
    let sound = serde_json::to_value(items.checkpoint()).unwrap();
    let requests = peer.requests().len();
    for (member, value) in [
        ("skip", json!(usize::MAX)),
        ("skip", json!(2)),
        ("delivered", json!(u64::MAX)),
        ("version", json!(2)),
        ("version", json!(u32::MAX)),
        ("cursor", json!("c".repeat(100_000))),
        ("audience", json!("https://another.suite.test")),
        // One that names no audience is of no installation.
        ("audience", json!(null)),
        ("operation", json!("listTasks\u{1b}[31m")),
        ("filters", json!("")),
    ] {
        let mut form = sound.clone();
        form[member] = value;
        let checkpoint: Checkpoint = serde_json::from_value(form).unwrap();
        let mut items = crm.people().list().items().resume(checkpoint);
        let error = items.try_next().await.unwrap_err();
        assert_failed(&error, ErrorKind::Pagination, Effect::NotSent);
        assert!(!format!("{error} {error:?}").contains('\u{1b}'));
    }
    for (member, value) in [
        ("skip", json!(-1)),
        ("skip", json!(1e300)),
        ("delivered", json!("many")),
        ("version", json!(null)),
    ] {
        let mut form = sound.clone();
        form[member] = value;
        let read = serde_json::from_value::<Checkpoint>(form);
        assert!(read.is_err(), "{member}");
    }
    assert_eq!(peer.requests().len(), requests);
    // At the bounds it is sound.
    for (member, value) in [("version", json!(1)), ("delivered", json!(1_u64 << 53))] {
        let mut form = sound.clone();
        form[member] = value;
        let sound: Checkpoint = serde_json::from_value(form).unwrap();
        let mut goes_on = crm.people().list().items().resume(sound);
        assert!(goes_on.try_next().await.unwrap().is_some());
    }
}

#[tokio::test]
async fn fault_85_a_checkpoint_that_skips_more_than_there_is_ends_in_an_error() {
    // Three items of the second page were delivered; since then the list has shrunk.
    let full = || page(&["b", "c", "d"], Value::Null);
    let peer = Peer::start([page(&["a"], "c-2"), full()]);
    let mut items = crm_at(&peer).people().list().items();
    for _ in 0..3 {
        items.try_next().await.unwrap().unwrap();
    }
    let checkpoint = items.checkpoint();

    // In pages of the same size, a page that ends early has changed; in others, only a list that does.
    let [early, other] = ["the page ends 1 item before", "the list ends 1 item before"];
    let last = |items: &[&str]| page(items, Value::Null);
    for (limit, shrunk, words) in [
        (None, vec![last(&["b"])], early),
        (None, vec![page(&["b"], "c-3"), last(&["c"])], early),
        (Some(1), vec![page(&[], "c-3"), last(&["b"])], other),
    ] {
        let peer = Peer::start(script(shrunk));
        let mut walk = crm_at(&peer).people().list();
        if let Some(limit) = limit {
            walk = walk.limit(limit);
        }
        let mut items = walk.items().resume(checkpoint.clone());
        let error = rest(&mut items).await.1.expect("no complete walk");
        let told = (error.kind(), error.status());
        assert_eq!(told, (ErrorKind::Pagination, Some(200)), "{error}");
        assert_says(&error, &[words]);
        assert!(!items.checkpoint().is_finished());
    }
    // One that fits goes on.
    let peer = Peer::start([full()]);
    let mut items = crm_at(&peer).people().list().items().resume(checkpoint);
    let last = items.try_next().await.unwrap().unwrap();
    assert_eq!(last.text("publicReference").as_deref(), Some("d"));
    assert!(items.try_next().await.unwrap().is_none() && items.checkpoint().is_finished());
}

#[test]
fn fault_82_keys_can_be_derived_so_that_nobody_guesses_them() {
    let [secret, another] = ["from the vault: 1", "from the vault: 2"].map(Secret::from);
    let plain = IdempotencyKey::derive("payroll", ["ann@example.com"]);
    let derive =
        |secret| IdempotencyKey::derive_keyed(secret, "payroll", ["ann@example.com"]).unwrap();
    let keyed = derive(&secret);
    assert_ne!(plain, keyed);
    assert_eq!(keyed, derive(&secret));
    assert_ne!(keyed, derive(&another));
    assert_eq!(keyed, key(keyed.as_str()));
    // A variable that was not set is no secret.
    for short in ["", "fifteen bytes !"] {
        let short = Secret::from(short);
        let error = IdempotencyKey::derive_keyed(&short, "payroll", ["x"]).unwrap_err();
        assert_says(&error, &["at least 16 bytes"]);
        assert!(!error.to_string().contains("fifteen bytes"), "{error}");
    }
}
