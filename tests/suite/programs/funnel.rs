//! `suite funnel`: the content of its picture.

use serde_json::json;

use super::desk::{Desk, server_of};
use crate::peer::{self, Peer, always};
use crate::programs::environment;
use crate::support::assert_says;

#[tokio::test]
async fn the_picture_has_the_window_every_stage_and_all_counts() {
    let server = server_of(1).await;
    let desk = Desk::of(&server);
    let line = "funnel --from 2025-12-01 --to 2026-01-01T00:00:00Z";

    let svg = desk.run(line).with(0, &[]).out;
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    let texts = [
        "Flow from 1 December 2025 to 1 January 2026",
        "Proposal or decision",
        "Closed not proceeding",
        "Won",
        "By reason of closing",
    ];
    assert_says(&svg, &texts);

    let words = ["funnel.svg: 9 stages"];
    desk.run(&format!("{line} --out funnel.svg"))
        .with(0, &words);
    assert_eq!(desk.read("funnel.svg"), svg);

    for (window, words) in [
        ("--from yesterday", "neither a day nor a time"),
        (
            "--from 2026-02-01 --to 2026-01-01",
            "from: must not be after to",
        ),
    ] {
        let code = if window.contains("yesterday") { 2 } else { 1 };
        desk.run(&format!("funnel {window}")).with(code, &[words]);
    }
}

#[test]
fn a_missing_or_invalid_value_is_marked() {
    let stages = json!([
        {"stage": "a_stage_whose_name_nobody_expected_to_be_so_long", "openCount": i64::MAX, "enteredInWindow": -3},
        {"openCount": 0, "exitedInWindow": 1, "surprise": true},
        {"stage": "<&>"},
    ]);
    let reasons = vec![json!({}); 7];
    let shown = [
        "A stage whose name nobody e…",
        "9,223,372,036,854,775,807",
        "−3",
        "1,234,567",
        "and 2 more",
        "(no name)",
        "&lt;&amp;&gt;",
        "not reported",
    ];
    for (stages, outcomes, words) in [
        (json!([]), json!({}), &["No stages were reported."][..]),
        (
            stages,
            json!({"won": 1_234_567, "byCloseReason": reasons}),
            &shown,
        ),
    ] {
        let funnel = json!({"schemaVersion": "suite-crm-funnel.v1", "window": {}, "stages": stages,
            "outcomes": outcomes, "provenance": {}});
        let peer = Peer::start(always(peer::json(200, &funnel)));
        let desk = Desk::new(environment(&peer));
        let svg = desk.run("funnel --out -").with(0, &[]).out;
        assert_says(&svg, words);
        assert_says(
            &svg,
            &["a window that was not reported", "Opportunities as of now"],
        );
    }
}
