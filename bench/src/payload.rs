//! The bodies of requests and responses: a page of opportunities, an event command and its result.
//!
//! The contract doesn't document the fields of an opportunity. These are the fields of the reference server, plus an
//! instant.

use serde_json::{Value, json};

pub const PAGE_PATH: &str = "/api/crm/v1/opportunities";
pub const COMMAND_PATH: &str = "/calendar/v1/event-commands";

/// The number of items of a page.
pub const ITEMS: usize = 50;

/// The cursor in a page that was requested without a cursor.
pub const NEXT_CURSOR: &str =
    "eyJrIjoiMjAyNi0wMy0xMlQxNjo0NTozMFoiLCJpZCI6Ik9QLTBBMUIyQzNENEU1RiJ9";

const STAGES: [&str; 6] = [
    "new",
    "review_needed",
    "exploring",
    "qualified",
    "solution_shaping",
    "proposal_or_decision",
];

fn record(i: usize) -> String {
    let (stage, version) = (STAGES[i % STAGES.len()], i % 7 + 1);
    let (minor, hour, minute) = (1_250_000 + i * 13_700, i % 24, i % 60);
    let max = minor * 2;
    [
        format!(r#"{{"publicReference":"OP-0A1B2C3D{i:04X}","title":"Retrofit of the northern warehouse, phase {i}","#),
        format!(r#""stage":"{stage}","owner":{{"actorReference":"ACR-0A1B2C3D{i:04X}","displayName":"Ann Example"}},"#),
        format!(r#""organization":{{"publicReference":"ORG-0A1B2C3D{i:04X}","name":"Example Logistics"}},"#),
        format!(r#""personReference":"PER-0A1B2C3D{i:04X}","valueMinMinor":{minor},"valueMaxMinor":{max},"#),
        format!(r#""currency":"EUR","updatedAt":"2026-03-12T{hour:02}:{minute:02}:30.123Z","recordVersion":{version}}}"#),
    ]
    .concat()
}

/// Returns a page up to the value of its cursor.
pub fn page_before_cursor(items: usize) -> String {
    let records: Vec<String> = (0..items).map(record).collect();
    let records = records.join(",");
    format!(
        r#"{{"schemaVersion":"suite-crm-opportunities-page.v2","items":[{records}],"nextCursor":"#
    )
}

/// Returns the sum of the versions of all records of a page. Only a client that decodes the records can compute it.
pub fn versions_of_page() -> u64 {
    (0..ITEMS as u64).map(|i| i % 7 + 1).sum()
}

/// Returns the length of all records of a page. Only a client that keeps the records can compute it.
pub fn bytes_of_page() -> u64 {
    (0..ITEMS).map(|index| record(index).len() as u64).sum()
}

/// Returns the command, about 290 bytes of JSON.
pub fn event() -> Value {
    json!({
        "operation": "create",
        "collectionReference": "COL-0A1B2C3D4E5F",
        "title": "Kick-off of the retrofit",
        "location": "Hall 2",
        "startsAt": "2026-03-02T09:00:00Z",
        "endsAt": "2026-03-02T09:45:00Z",
        "timezone": "Europe/Berlin",
        "allDay": false,
        "attendeeActorReferences": ["ACR-0A1B2C3D4E5F", "ACR-0A1B2C3D4E60"],
        "checkConflicts": true,
    })
}

/// The version in [`COMMAND_RESULT`].
pub const COMMAND_VERSION: u64 = 3;

pub const COMMAND_RESULT: &str = concat!(
    r#"{"schemaVersion":"suite-calendar-command-result.v1","operation":"event.create","outcome":"succeeded","#,
    r#""publicReference":"EVT-0A1B2C3D4E5F","recordVersion":3,"replayed":false}"#,
);

/// Returns a token as long as a signed JWT with a few claims.
pub fn token(number: &str) -> String {
    format!("eyJ.{number}.{}.{}", "c".repeat(420), "s".repeat(342))
}
