//! Text of the suite goes to a terminal, and into a picture, as lines that are nothing but text.

use serde_json::{Value, json};

use super::run;
use crate::peer::{self, Peer, Step, always};
use crate::programs::{Folder, environment};
use crate::support::assert_says;

/// What no person is called: a title for the window, colours, the other direction, nothing at all, a line of its own.
const NAME: &str = "Ann\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\u{feff}\u{ad}\u{2028}\r\nBob";

/// What an example puts out, and what it says to people.
fn said(line: &str, reply: Step) -> (String, String) {
    let (peer, folder) = (
        Peer::start(always(reply)),
        Folder::new(&format!("terminal-{}", line.len())),
    );
    let (_, told, out) = run(environment(&peer), &folder, line);
    for line in out.lines().chain(told.lines()) {
        let steers =
            |letter: char| letter.is_control() || NAME.contains(letter) && !letter.is_ascii();
        assert!(
            !line.contains(steers) && !line.starts_with("Bob"),
            "{line:?}"
        );
    }
    (out, told)
}

#[test]
fn fault_84_names_do_not_steer_a_terminal() {
    let long = NAME.repeat(1_000);
    let page = json!({
        "schemaVersion": NAME, "nextCursor": null, "items": [{"displayName": NAME, "a": 1, NAME: 2, (long.clone()): 3}],
        "organization": {"displayName": NAME}, "installation": {"workspace": long},
    });
    let reply = || peer::json(200, &page);

    let (tour, ended) = said("tour", reply());
    assert!(tour.contains("Ann ]0;x 31m Bob"), "{tour}");
    assert!(ended.contains("The tour ended early: "), "{ended}");

    let (_, told) = said("export people --columns a --out a.csv", reply());
    assert_says(&told, &["left out: Ann ]0"]);
    for line in tour.lines().chain(told.lines()) {
        assert!(line.chars().count() < 1_100, "{line}");
    }

    let (lines, _) = said("export people --out -", reply());
    let record: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!(record, page["items"][0], "it is the same JSON");

    let refused = json!({"error": {"code": NAME, "message": NAME, "requestId": NAME}});
    let refused = peer::json(403, &refused).header("x-request-id", "r\u{9b}31m");
    let (_, told) = said("outbox service a.db 1", refused);
    assert_says(&told, &["outbox: calendar.submitEventCommand: 403"]);
}

#[test]
fn fault_84_names_do_not_break_a_picture() {
    let funnel = json!({"schemaVersion": "suite-crm-funnel.v1", "window": {}, "provenance": {},
        "stages": [{"stage": NAME}], "outcomes": {"byCloseReason": [{"reasonCode": NAME, "count": 1}]}});
    let (svg, _) = said("funnel --out -", peer::json(200, &funnel));
    assert_eq!(svg.matches("Ann ]0;x").count(), 2, "{svg}");
}
