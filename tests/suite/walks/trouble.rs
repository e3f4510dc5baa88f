//! Row 27 and all the others at once: long walks through tokens that die, 503s and resets.

use std::collections::HashSet;
use std::time::Duration;

use sdk_reference_server::{Operation, ReferenceServer, Transport};
use serde_json::{Value, json};
use tokio::time::advance;

use super::{PEOPLE, name, page, rest};
use crate::peer::{Over, over_all, reply, reset, script};
use crate::support::{Ahead as _, HoldClock, crm_at, crm_for};

over_all! { paused: fault_27_three_hundred_pages_over_raw_sockets }

const PAGES: u64 = 300;

#[tokio::test(start_paused = true)]
async fn fault_27_three_hundred_pages_with_short_tokens_503s_and_resets() {
    let _clock = HoldClock::new();
    // Both clocks move only with the pages, however busy the machine is.
    let server = ReferenceServer::builder()
        .transport(Transport::Hyper)
        .frozen_clock()
        .people(PAGES * 10)
        .start()
        .await;
    let crm = crm_for(&server);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    let before = server.attempts(Operation::ListPeople);
    let begun_with = server.exchanges();
    server.set_token_lifetime(Duration::from_secs(2));
    server.revoke_tokens();
    let down = server
        .fault(Operation::ListPeople)
        .skip(9)
        .every(10)
        .status(503);
    let torn = server
        .fault(Operation::ListPeople)
        .skip(14)
        .every(15)
        .close_connection();

    let mut names = Vec::new();
    let mut pages = crm.people().list().limit(10).pages();
    let mut revocations = vec![2_500, 1_000];
    let (mut token, mut pages_with_it) = (server.exchanges(), 0);
    while let Some(page) = pages.try_next().await.unwrap() {
        names.extend(page.items().unwrap().iter().map(name));
        // The server's clock goes a little faster than the client's.
        server.advance(Duration::from_millis(90));
        advance(Duration::from_millis(80)).await;
        pages_with_it += 1;
        if server.exchanges() != token {
            (token, pages_with_it) = (server.exchanges(), 0);
        }
        // In the middle of a token's life: one that is being renewed meanwhile would be revoked along with its successor.
        if pages_with_it == 6 && revocations.last().is_some_and(|&due| names.len() >= due) {
            server.revoke_tokens();
            revocations.pop();
        }
    }
    assert!(revocations.is_empty());

    assert_eq!(names.len() as u64, PAGES * 10);
    assert_eq!(names, all);
    assert_eq!(pages.checkpoint().delivered(), PAGES * 10);
    // 24 seconds of tokens that live two, and are renewed from half a second before their end.
    let exchanged = server.exchanges() - begun_with;
    let attempts = server.attempts(Operation::ListPeople) - before;
    println!("{PAGES} pages, {attempts} attempts, {exchanged} token exchanges");
    assert!((12..=30).contains(&exchanged), "{exchanged} exchanges");
    assert!(down.struck() >= 30 && torn.struck() >= 20);
    // Each failed attempt was followed by one more; two revoked tokens failed one attempt each.
    let failed: HashSet<_> = server
        .fault_log()
        .into_iter()
        .map(|strike| strike.request_id)
        .collect();
    assert!(attempts >= PAGES + failed.len() as u64 + 2);
}

async fn fault_27_three_hundred_pages_over_raw_sockets(over: Over) {
    let _clock = HoldClock::new();
    // The reference server closes connections; this peer resets them.
    let mut steps = Vec::new();
    for at in 1..=PAGES {
        if at % 10 == 0 {
            steps.push(reply(503));
        }
        if at % 15 == 0 {
            steps.push(reset());
        }
        if at % 40 == 0 {
            steps.push(reply(401));
        }
        let next = if at == PAGES {
            Value::Null
        } else {
            json!(format!("cursor-{at}"))
        };
        steps.push(page(&[&format!("{at}-a"), &format!("{at}-b")], next));
    }
    for ahead in [false, true] {
        let peer = over.start(script(steps.clone()));
        let mut pages = crm_at(&peer).people().list().pages().ahead(ahead);

        let mut names = Vec::new();
        while let Some(page) = pages.try_next().await.unwrap() {
            names.extend(page.items().unwrap().iter().map(name));
            // Tokens that are refused one right after the other are not renewed each time: these are not.
            advance(Duration::from_secs(2)).await;
        }

        let expected = (1..=PAGES).flat_map(|at| [format!("{at}-a"), format!("{at}-b")]);
        assert!(names.into_iter().eq(expected));
        let seen = peer.requests();
        assert_eq!(seen.len(), 300 + 30 + 20 + 7);
        // Seven tokens were refused, and two died of age.
        assert!((8..=10).contains(&peer.exchanges().len()));
        assert!(seen.iter().all(|seen| seen.target.starts_with(PEOPLE)));
        // A page is asked for again only after its attempt failed.
        let last = seen.last().unwrap();
        assert_eq!(last.target, format!("{PEOPLE}?cursor=cursor-299"));
    }
}
