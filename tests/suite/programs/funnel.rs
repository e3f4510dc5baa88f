//! The `funnel` example, as a program.

use std::process::Command;

use serde_json::json;

use super::server_of;
use crate::peer::{self, Peer, always};
use crate::programs::{Folder, environment, output, program, told};
use crate::support::assert_says;

/// Runs the example: its exit status, its picture, and its messages.
fn drawn(environment: Vec<(String, String)>, options: &[&str]) -> (Option<i32>, String, String) {
    let mut funnel = Command::new(program("funnel"));
    let output = output(funnel.args(options).envs(environment));
    let svg = String::from_utf8(output.stdout.clone()).unwrap();
    (output.status.code(), svg, told(&output))
}

#[tokio::test]
async fn the_picture_has_the_window_every_stage_and_its_counts() {
    let server = server_of(1).await;
    let folder = Folder::new("funnel");
    let file = folder.file("funnel.svg");
    let window = ["--from", "2025-12-01", "--to", "2026-01-01T00:00:00Z"];
    let drawn_to = |out: &str| {
        let options = [&window[..], &["--out", out]].concat();
        drawn(server.environment(), &options)
    };

    let (code, svg, said) = drawn_to("-");
    assert_eq!(code, Some(0), "{said}");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    let texts = [
        "Flow from 1 December 2025 to 1 January 2026",
        "Proposal or decision",
        "Closed not proceeding",
        "Won",
        "By reason of closing",
    ];
    assert_says(&svg, &texts);

    let (_, _, said) = drawn_to(file.to_str().unwrap());
    assert_says(&said, &["funnel.svg: 9 stages"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), svg);

    for (window, status, words) in [
        (&["--from", "yesterday"][..], 2, "usage: funnel"),
        (
            &["--from", "2026-02-01", "--to", "2026-01-01"],
            1,
            "from: must not be after to",
        ),
    ] {
        let (code, _, said) = drawn(server.environment(), window);
        assert_eq!(code, Some(status), "{said}");
        assert_says(&said, &[words]);
    }
}

#[test]
fn a_missing_or_odd_value_is_drawn_as_such() {
    let stages = json!([
        {"stage": "a_stage_whose_name_nobody_expected_to_be_so_long", "openCount": i64::MAX, "enteredInWindow": -3},
        {"openCount": 0, "exitedInWindow": 1, "surprise": true},
        {"stage": "<&>"},
    ]);
    let reasons = vec![json!({}); 7];
    let counts = ["9,223,372,036,854,775,807", "−3", "1,234,567", "and 2 more"];
    for (stages, outcomes, words) in [
        (json!([]), json!({}), &["No stages were reported."][..]),
        (
            stages,
            json!({"won": 1_234_567, "byCloseReason": reasons}),
            &counts,
        ),
    ] {
        let funnel = json!({"schemaVersion": "suite-crm-funnel.v1", "window": {}, "stages": stages,
            "outcomes": outcomes, "provenance": {}});
        let peer = Peer::start(always(peer::json(200, &funnel)));
        let (code, svg, said) = drawn(environment(&peer), &["--out", "-"]);
        assert_eq!(code, Some(0), "{said}");
        assert_says(&svg, words);
        assert_says(
            &svg,
            &["a window that was not reported", "Opportunities as of now"],
        );
    }
}
