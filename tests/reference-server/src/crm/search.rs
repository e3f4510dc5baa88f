//! Search across records: bounded, without a cursor.

use serde_json::{Value, json};

use super::listing::search_text;
use super::needle::Needle;
use super::{opportunities, organizations, people};
use crate::call::{Answer, Call};
use crate::message::Reply;
use crate::refusal::Refusal;

const LIMIT: (usize, usize) = (1, 50);
const DEFAULT_LIMIT: usize = 20;

pub(crate) fn search(call: &Call<'_>) -> Answer {
    let text = search_text(call)?.ok_or_else(|| Refusal::invalid("q: missing"))?;
    let limit = call.query.integer("limit", LIMIT, DEFAULT_LIMIT)?;
    let needle = Needle::new(text);
    let store = call.suite.store();
    let people = store
        .people
        .rows(0)
        .filter(|(index, row)| people::matches(&needle, *index, row))
        .map(|(index, row)| {
            hit(
                "person",
                &store.people.reference(index),
                &row.display_name(),
                &row.job,
            )
        });
    let organizations = store
        .organizations
        .rows(0)
        .filter(|(_, row)| organizations::matches(Some(&needle), row))
        .map(|(index, row)| {
            hit(
                "organization",
                &store.organizations.reference(index),
                &row.name,
                &row.city,
            )
        });
    let opportunities = store
        .opportunities
        .rows(0)
        .filter(|(_, row)| opportunities::matches(&store, Some(&needle), row))
        .map(|(index, row)| {
            hit(
                "opportunity",
                &store.opportunities.reference(index),
                &row.title,
                row.stage,
            )
        });
    let tasks = store
        .tasks
        .rows(0)
        .filter(|(_, row)| needle.is_in(&row.title))
        .map(|(index, row)| {
            hit(
                "task",
                &store.tasks.reference(index),
                &row.title,
                &row.status,
            )
        });
    // One of each kind in turn, so that no kind crowds the others out.
    let items = interleaved(vec![
        Box::new(people),
        Box::new(organizations),
        Box::new(opportunities),
        Box::new(tasks),
    ]);
    let items: Vec<Value> = items.take(limit).collect();
    Ok(Reply::ok(&json!({"items": items})))
}

fn hit(kind: &str, reference: &str, title: &str, summary: &str) -> Value {
    json!({"type": kind, "publicReference": reference, "title": title, "summary": summary})
}

type Hits<'s> = Box<dyn Iterator<Item = Value> + 's>;

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
