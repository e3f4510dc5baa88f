//! Row 27 and all the others at once: long walks through tokens that die, 503s and connections that end.

use std::collections::HashSet;
use std::time::Duration;

use sdk_reference_server::Operation;
use serde_json::{Value, json};
use tokio::time::advance;

use super::{PEOPLE, crm_of, name, page, rest};
use crate::peer::{Over, over_all, reply, reset, script};
use crate::support::{Ahead as _, HoldClock, crm_at};

over_all! { paused: fault_27_a_long_walk_over_raw_sockets }

/// The pages of a walk. Each tenth attempt ends in a 503, and each fifteenth without a response.
const PAGES: u64 = 120;

#[tokio::test(start_paused = true)]
async fn fault_27_a_long_walk_through_tokens_that_die_loses_no_item() {
    let (server, crm) = crm_of(PAGES);
    let all = rest(&mut crm.people().list().limit(50).items()).await.0;
    let before = server.attempts(Operation::ListPeople);
    let fault = || server.fault(Operation::ListPeople);
    let down = fault().skip(9).every(10).status(503);
    let torn = fault().skip(14).every(15).close_connection();

    let (mut names, mut died, mut revoked) = (Vec::new(), 0, 0);
    let mut pages = crm.people().list().limit(1).pages();
    while let Some(page) = pages.try_next().await.unwrap() {
        names.extend(page.items().unwrap().iter().map(name));
        // The clock of a server in memory is the test's, so both see a token expire. Only the server sees a revocation.
        match names.len() % 8 {
            3 => advance(Duration::from_secs(400)).await,
            7 => {
                server.revoke_tokens();
                revoked += 1;
            }
            _ => continue,
        }
        died += 1;
    }

    assert_eq!(names, all);
    assert_eq!(pages.checkpoint().delivered(), PAGES);
    assert_eq!(server.exchanges(), 1 + died);
    // Each failed attempt was followed by one more.
    assert!(down.struck() >= PAGES / 10 && torn.struck() >= PAGES / 15);
    let log = server.fault_log().into_iter();
    let failed: HashSet<_> = log.map(|strike| strike.request_id).collect();
    let attempts = server.attempts(Operation::ListPeople) - before;
    assert_eq!(attempts, PAGES + failed.len() as u64 + revoked);
}

async fn fault_27_a_long_walk_over_raw_sockets(over: Over) {
    let _clock = HoldClock::new();
    // The reference server closes connections; this peer resets them.
    let mut steps = Vec::new();
    for at in 1..=PAGES {
        for (period, trouble) in [(10, reply(503)), (15, reset()), (40, reply(401))] {
            steps.extend((at % period == 0).then_some(trouble));
        }
        let next = json!(format!("cursor-{at}"));
        let next = if at == PAGES { Value::Null } else { next };
        steps.push(page(&[&format!("{at}-a"), &format!("{at}-b")], next));
    }
    let requests = steps.len();
    for ahead in [false, true] {
        let peer = over.start(script(steps.clone()));
        let mut pages = crm_at(&peer).people().list().pages().ahead(ahead);

        let mut names = Vec::new();
        while let Some(page) = pages.try_next().await.unwrap() {
            names.extend(page.items().unwrap().iter().map(name));
            // Tokens that are refused one right after the other are not renewed each time. These are not.
            advance(Duration::from_secs(2)).await;
        }

        let expected = (1..=PAGES).flat_map(|at| [format!("{at}-a"), format!("{at}-b")]);
        assert!(names.into_iter().eq(expected));
        // A page is requested again only after its attempt failed.
        let seen = peer.requests();
        assert_eq!(seen.len(), requests);
        assert!(seen.iter().all(|seen| seen.target.starts_with(PEOPLE)));
        let last = format!("{PEOPLE}?cursor=cursor-{}", PAGES - 1);
        assert_eq!(seen.last().unwrap().target, last);
        // Three tokens were refused.
        assert_eq!(peer.exchanges().len(), 4);
    }
}
