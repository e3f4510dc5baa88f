//! Search across records. The result is bounded and has no cursor.

use serde_json::{Value, json};

use super::listing::Needle;
use super::{opportunities, organizations, people};
use crate::call::{Answer, Call};
use crate::data::{Record, Table, Text};
use crate::message::Reply;

pub(crate) fn query(call: &Call<'_>) -> Answer {
    let needle = Needle::new(call.query("q"));
    let store = call.suite.store();
    let people = hits(
        &store.people,
        |index, row| people::matches(&needle, index, row),
        |row| (row.display_name().into(), row.job),
    );
    let organizations = hits(
        &store.organizations,
        |_, row| organizations::matches(&needle, row),
        |row| (row.name, row.city),
    );
    let opportunities = hits(
        &store.opportunities,
        |_, row| opportunities::matches(&store, &needle, row),
        |row| (row.title, row.stage.into()),
    );
    let tasks = hits(
        &store.tasks,
        |_, row| needle.is_in(&row.title),
        |row| (row.title, row.status),
    );
    // Results alternate between the kinds, so that no kind fills the whole list.
    let items = interleaved(vec![people, organizations, opportunities, tasks]);
    let items: Vec<Value> = items.take(call.limit()).collect();
    Ok(Reply::ok(&json!({"items": items})))
}

type Hits<'s> = Box<dyn Iterator<Item = Value> + 's>;

/// Returns the matching rows of a table, each with a title and a summary.
fn hits<'s, R: Record>(
    table: &'s Table<R>,
    matches: impl Fn(u64, &R) -> bool + 's,
    words: impl Fn(R) -> (Text, Text) + 's,
) -> Hits<'s> {
    let found = table
        .rows(0)
        .filter(move |(index, row)| matches(*index, row));
    Box::new(found.map(move |(index, row)| {
        let (title, summary) = words(row);
        let reference = table.reference(index);
        json!({"type": R::NOUN, "publicReference": reference, "title": title, "summary": summary})
    }))
}

fn interleaved(mut sources: Vec<Hits<'_>>) -> impl Iterator<Item = Value> {
    let mut turn = 0;
    std::iter::from_fn(move || {
        while !sources.is_empty() {
            turn %= sources.len();
            if let Some(hit) = sources[turn].next() {
                turn += 1;
                return Some(hit);
            }
            drop(sources.remove(turn));
        }
        None
    })
}
