//! The presentation descriptor, filtered by the scopes of the caller's token. The descriptor grants no rights.

use serde_json::{Value, json};

use super::commands::kinds;
use crate::auth::Caller;
use crate::call::{Answer, Call};
use crate::message::Reply;

/// A navigation section and its view.
struct Area {
    id: &'static str,
    label: &'static str,
    icon: &'static str,
    scope: &'static str,
    columns: &'static [(&'static str, &'static str)],
    /// The kind of record that its actions change; empty if it has none.
    subject: &'static str,
}

const AREAS: [Area; 6] = [
    Area {
        id: "today",
        label: "Today",
        icon: "sun",
        scope: "crm:today:read",
        columns: &[("title", "Title"), ("summary", "About")],
        subject: "",
    },
    Area {
        id: "intake-submissions",
        label: "Intake",
        icon: "inbox",
        scope: "crm:intake:read",
        columns: &[("subject", "Subject"), ("status", "Status")],
        subject: "intake",
    },
    Area {
        id: "people",
        label: "People",
        icon: "user",
        scope: "crm:people:read",
        columns: &[("displayName", "Name"), ("email", "Email")],
        subject: "person",
    },
    Area {
        id: "organizations",
        label: "Organizations",
        icon: "building",
        scope: "crm:organizations:read",
        columns: &[("displayName", "Name"), ("city", "City")],
        subject: "organization",
    },
    Area {
        id: "opportunities",
        label: "Opportunities",
        icon: "target",
        scope: "crm:opportunities:read",
        columns: &[("title", "Title"), ("stage", "Stage")],
        subject: "opportunity",
    },
    Area {
        id: "tasks",
        label: "Tasks",
        icon: "check",
        scope: "crm:tasks:read",
        columns: &[("title", "Title"), ("dueAt", "Due")],
        subject: "task",
    },
];

pub(crate) fn get(call: &Call<'_>) -> Answer {
    let caller = call.caller()?;
    let areas: Vec<(usize, &Area)> = AREAS
        .iter()
        .enumerate()
        .filter(|(_, area)| caller.has_scope(area.scope))
        .collect();
    let sections: Vec<Value> = areas
        .iter()
        .map(|(order, area)| section(*order, area))
        .collect();
    let views: Vec<Value> = areas.iter().map(|(_, area)| view(caller, area)).collect();
    let actions: Vec<Value> = offered(caller).map(|action| action.1).collect();
    let landing = areas.first().map_or("/", |(_, area)| area.id);
    Ok(Reply::ok(&json!({
        "schemaVersion": "suite-crm-presentation.v1",
        "appId": "crm",
        "navigation": {"label": "CRM", "icon": "handshake", "landing": landing, "sections": sections},
        "views": views,
        "actions": actions,
    })))
}

fn section(order: usize, area: &Area) -> Value {
    let mut section = json!({
        "id": area.id,
        "label": area.label,
        "icon": area.icon,
        "route": format!("/{}", area.id),
        "order": order + 1,
        "requiredScope": area.scope,
    });
    if area.id == "today" {
        section["badge"] =
            json!({"source": "today", "field": "counts.overdueTasks", "tone": "warning"});
    }
    section
}

fn view(caller: &Caller, area: &Area) -> Value {
    let fields: Vec<Value> = area
        .columns
        .iter()
        .enumerate()
        .map(|(at, (key, label))| {
            let mut field = json!({"key": key, "label": label, "kind": "text", "primary": at == 0});
            if at == 0 {
                field["linkTo"] = json!(format!("/{}/{{publicReference}}", area.id));
            }
            field
        })
        .collect();
    let actions: Vec<Value> = offered(caller)
        .filter(|(subject, _)| *subject == area.subject)
        .map(|(_, action)| action["id"].clone())
        .collect();
    json!({
        "id": area.id,
        "title": area.label,
        "kind": "list",
        "route": format!("/{}", area.id),
        "source": area.id,
        "requiredScope": area.scope,
        "fields": fields,
        "filters": [{"key": "q", "label": "Search", "kind": "search", "options": []}],
        "emptyState": {"headline": "Nothing here", "body": "What arrives will be listed here."},
        "actions": actions,
    })
}

/// Returns the actions that the caller's token allows, with the kind of record that each changes.
fn offered(caller: &Caller) -> impl Iterator<Item = (&'static str, Value)> + '_ {
    let review = ("intake", "intake.review", "Review", "crm:intake:review");
    let records = kinds::ALL
        .iter()
        .map(|kind| (kind.subject(), kind.name, kind.label, kind.scope()));
    records
        .chain(std::iter::once(review))
        .filter(|(_, _, _, scope)| caller.has_scope(scope))
        .map(|(subject, name, label, scope)| {
            let action = json!({
                "id": name.replace('.', "-"),
                "label": label,
                "commandType": name,
                "requiredScope": scope,
                "intent": "primary",
                "confirm": null,
                "fields": [],
            });
            (subject, action)
        })
}
