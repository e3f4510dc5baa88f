//! The program's results arrive, or it reports that they didn't.

use std::fs::File;
use std::process::Stdio;

use super::desk::{Desk, Ended, server_of};

#[tokio::test]
async fn fault_84_lost_output_is_an_error_unless_the_reader_closed_the_pipe() {
    let server = server_of(100).await;
    let desk = Desk::of(&server);
    // A pipe whose reader has closed it.
    let closed = || std::io::pipe().unwrap().1;
    let run = |line, out: Stdio, err: Stdio| -> Ended {
        let mut command = desk.command(line);
        command.stdout(out).stderr(err).output().unwrap().into()
    };
    // Output page by page, and output of one document.
    for line in ["export people", "export people --format csv", "funnel"] {
        run(line, closed().into(), Stdio::piped()).with(0, &[]);
        if cfg!(target_os = "linux") {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let why = "standard output: No space left on device";
            run(line, full.into(), Stdio::piped()).with(1, &[why]);
        }
    }
    // Messages without a reader are dropped.
    for line in ["export people --out a.csv", "funnel --out a.svg"] {
        run(line, closed().into(), closed().into()).with(0, &[]);
    }
    assert_eq!(desk.folder.names(), ["a.csv", "a.svg"]);
}
