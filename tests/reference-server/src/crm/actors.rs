//! Actors and their workload.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::message::Reply;

pub(crate) fn list(call: &Call<'_>) -> Answer {
    let store = call.suite.store();
    let mut tasks: HashMap<u64, u64> = HashMap::new();
    for (_, task) in store.tasks.rows(0).filter(|(_, task)| !task.is_final()) {
        if let Some(owner) = task.owner {
            *tasks.entry(owner).or_default() += 1;
        }
    }
    let mut opportunities: HashMap<u64, u64> = HashMap::new();
    for (_, row) in store.opportunities.rows(0).filter(|(_, row)| row.is_open()) {
        if let Some(owner) = row.owner {
            *opportunities.entry(owner).or_default() += 1;
        }
    }
    let of = |counts: &HashMap<u64, u64>, actor| counts.get(&actor).copied().unwrap_or_default();
    let items: Vec<Value> = store
        .actors
        .rows(0)
        .map(|(index, actor)| {
            json!({
                "publicReference": store.actors.reference(index),
                "displayName": actor.display_name,
                "workload": {
                    "openTasks": of(&tasks, index),
                    "openOpportunities": of(&opportunities, index),
                },
            })
        })
        .collect();
    Ok(Reply::ok(&json!({"items": items})))
}
