//! Text of the suite: CSV that a spreadsheet may open, and lines for a terminal that are nothing but text.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Desk, Ended};
use crate::peer::{self, Peer, Step, always};
use crate::programs::environment;
use crate::support::assert_says;

/// Runs an example against a peer that always replies like this.
fn run(line: &str, reply: Step) -> (Desk, Ended) {
    let peer = Peer::start(always(reply));
    let desk = Desk::new(environment(&peer));
    let ended = desk.run(line);
    (desk, ended)
}

/// The file of an export of these people.
fn export(name: &str, people: &Value) -> String {
    let page = peer::json(200, &json!({"items": people, "nextCursor": null}));
    let (desk, ended) = run(&format!("export people --out {name}"), page);
    ended.with(0, &[]);
    fs::read_to_string(desk.folder.file(name)).unwrap()
}

/// The cells of the header and of the rows.
fn cells(people: &Value) -> Vec<Vec<String>> {
    let table = export("a.csv", people);
    let mut reader = csv::ReaderBuilder::new();
    let mut rows = reader.has_headers(false).from_reader(table.as_bytes());
    rows.deserialize().map(Result::unwrap).collect()
}

#[test]
fn fault_84_a_spreadsheet_computes_nothing_of_an_export() {
    let formulas = "=1+1|+1|-1+1|@SUM(A1)|\tx|\rx|\nx| =1|\u{a0}=1|\"=1|'=1|“=1|\"\"\" =1|\u{200b}=1|\u{1b}=1|＝1|－1|sep=;";
    let people = formulas.split('|').map(|text| json!({"name": text}));
    let rows = cells(&people.collect());
    let defused = format!("'{}", formulas.replace('|', "|'"));
    assert_eq!(rows[1..].concat().join("|"), defused);

    // Where a spreadsheet is set to semicolons or tabs, cells begin within this text. In JSON and in names, too.
    let person = json!({"=1": "a;=1;\t-1\r\n @x", "b": {"x": "1;=2"}, "c": ["=1"], "d": "a=1 -2; x@y", "e": "-", "f": ""});
    let rows = cells(&json!([person]));
    assert_eq!(rows[0][0], "'=1");
    let defused = "a;'=1;\t'-1\r\n' @x|{\"x\":\"1;'=2\"}|[\"=1\"]|a=1 -2; x@y|'-|";
    assert_eq!(rows[1].join("|"), defused);

    // Numbers stay numbers, and JSON stays as it is.
    let person = json!({"a": -5, "b": -0.25, "c": 12, "d": true, "e": null, "f": "=1"});
    let lines = export("a.ndjson", &json!([person]));
    assert_eq!(lines, format!("{person}\n"));
    let rows = cells(&json!([person]));
    assert_eq!(rows[1].join("|"), "-5|-0.25|12|true||'=1");
}

#[test]
fn fault_84_ten_times_the_members_take_about_ten_times_as_long() {
    let time = |members: u32| -> Duration {
        let members = (0..members).map(|at| (format!("member{at:06}"), at.into()));
        let (person, began) = (Value::Object(members.collect()), Instant::now());
        export("a.csv", &json!([person]));
        began.elapsed()
    };
    // It was a hundred times. A busy machine may hold one export up, but not the larger one each time.
    assert!((0..5).any(|_| time(30_000) < time(3_000) * 20));
}

/// What no person is called: a title for the window, colours, the other direction, nothing at all, a line of its own.
const NAME: &str = "Ann\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}\u{feff}\u{ad}\u{2028}\r\nBob";

/// What an example puts out and says, none of which steers a terminal.
fn lines(line: &str, reply: Step) -> Ended {
    let (_, ended) = run(line, reply);
    for line in ended.out.lines().chain(ended.said.lines()) {
        let steers =
            |letter: char| letter.is_control() || NAME.contains(letter) && !letter.is_ascii();
        assert!(
            !line.contains(steers) && !line.starts_with("Bob"),
            "{line:?}"
        );
    }
    ended
}

#[test]
fn fault_84_names_steer_no_terminal_and_break_no_picture() {
    let long = NAME.repeat(1_000);
    let page = json!({
        "schemaVersion": NAME, "nextCursor": null, "items": [{"displayName": NAME, "a": 1, NAME: 2, (long.clone()): 3}],
        "organization": {"displayName": NAME}, "installation": {"workspace": long},
    });
    let reply = || peer::json(200, &page);

    let export = lines("export people --columns a --out a.csv", reply());
    assert_says(&export.said, &["left out: Ann ]0"]);
    assert!(export.said.lines().all(|line| line.chars().count() < 1_100));

    let export = lines("export people --out -", reply());
    let record: Value = serde_json::from_str(export.out.trim()).unwrap();
    assert_eq!(record, page["items"][0], "it is the same JSON");

    let refused = json!({"error": {"code": NAME, "message": NAME, "requestId": NAME}});
    let refused = peer::json(403, &refused).header("x-request-id", "r\u{9b}31m");
    let rejected = lines("export people --out -", refused);
    assert_says(&rejected.said, &["crm.listPeople: 403"]);

    let funnel = json!({"schemaVersion": "suite-crm-funnel.v1", "window": {}, "provenance": {},
        "stages": [{"stage": NAME}], "outcomes": {"byCloseReason": [{"reasonCode": NAME, "count": 1}]}});
    let svg = lines("funnel --out -", peer::json(200, &funnel)).out;
    assert_eq!(svg.matches("Ann ]0;x").count(), 2, "{svg}");
}
