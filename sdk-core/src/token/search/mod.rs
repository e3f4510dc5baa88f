//! Searches every reachable state of the token engine, and checks invariants of each state and each step.
//!
//! The search drives the real state machine, `State` and `Waiter`, through all events of its environment. Callers
//! arrive, wait and leave. Renewals deliver, fail, stall and die. Runtimes stop. Operations accept and reject. Time
//! passes. Only the environment is modeled: the end of a renewal wakes all waiters, and a timer never fires early.
//!
//! The model doesn't include threads within a step, because each step holds the lock. It also omits code between the
//! end of a renewal and its notification, different clocks on different runtimes, and more than two operations.
//!
//! One caller has 3,558 states and two callers have 18,495. Two calls have 417,122 states. Their test searches three
//! times as many states as planted bugs needed (at most 368). Three bugs in the number of resends need 141,000 to
//! 153,000 states, so `tests::rejections` covers them.
//!
//! The complete search takes a few minutes: `cargo test --release -p sdk-core --lib token::search -- --ignored
//! --nocapture`

mod bfs;
mod invariants;
mod model;
mod scope;

use scope::Scope;

/// Runs a search, and panics with the shortest path to a violation. Returns whether the search was exhaustive.
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
    assert!(explore("two callers", Scope::small(2).lazily(), usize::MAX));
}

#[test]
fn two_rejected_calls_violate_no_invariant() {
    explore("two calls", Scope::rejecting(2, 1), 1_200);
}

#[test]
#[ignore = "takes minutes"]
fn the_complete_search() {
    for (name, scope) in [
        ("one caller, all jitter", Scope::of(1)),
        ("two callers, all jitter", Scope::of(2)),
        ("two callers", Scope::full(2).lazily()),
        ("three callers", Scope::small(3)),
        ("two calls, one operation", Scope::rejecting(2, 1)),
        ("one call, two operations", Scope::rejecting(1, 2)),
    ] {
        assert!(explore(name, scope, usize::MAX));
    }
    // Too large to be exhaustive.
    let scope = Scope::rejecting(2, 2);
    explore("two calls, two operations", scope, 5_000_000);
}
