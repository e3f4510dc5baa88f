//! What goes over the wire: a page of opportunities, an event command and its result.
//!
//! The contract does not show the members of an opportunity. These are those of the reference server, plus two instants.

use std::fmt::Write as _;

/// The schema of a page.
pub const PAGE_SCHEMA: &str = "suite-crm-opportunities-page.v2";

/// Where lists are.
pub const PAGE_PATH: &str = "/api/crm/v1/opportunities";

/// Where event commands go.
pub const COMMAND_PATH: &str = "/calendar/v1/event-commands";

/// The cursor of a page that was asked for without one.
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

/// A page up to the value of its cursor.
pub fn page_before_cursor(items: usize) -> String {
    let mut page = format!(r#"{{"schemaVersion":"{PAGE_SCHEMA}","items":["#);
    for index in 0..items {
        if index > 0 {
            page.push(',');
        }
        let stage = STAGES[index % STAGES.len()];
        let minor = 1_250_000 + index * 13_700;
        let (hour, minute) = (index % 24, index % 60);
        write!(
            page,
            concat!(
                r#"{{"publicReference":"OP-0A1B2C3D{i:04X}","title":"Retrofit of the northern warehouse, phase {i}","#,
                r#""stage":"{stage}","owner":{{"actorReference":"ACR-0A1B2C3D{i:04X}","displayName":"Ann Example"}},"#,
                r#""organization":{{"publicReference":"ORG-0A1B2C3D{i:04X}","name":"Example Logistics"}},"#,
                r#""personReference":"PER-0A1B2C3D{i:04X}","valueMinMinor":{minor},"valueMaxMinor":{max},"#,
                r#""currency":"EUR","updatedAt":"2026-03-12T{h:02}:{m:02}:30.123Z","recordVersion":{version}}}"#,
            ),
            i = index,
            stage = stage,
            minor = minor,
            max = minor * 2,
            h = hour,
            m = minute,
            version = record_version(index),
        )
        .expect("a string takes everything");
    }
    page.push_str(r#"],"nextCursor":"#);
    page
}

fn record_version(index: usize) -> usize {
    index % 7 + 1
}

/// The sum of the versions of all records of a page: whoever has it has decoded them.
pub fn versions_of_page(items: usize) -> u64 {
    (0..items).map(|index| record_version(index) as u64).sum()
}

/// The text of all records of a page: whoever has this many bytes has kept them.
pub fn bytes_of_records(items: usize) -> u64 {
    let frame = page_before_cursor(0).len() + items.saturating_sub(1);
    (page_before_cursor(items).len() - frame) as u64
}

/// The version in [`COMMAND_RESULT`].
pub const COMMAND_VERSION: u64 = 3;

/// What a command is answered with.
pub const COMMAND_RESULT: &str = concat!(
    r#"{"schemaVersion":"suite-calendar-command-result.v1","operation":"event.create","outcome":"succeeded","#,
    r#""publicReference":"EVT-0A1B2C3D4E5F","recordVersion":3,"replayed":false}"#,
);

/// The members of the command, of about 290 bytes as JSON.
pub mod command {
    pub const COLLECTION: &str = "COL-0A1B2C3D4E5F";
    pub const TITLE: &str = "Kick-off of the retrofit";
    pub const LOCATION: &str = "Hall 2";
    pub const STARTS_AT: &str = "2026-03-02T09:00:00Z";
    pub const ENDS_AT: &str = "2026-03-02T09:45:00Z";
    pub const TIMEZONE: &str = "Europe/Berlin";
    pub const ATTENDEES: [&str; 2] = ["ACR-0A1B2C3D4E5F", "ACR-0A1B2C3D4E60"];
}
