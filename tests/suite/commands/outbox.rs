//! The `outbox` example, killed at bytes all over the wire, and started again. It kills itself at its own steps.

mod lab;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::peer::proxy::Way;
use lab::{Kill, Lab, Life, ORDERS};

/// At how many bytes of the requests, and of the replies, the service is killed.
const CUTS: usize = 140;

/// How many lives end three times, at one place after another.
const CHAINS: usize = 8;

#[test]
fn fault_21_a_service_killed_anywhere_commits_once_and_gets_its_receipts() {
    let lives = lives();
    let results = live_all(&lives);

    let mut rows = ["within a request", "within a reply", "three times"]
        .map(|name| (name, 0, Life::default()));
    for (kills, life) in lives.iter().zip(&results) {
        let row = match kills.as_slice() {
            [(Way::Up, _)] => &mut rows[0],
            [(Way::Down, _)] => &mut rows[1],
            _ => &mut rows[2],
        };
        row.1 += kills.len();
        row.2 += *life;
    }
    let mut total = ("in all", 0, Life::default());
    for row in &rows {
        total.1 += row.1;
        total.2 += row.2;
    }
    println!(
        "{:<18}{:>7}{:>8}{:>9}{:>10}{:>10}{:>10}",
        "killed", "kills", "orders", "commits", "receipts", "replayed", "requests"
    );
    for (name, kills, life) in rows.iter().chain([&total]) {
        println!(
            "{name:<18}{kills:>7}{:>8}{:>9}{:>10}{:>10}{:>10}",
            life.orders, life.commits, life.receipts, life.replayed, life.requests
        );
    }

    assert!(total.1 >= 300, "{} kills", total.1);
    for (kills, life) in lives.iter().zip(&results) {
        let counts = [life.orders, life.commits, life.receipts];
        assert_eq!(counts, [ORDERS; 3], "{kills:?}");
    }
    // Those that died between commit and receipt, which is what all of this is about.
    assert!(total.2.replayed > 0 && total.2.requests > total.2.commits);
}

/// Bytes at equal distances over everything that goes over the wire, and all of that mixed.
fn lives() -> Vec<Vec<Kill>> {
    let mut lab = Lab::start();
    let (up, down) = lab.measure();
    let at = |share: usize, of: usize, parts: usize| share * of / parts;
    let mut lives = Vec::new();
    for cut in 0..CUTS {
        lives.push(vec![(Way::Up, at(cut, up, CUTS))]);
        lives.push(vec![(Way::Down, at(cut, down, CUTS))]);
    }
    for share in 1..=CHAINS {
        // Each restart has less left to do, so the places lie near the beginning of what it does.
        lives.push(vec![
            (Way::Up, at(share, up, 3 * (CHAINS + 1))),
            (Way::Down, at(share, down, 3 * (CHAINS + 1))),
            (Way::Down, at(share, down, 9 * (CHAINS + 1))),
        ]);
    }
    lives
}

/// Lives all of them, as many at a time as there are processors.
fn live_all(lives: &[Vec<Kill>]) -> Vec<Life> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![Life::default(); lives.len()]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                let mut lab = Lab::start();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(kills) = lives.get(at) else { break };
                    let life = lab.live(at, kills);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[at] = life;
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_row_that_nobody_can_read_is_left_to_a_person_and_the_others_go_on() {
    let mut lab = Lab::start();
    assert_eq!(lab.live_beside_nonsense(), (ORDERS, 1));
}
