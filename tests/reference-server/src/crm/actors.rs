//! Actors and their workload.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    let (mut tasks, mut opportunities) = (HashMap::new(), HashMap::new());
    for (_, task) in store.tasks.rows(0).filter(|(_, task)| !task.is_final()) {
        *tasks.entry(task.owner).or_default() += 1;
    }
    for (_, row) in store.opportunities.rows(0).filter(|(_, row)| row.is_open()) {
        *opportunities.entry(row.owner).or_default() += 1;
    }
    let of = |counts: &HashMap<Option<u64>, u64>, actor| counts.get(&Some(actor)).copied();
    let items: Vec<Value> = store
        .actors
        .rows(0)
        .map(|(index, actor)| {
            json!({
                "publicReference": store.actors.reference(index),
                "displayName": actor.display_name,
                "workload": {
                    "openTasks": of(&tasks, index).unwrap_or(0),
                    "openOpportunities": of(&opportunities, index).unwrap_or(0),
                },
            })
        })
        .collect();
    Ok(Reply::ok(&json!({"items": items})))
}
