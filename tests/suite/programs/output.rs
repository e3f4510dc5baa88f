//! What a program puts out arrives, or the program says that it did not.

use std::fs::File;
use std::process::Stdio;

use super::{Desk, Ended};

/// One program for each way of writing: a list page by page, one document.
const LINES: [&str; 2] = ["export people --out -", "funnel --out -"];

#[test]
fn fault_84_lost_output_is_an_error_unless_its_reader_has_seen_enough() {
    let desk = Desk::new(Vec::new());
    // A pipe whose reader has left.
    let closed = || std::io::pipe().unwrap().1;
    let run = |line, out: Stdio, err: Stdio| -> Ended {
        let mut command = desk.command(line);
        command.stdout(out).stderr(err).output().unwrap().into()
    };
    for line in LINES {
        run(line, closed().into(), Stdio::piped()).with(0, &[]);
        if cfg!(target_os = "linux") {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let why = "standard output: No space left on device";
            run(line, full.into(), Stdio::piped()).with(1, &[why]);
        }
    }
    // Nobody has to hear what is said to people.
    for line in [
        "export people --out a.csv",
        "export people --out a.csv --restart",
        "funnel --out a.svg",
    ] {
        run(line, closed().into(), closed().into()).with(0, &[]);
    }
    assert_eq!(desk.folder.names(), ["a.csv", "a.svg"]);
}
