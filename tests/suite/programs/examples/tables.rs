//! CSV that a spreadsheet may open, and that costs no more than what is in it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::run;
use crate::peer::{self, Peer, always};
use crate::programs::{Folder, environment};

/// Exports these people into a file of that name; what is in it, and how long that took.
fn export(name: &str, items: &[Value]) -> (String, Duration) {
    let folder = Folder::new(&format!("tables-{name}"));
    let page = json!({"items": items, "nextCursor": null});
    let (peer, began) = (Peer::start(always(peer::json(200, &page))), Instant::now());
    let line = format!("export people --out {name}");
    let (code, said, _) = run(environment(&peer), &folder, &line);
    assert_eq!(code, Some(0), "{said}");
    (
        std::fs::read_to_string(folder.file(name)).unwrap(),
        began.elapsed(),
    )
}

/// The header and the rows.
fn cells(table: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new();
    let mut rows = reader.has_headers(false).from_reader(table.as_bytes());
    rows.deserialize().map(Result::unwrap).collect()
}

#[test]
fn fault_84_a_spreadsheet_computes_nothing_of_an_export() {
    let formulas = "=1+1|+1|-1+1|@SUM(A1)|\tx|\rx|\nx| =1|\u{a0}=1|\"=1|'=1|“=1|\"\"\" =1|\u{200b}=1|\u{1b}=1|＝1|－1|sep=;";
    let people: Vec<_> = formulas
        .split('|')
        .map(|text| json!({"name": text}))
        .collect();
    let rows = cells(&export("formulas.csv", &people).0);
    assert_eq!(
        rows[1..].concat().join("|"),
        format!("'{}", formulas.replace('|', "|'"))
    );

    // Where a spreadsheet is set to semicolons or tabs, cells begin within this text. In JSON and in names, too.
    let person = json!({"=1": "a;=1;\t-1\r\n @x", "b": {"x": "1;=2"}, "c": ["=1"], "d": "a=1 -2; x@y", "e": "-", "f": ""});
    let rows = cells(&export("pieces.csv", &[person]).0);
    assert_eq!(rows[0][0], "'=1");
    assert_eq!(
        rows[1].join("|"),
        "a;'=1;\t'-1\r\n' @x|{\"x\":\"1;'=2\"}|[\"=1\"]|a=1 -2; x@y|'-|"
    );
}

#[test]
fn fault_84_numbers_stay_numbers_and_json_stays_as_it_is() {
    let person = [json!({"a": -5, "b": -0.25, "c": 12, "d": true, "e": null, "f": "=1"})];
    assert_eq!(
        export("numbers.csv", &person).0,
        "a,b,c,d,e,f\n-5,-0.25,12,true,,'=1\n"
    );
    assert_eq!(
        export("numbers.ndjson", &person).0,
        format!("{}\n", person[0])
    );
}

#[test]
fn fault_84_ten_times_the_members_take_about_ten_times_as_long() {
    let is_linear = || {
        let [few, many] = [3_000, 30_000].map(|members| {
            let members = (0..members).map(|at| (format!("member{at:06}"), at.into()));
            export("members.csv", &[Value::Object(members.collect())]).1
        });
        println!("{few:?}, then {many:?}");
        // With what the program takes to start, it is less than ten times; it was a hundred times.
        many < few * 20
    };
    // A busy machine may hold one export up, but not the larger one each time.
    assert!((0..5).any(|_| is_linear()));
}
