//! Measures how time and memory grow with the input. Each word is inserted at each position of each corpus input, many
//! times.

use std::alloc::System;
use std::process::exit;
use std::{env, fs};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use suite_proof::fuzz::{Target, words};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The sizes of the insertions. The larger insertion may cost at most `MOST` times as much.
const SIZES: [usize; 2] = [16 << 10, 64 << 10];
const MOST: u64 = 8;

/// Smaller costs, in nanoseconds and bytes, are not significant.
const LITTLE: [u64; 2] = [20_000_000, 8 << 20];

/// Returns the processor time in nanoseconds and the allocated bytes.
fn cost(target: Target, input: &[u8]) -> [u64; 2] {
    let (region, before) = (Region::new(ALLOCATOR), processor_time());
    target(input);
    [
        processor_time() - before,
        region.change().bytes_allocated as u64,
    ]
}

/// Returns the processor time of this thread, independent of other work on the machine.
fn processor_time() -> u64 {
    let times = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let first = times.split(' ').next().and_then(|it| it.parse().ok());
    first.expect("nanoseconds")
}

pub(super) fn measure(name: &str, target: Target) -> ! {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
    let (mut runs, mut steep, mut worst) = (0_u64, 0_u64, [0_u64; 2]);
    for file in fs::read_dir(format!("{root}/{name}")).expect("a corpus") {
        let file = file.expect("a file").path();
        let seed = fs::read(&file).expect("an input");
        let is_place = |at: &usize| *at == seed.len() || b"\"\n:[{".contains(&seed[*at - 1]);
        let places: Vec<usize> = (1..=seed.len()).filter(is_place).collect();
        for word in words() {
            for at in places.iter().step_by(places.len() / 12 + 1) {
                let blown = |size: usize| {
                    let filling = word.repeat(size / word.len());
                    [&seed[..*at], filling.as_bytes(), &seed[*at..]].concat()
                };
                let [small, large] = SIZES.map(blown);
                let costs = [&small, &large].map(|input| cost(target, input));
                runs += 2;
                for what in 0..2 {
                    worst[what] = worst[what].max(costs[1][what]);
                    let is_steep = |[one, other]: [[u64; 2]; 2]| {
                        other[what] > LITTLE[what] && other[what] > MOST * one[what]
                    };
                    if is_steep(costs) && is_steep([&small, &large].map(|it| cost(target, it))) {
                        steep += 1;
                        println!(
                            "{name}: {} at {at} with {word:?}: {costs:?}",
                            file.display()
                        );
                    }
                }
            }
        }
    }
    println!(
        "{name}: {runs} runs, {steep} steep, at most {} ms and {} KiB",
        worst[0] / 1_000_000,
        worst[1] >> 10
    );
    exit(i32::from(steep > 0));
}
