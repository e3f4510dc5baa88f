//! Strings from the service: CSV that a spreadsheet may open, and messages that can't control a terminal.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::desk::{Desk, Ended};
use crate::peer::{self, Peer, Step, always};
use crate::programs::environment;
use crate::support::assert_says;

/// Runs the program against a peer that always sends this response.
fn run(line: &str, response: Step) -> Ended {
    let peer = Peer::start(always(response));
    Desk::new(environment(&peer)).run(line)
}

/// Returns the rows that an export of these people writes.
fn export(format: &str, people: &Value) -> String {
    let page = peer::json(200, &json!({"items": people, "nextCursor": null}));
    let ended = run(&format!("export people --format {format}"), page);
    ended.with(0, &[]).out
}

/// Returns the cells of the header and of the rows, as CSV.
fn cells(people: &Value) -> Vec<Vec<String>> {
    let table = export("csv", people);
    let mut reader = csv::ReaderBuilder::new();
    let mut rows = reader.has_headers(false).from_reader(table.as_bytes());
    rows.deserialize().map(Result::unwrap).collect()
}

#[test]
fn fault_84_a_spreadsheet_evaluates_nothing_in_an_export() {
    let formulas = "=1+1|+1|-1+1|@SUM(A1)|\tx|\rx|\nx| =1|\u{a0}=1|\"=1|'=1|“=1|\"\"\" =1|\u{200b}=1|\u{1b}=1|＝1|－1|sep=;";
    let people = formulas.split('|').map(|text| json!({"name": text}));
    let rows = cells(&people.collect());
    let defused = format!("'{}", formulas.replace('|', "|'"));
    assert_eq!(rows[1..].concat().join("|"), defused);

    // If a spreadsheet separates cells by semicolons or tabs, cells begin within this string, even in JSON and in
    // names.
    let person = json!({"=1": "a;=1;\t-1\r\n @x", "b": {"x": "1;=2"}, "c": ["=1"], "d": "a=1 -2; x@y", "e": "-", "f": ""});
    let rows = cells(&json!([person]));
    assert_eq!(rows[0][0], "'=1");
    let defused = "a;'=1;\t'-1\r\n' @x|{\"x\":\"1;'=2\"}|[\"=1\"]|a=1 -2; x@y|'-|";
    assert_eq!(rows[1].join("|"), defused);

    // Numbers stay numbers, and JSON is unchanged.
    let person = json!({"a": -5, "b": -0.25, "c": 12, "d": true, "e": null, "f": "=1"});
    let lines = export("jsonl", &json!([person]));
    assert_eq!(lines, format!("{person}\n"));
    let rows = cells(&json!([person]));
    assert_eq!(rows[1].join("|"), "-5|-0.25|12|true||'=1");
}

#[test]
fn fault_84_ten_times_the_fields_take_about_ten_times_as_long() {
    let time = |fields: u32| -> Duration {
        let fields = (0..fields).map(|at| (format!("field{at:06}"), at.into()));
        let (person, began) = (Value::Object(fields.collect()), Instant::now());
        export("csv", &json!([person]));
        began.elapsed()
    };
    // This once took a hundred times as long. A busy machine can delay one export, but not the larger one every time.
    assert!((0..5).any(|_| time(30_000) < time(3_000) * 20));
}

/// A hostile name: it sets a window title, changes colors and direction, hides characters, and begins a new line.
const NAME: &str = "Ann\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\u{feff}\u{ad}\u{2028}\r\nBob";

#[test]
fn fault_84_names_cannot_control_a_terminal_or_break_a_picture() {
    let messages = |line: &str, response| {
        let ended = run(line, response);
        for line in ended.messages.lines().chain(ended.out.lines()) {
            let steers =
                |letter: char| letter.is_control() || NAME.contains(letter) && !letter.is_ascii();
            let is_forged = line.contains(steers) || line.starts_with("Bob");
            assert!(!is_forged, "{line:?}");
            assert!(line.chars().count() < 1_100, "{line:?}");
        }
        ended
    };
    let person = json!({"a": 1, NAME: 2, (NAME.repeat(1_000)): 3});
    let page = peer::json(200, &json!({"nextCursor": null, "items": [person]}));
    let export = messages("export people --columns a --out a.csv", page);
    assert_says(&export.messages, &["without a column: Ann ]0"]);

    let rejected = json!({"error": {"code": NAME, "message": NAME, "requestId": NAME}});
    let rejected = peer::json(403, &rejected).header("x-request-id", "r\u{9b}31m");
    let rejected = messages("export people", rejected);
    assert_says(&rejected.messages, &["crm.listPeople: 403"]);

    let funnel = json!({"schemaVersion": "suite-crm-funnel.v1", "window": {}, "provenance": {},
        "stages": [{"stage": NAME}], "outcomes": {"byCloseReason": [{"reasonCode": NAME, "count": 1}]}});
    let svg = messages("funnel", peer::json(200, &funnel)).out;
    assert_eq!(svg.matches("Ann ]0;x").count(), 2, "{svg}");
}
