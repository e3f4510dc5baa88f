//! Worlds of fixed seeds: each gives the same history twice, and breaks no law.

use std::thread;

use suite_checker::check;
use suite_proof::world::World;

/// Runs a world twice, each time on a thread of its own, as another process would.
#[track_caller]
fn holds(world: World) {
    let [one, other] = [(); 2].map(|()| thread::spawn(move || world.run()));
    let ((history, totals), (again, _)) = (one.join().unwrap(), other.join().unwrap());
    assert!(totals.of("requests") >= world.requests);
    assert_eq!(check(&history), []);
    let differ = |((at, one), (_, other))| {
        (one != other).then(|| format!("at {at}: {one:?}, then {other:?}"))
    };
    assert_eq!(history.events().zip(again.events()).find_map(differ), None);
    assert_eq!(history.digest(), again.digest());
}

#[test]
fn a_hundred_callers_and_more_on_one_suite_do_the_same_again() {
    let world = World::of(19);
    assert!(world.crowded && world.logged);
    holds(World {
        logged: false,
        ..world
    });
}

#[test]
fn worlds_of_several_services_do_the_same_again() {
    for seed in [1, 2, 4] {
        holds(World::of(seed));
    }
}

/// A page named itself as the next one, and was delivered again to whoever resumed there.
#[test]
fn seed_3_a_page_that_leads_back_to_itself_is_delivered_once() {
    holds(World::of(3));
}

#[test]
fn a_world_whose_lines_are_kept_does_the_same_again() {
    let world = World::of(9);
    assert!(world.logged);
    holds(World {
        requests: 300,
        ..world
    });
}
