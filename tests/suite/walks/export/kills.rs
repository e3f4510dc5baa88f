//! An export that dies at any moment.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant, SystemTime};

use sdk_reference_server::{Operation, ReferenceServer};

use super::super::server_of;
use super::{command, start, status};
use crate::programs::Folder;

const KILLS: u32 = 50;
const PEOPLE: u64 = 1_500;
const OPTIONS: [&str; 4] = ["--limit", "50", "--save-every", "4"];

/// Numbers that are different in every run, and known when a run has failed.
struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    fn new() -> Self {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let seed = now.as_secs() ^ u64::from(now.subsec_nanos());
        Self { seed, state: seed }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % bound
    }
}

/// Waits until the program has asked for so many more pages, and returns whether it still runs then.
fn runs_until(server: &ReferenceServer, child: &mut Child, pages: u64) -> bool {
    let (wanted, start) = (
        server.attempts(Operation::ListPeople) + pages,
        Instant::now(),
    );
    while server.attempts(Operation::ListPeople) < wanted {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "it hangs");
        std::thread::sleep(Duration::from_micros(300));
    }
    true
}

#[tokio::test]
async fn an_export_killed_at_fifty_random_points_equals_the_undisturbed_one() {
    let server = server_of(PEOPLE).await;
    let folder = Folder::new("export-kills");
    let (mut dice, mut kills, mut exports) = (Dice::new(), 0, 0);
    let context = format!("seed {}", dice.seed);
    let names = ["people.ndjson", "people.csv"];
    for name in names {
        let whole = status(&mut command(
            &server,
            &folder.file(&format!("whole-{name}")),
            &OPTIONS,
        ));
        assert!(whole.success());
    }

    while kills < KILLS {
        let name = names[exports % 2];
        let file = folder.file(name);
        // Again and again, until a run is spared.
        loop {
            let mut child = start(&mut command(&server, &file, &OPTIONS));
            // Anywhere from the start of the program to beyond the last page, and anywhere between two pages.
            let running = runs_until(&server, &mut child, dice.below(24));
            std::thread::sleep(Duration::from_micros(dice.below(3_000)));
            if running && kills < KILLS && child.try_wait().unwrap().is_none() {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
                continue;
            }
            assert!(child.wait().unwrap().success(), "{context}");
            break;
        }
        same(&file, &folder.file(&format!("whole-{name}")), &context);
        std::fs::remove_file(&file).unwrap();
        exports += 1;
    }
    println!("{kills} kills, {exports} exports of {PEOPLE} records, {context}");
    assert!(exports > 1);
    assert_eq!(folder.names(), ["whole-people.csv", "whole-people.ndjson"]);
}

fn same(file: &Path, whole: &Path, context: &str) {
    let [file, whole] = [file, whole].map(|path| std::fs::read_to_string(path).unwrap());
    assert!(
        file == whole,
        "{} bytes of {}, {context}",
        file.len(),
        whole.len()
    );
    // A header makes one more.
    assert!([PEOPLE, PEOPLE + 1].contains(&(file.lines().count() as u64)));
}
