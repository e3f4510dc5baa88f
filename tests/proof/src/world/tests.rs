//! Simulations of fixed seeds: each gives the same history twice, and violates no invariant.

use std::thread;

use suite_checker::check;

use super::{Sdk, World};

/// Runs a simulation twice, each time on its own thread, as another process would.
#[track_caller]
fn holds(world: World) {
    let [one, other] = [(); 2].map(|()| thread::spawn(move || world.run()));
    let ((history, totals), (again, _)) = (one.join().unwrap(), other.join().unwrap());
    assert!(totals["requests"] >= world.requests);
    assert_eq!(check(&history), []);
    let mut both = history.events().iter().zip(again.events());
    assert_eq!(both.find(|(one, other)| one != other), None);
    assert_eq!(history.digest(), again.digest());
}

/// The simulation of a seed, but shorter.
fn short(seed: u64, requests: u64) -> World {
    World {
        requests,
        ..World::of(seed)
    }
}

#[test]
fn a_hundred_callers_and_more_on_one_suite_do_the_same_again() {
    let world = short(19, 600);
    assert!(world.crowded && world.logged);
    holds(World {
        logged: false,
        ..world
    });
}

/// Nothing strikes the requests of seed 10, and seed 9 keeps its lines.
#[test]
fn several_services_do_the_same_again() {
    for (seed, requests) in [(1, 300), (2, 300), (4, 300), (9, 150), (10, 300)] {
        let world = short(seed, requests);
        assert_eq!((world.logged, world.faultless), (seed == 9, seed == 10));
        holds(world);
    }
}

/// A page named itself as the next one, and was delivered again to whoever resumed there.
#[test]
fn seed_3_a_page_that_leads_back_to_itself_is_delivered_once() {
    holds(short(3, 600));
}

/// A simulation of a broken SDK.
fn broken(seed: u64, sdk: Sdk) -> World {
    World {
        crowded: sdk == Sdk::TenAtATime,
        sdk,
        ..short(seed, 60)
    }
}

/// The seeds of the simulations of broken SDKs. The first few find them all.
const SEEDS: std::ops::Range<u64> = 7..47;

/// The first seed whose simulation of a broken SDK violates this invariant.
fn rejected((sdk, invariant): (Sdk, &str)) -> Option<u64> {
    let violates = |seed: &u64| {
        let found = check(&broken(*seed, sdk).run().0);
        found.iter().any(|it| it.law == invariant)
    };
    SEEDS.into_iter().find(violates)
}

#[test]
fn each_broken_sdk_is_rejected_where_the_correct_one_passes() {
    let half = |part: &'static [(Sdk, &str)]| {
        thread::spawn(move || part.iter().copied().map(rejected).collect::<Vec<_>>())
    };
    let (some, others) = Sdk::BROKEN.split_at(Sdk::BROKEN.len() / 2);
    let seeds = [half(some), half(others)].map(|it| it.join().unwrap());
    println!("{:16} {:55} simulation", "broken SDK", "violated invariant");
    let mut last = 0;
    for ((sdk, invariant), seed) in Sdk::BROKEN.iter().zip(seeds.concat()) {
        let name = format!("{sdk:?}");
        println!("{name:16} {invariant:55} {seed:?}");
        last = last.max(seed.expect("it is rejected"));
    }
    for seed in SEEDS.start..=last {
        assert_eq!(check(&broken(seed, Sdk::Correct).run().0), []);
    }
}

#[test]
fn a_simulation_whose_calls_are_all_rejected_ends_and_names_the_callers() {
    let found = check(&broken(1, Sdk::RejectsAll).run().0);
    let stuck = found
        .iter()
        .find(|it| it.law == "a simulation ends within its limits");
    let named = stuck.unwrap().what.matches("; caller ").count();
    assert_eq!(named, 3, "{stuck:?}");
}
