//! Every state that the token engine can reach, and the invariants that hold there and on the way.
//!
//! The search drives the real state machine, `State` and `Waiter`, through whatever its environment may do: callers come, wait,
//! and leave; renewals deliver, fail, stall and die; runtimes stand still; operations accept and refuse; time passes. Only what
//! surrounds the machine is modelled: that all waiters are woken when a renewal ends, and that a timer fires no earlier than
//! asked.
//!
//! Not modelled: threads inside a step, since each holds the lock; what runs between the end of a renewal and its notification;
//! clocks that differ between runtimes; more than two operations.
//!
//! The whole search takes some minutes:
//! `cargo test --release -p sdk-core --lib token::search -- --ignored --nocapture`

mod bfs;
mod fingerprint;
mod invariants;
mod scope;
mod targets;
mod world;

use scope::Scope;

/// Searches, and panics with the shortest way to a broken invariant.
#[track_caller]
fn explore(name: &str, scope: Scope, most: usize) -> bool {
    let found = bfs::search(scope, most);
    println!(
        "{name}: {} states, {} transitions, depth {}, {:.1} s, whole: {}",
        found.states, found.transitions, found.depth, found.seconds, found.whole
    );
    if let Some((invariant, way)) = found.broken {
        panic!(
            "{name}: invariant {invariant}; after {} events:{}",
            way.len(),
            bfs::describe_path(scope, &way)
        );
    }
    found.whole
}

#[test]
fn one_caller_breaks_no_invariant() {
    assert!(explore("one waiter", Scope::full(1), usize::MAX));
}

#[test]
fn two_callers_break_no_invariant_for_long() {
    explore("two callers", Scope::lean(2).lazily(), 40_000);
}

#[test]
fn two_calls_that_are_refused_break_no_invariant_for_long() {
    explore("two calls", Scope::refusing(2, 1), 20_000);
}

#[test]
#[ignore = "takes minutes"]
fn the_whole_search() {
    for (name, scope) in [
        ("one waiter, all chance", Scope::of(1)),
        ("two callers", Scope::full(2).lazily()),
        ("three callers", Scope::lean(3)),
        ("two calls, one operation", Scope::refusing(2, 1)),
        ("one call, two operations", Scope::refusing(1, 2)),
    ] {
        assert!(explore(name, scope, usize::MAX));
    }
    // Too large to be searched whole.
    for (name, scope) in [
        ("two callers, all chance", Scope::of(2)),
        ("two calls, two operations", Scope::refusing(2, 2)),
    ] {
        explore(name, scope, 5_000_000);
    }
}
