//! Simulations with fixed seeds. Each gives the same history twice and violates no invariant.

use std::thread;

use suite_checker::check;

use super::{Sdk, Simulation};

/// Runs a simulation twice, on separate threads, like two processes.
#[track_caller]
fn assert_valid(simulation: Simulation) {
    let [one, other] = [(); 2].map(|()| thread::spawn(move || simulation.run()));
    let ((history, totals), (again, _)) = (one.join().unwrap(), other.join().unwrap());
    assert!(totals["requests"] >= simulation.requests);
    assert_eq!(check(&history), []);
    let mut both = history.events().iter().zip(again.events());
    assert_eq!(both.find(|(one, other)| one != other), None);
    assert_eq!(history.digest(), again.digest());
}

fn short(seed: u64, requests: u64) -> Simulation {
    Simulation {
        requests,
        ..Simulation::of(seed)
    }
}

#[test]
fn a_crowded_suite_gives_the_same_history_twice() {
    let simulation = short(19, 600);
    assert!(simulation.crowded && simulation.logged);
    assert_valid(Simulation {
        logged: false,
        ..simulation
    });
}

/// Seed 10 has no faults, and seed 9 records lines.
#[test]
fn several_services_give_the_same_history_twice() {
    for (seed, requests) in [(1, 300), (2, 300), (4, 300), (9, 150), (10, 300)] {
        let simulation = short(seed, requests);
        assert_eq!(
            (simulation.logged, simulation.faultless),
            (seed == 9, seed == 10)
        );
        assert_valid(simulation);
    }
}

/// In this simulation, a page once pointed to itself, and a consumer that resumed there got it twice.
#[test]
fn seed_3_a_page_that_leads_back_to_itself_is_delivered_once() {
    assert_valid(short(3, 600));
}

fn broken(seed: u64, sdk: Sdk) -> Simulation {
    Simulation {
        crowded: sdk == Sdk::TenAtATime,
        sdk,
        ..short(seed, 60)
    }
}

/// The seeds of the simulations with broken SDKs. The first few seeds find them all.
const SEEDS: std::ops::Range<u64> = 7..47;

/// Returns the first seed whose simulation of a broken SDK violates this invariant.
fn rejected((sdk, invariant): (Sdk, &str)) -> Option<u64> {
    let violates = |seed: &u64| {
        let found = check(&broken(*seed, sdk).run().0);
        found.iter().any(|it| it.invariant == invariant)
    };
    SEEDS.into_iter().find(violates)
}

#[test]
fn each_broken_sdk_is_rejected_and_the_correct_sdk_passes() {
    let half = |part: &'static [(Sdk, &str)]| {
        thread::spawn(move || part.iter().copied().map(rejected).collect::<Vec<_>>())
    };
    let (some, others) = Sdk::BROKEN.split_at(Sdk::BROKEN.len() / 2);
    let seeds = [half(some), half(others)].map(|it| it.join().unwrap());
    println!("{:16} {:60} simulation", "broken SDK", "violated invariant");
    let mut last = 0;
    for ((sdk, invariant), seed) in Sdk::BROKEN.iter().zip(seeds.concat()) {
        let name = format!("{sdk:?}");
        println!("{name:16} {invariant:60} {seed:?}");
        last = last.max(seed.expect("it is rejected"));
    }
    for seed in SEEDS.start..=last {
        assert_eq!(check(&broken(seed, Sdk::Correct).run().0), []);
    }
}

#[test]
fn a_simulation_with_only_rejected_calls_ends_and_names_the_callers() {
    let found = check(&broken(1, Sdk::RejectsAll).run().0);
    let stuck = found
        .iter()
        .find(|it| it.invariant == "a simulation ends within its limits");
    let named = stuck.unwrap().what.matches("; caller ").count();
    assert_eq!(named, 3, "{stuck:?}");
}
