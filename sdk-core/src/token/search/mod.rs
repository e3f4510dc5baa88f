//! Every state that the token engine can reach, and the invariants that hold there and on the way.
//!
//! The search drives the real state machine, `State` and `Waiter`, through everything that its environment may do: callers
//! arrive, wait and leave; renewals deliver, fail, stall and die; runtimes stop; operations accept and reject; time passes. Only
//! the environment is modeled: all waiters are woken when a renewal ends, and a timer fires no earlier than asked.
//!
//! Not modeled: threads inside a step, since each holds the lock; what runs between the end of a renewal and its notification;
//! clocks that differ between runtimes; more than two operations.
//!
//! One caller has 3,558 states and two have 18,495. Two calls have 417,122, of which their test searches three times as many as
//! planted bugs needed (368 at most). Three bugs in how often a call is resent need 141,000 to 153,000: `tests::rejections`
//! covers them.
//!
//! The whole search takes some minutes:
//! `cargo test --release -p sdk-core --lib token::search -- --ignored --nocapture`

mod bfs;
mod invariants;
mod model;
mod scope;

use scope::Scope;

/// Searches, and panics with the shortest path to a violation. Returns whether the search was exhaustive.
#[track_caller]
fn explore(name: &str, scope: Scope, limit: usize) -> bool {
    let found = bfs::search(scope, limit);
    println!(
        "{name}: {} states, {} transitions, depth {}, {:.1} s, exhaustive: {}",
        found.states, found.transitions, found.depth, found.seconds, found.exhaustive
    );
    if let Some((invariant, path)) = found.violation {
        panic!(
            "{name}: invariant {invariant}; after {} events:{}",
            path.len(),
            bfs::describe_path(scope, &path)
        );
    }
    found.exhaustive
}

#[test]
fn one_caller_violates_no_invariant() {
    assert!(explore("one caller", Scope::full(1), usize::MAX));
}

#[test]
fn two_callers_violate_no_invariant() {
    assert!(explore("two callers", Scope::lean(2).lazily(), usize::MAX));
}

#[test]
fn two_calls_that_are_rejected_violate_no_invariant() {
    explore("two calls", Scope::rejecting(2, 1), 1_200);
}

#[test]
#[ignore = "takes minutes"]
fn the_whole_search() {
    for (name, scope) in [
        ("one caller, all jitter", Scope::of(1)),
        ("two callers, all jitter", Scope::of(2)),
        ("two callers", Scope::full(2).lazily()),
        ("three callers", Scope::lean(3)),
        ("two calls, one operation", Scope::rejecting(2, 1)),
        ("one call, two operations", Scope::rejecting(1, 2)),
    ] {
        assert!(explore(name, scope, usize::MAX));
    }
    // Too large to be exhaustive.
    let scope = Scope::rejecting(2, 2);
    explore("two calls, two operations", scope, 5_000_000);
}
