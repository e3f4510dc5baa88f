//! The `funnel` example, as a program.

use std::process::Command;

use sdk_reference_server::ReferenceServer;
use serde_json::{Value, json};

use super::server_of;
use crate::peer::{self, Peer, always};
use crate::programs::{Folder, environment, output, program, told};
use crate::support::assert_says;

/// What it draws, as the texts in the picture.
fn texts(svg: &str) -> Vec<&str> {
    let lines = svg.lines();
    lines.filter(|line| !line.starts_with('<')).collect()
}

fn drawn(server: &ReferenceServer, options: &[&str]) -> (Option<i32>, String, String) {
    let mut funnel = Command::new(program("funnel"));
    let output = output(funnel.args(options).envs(server.environment()));
    let svg = String::from_utf8(output.stdout.clone()).unwrap();
    (output.status.code(), svg, told(&output))
}

/// A picture of a funnel that the reference server would never report.
fn drawn_of(funnel: &Value) -> String {
    let peer = Peer::start(always(peer::json(200, funnel)));
    let mut program = Command::new(program("funnel"));
    let output = output(program.args(["--out", "-"]).envs(environment(&peer)));
    assert!(output.status.success(), "{}", told(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn the_picture_has_the_window_every_stage_and_its_counts() {
    let server = server_of(1).await;
    let window = ["--from", "2025-12-01", "--to", "2026-01-01T00:00:00Z"];

    let (code, svg, said) = drawn(&server, &[&window[..], &["--out", "-"]].concat());

    assert_eq!(code, Some(0), "{said}");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    let texts = texts(&svg);
    let has = |text: &str| texts.iter().any(|line| line.contains(text));
    assert!(
        has("Flow from 1 December 2025 to 1 January 2026"),
        "{texts:?}"
    );
    for text in [
        "Proposal or decision",
        "Closed not proceeding",
        "Won",
        "By reason of closing",
    ] {
        assert!(has(text), "{text}: {texts:?}");
    }

    let folder = Folder::new("funnel");
    let file = folder.file("funnel.svg");
    let out = ["--out", file.to_str().unwrap()];
    let (_, _, said) = drawn(&server, &[&window[..], &out].concat());
    assert_says(&said, &["funnel.svg: 9 stages"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), svg);
}

#[tokio::test]
async fn a_window_that_makes_no_sense_is_explained() {
    let server = server_of(1).await;
    let (code, _, said) = drawn(&server, &["--from", "yesterday"]);
    assert_eq!(code, Some(2));
    assert_says(&said, &["usage: funnel"]);
    assert!(server.requests().is_empty());
    let turned = ["--from", "2026-02-01", "--to", "2026-01-01"];
    let (code, _, said) = drawn(&server, &turned);
    assert_eq!(code, Some(1));
    assert_says(&said, &["from: must not be after to"]);
}

#[tokio::test]
async fn what_is_not_reported_is_drawn_as_such() {
    let least = json!({"schemaVersion": "suite-crm-funnel.v1", "window": {}, "stages": [],
        "outcomes": {}, "provenance": {}});
    let svg = drawn_of(&least);
    for text in [
        "No stages were reported.",
        "a window that was not reported",
        "Opportunities as of now",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }

    let mut odd = least;
    odd["stages"] = json!([
        {"stage": "a_stage_whose_name_nobody_expected_to_be_so_long", "openCount": i64::MAX, "enteredInWindow": -3},
        {"openCount": 0, "exitedInWindow": 1, "surprise": true},
        {"stage": "<&>"},
    ]);
    odd["outcomes"] = json!({"won": 1_234_567, "byCloseReason": vec![json!({}); 7]});
    let svg = drawn_of(&odd);
    for text in [
        "9,223,372,036,854,775,807",
        "(no name)",
        "−3",
        "&lt;&amp;&gt;",
        "1,234,567",
        "and 2 more",
    ] {
        assert!(
            texts(&svg).iter().any(|line| line.contains(text)),
            "{text}: {svg}"
        );
    }
    assert!(svg.matches("not reported").count() >= 8);
}
