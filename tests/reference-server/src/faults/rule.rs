//! One fault: its operation, its schedule and its effects.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::effects::{Effects, FRAMING};
use super::rounds::Rounds;
use super::schedule::{Arrival, Schedule};
use super::strike::Struck;
use crate::adapters::Transport;
use crate::message::MOST_HEADERS;
use crate::schema::Served;
use crate::suite::Suite;
use crate::token::registry;

/// An active fault, with the fields of a fault file and its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The `operationId`; `None` for every operation.
    #[serde(default)]
    pub(super) operation: Option<String>,
    #[serde(default)]
    pub(super) when: Schedule,
    pub(super) then: Effects,
    #[serde(skip)]
    pub(super) id: u64,
    #[serde(skip)]
    rounds: Option<Arc<Mutex<Rounds>>>,
}

impl Rule {
    pub(super) fn new(operation: Option<String>) -> Rule {
        Rule {
            operation,
            when: Schedule::default(),
            then: Effects::default(),
            id: 0,
            rounds: None,
        }
    }

    /// Returns the fault in the form of a fault file, with its state.
    pub(super) fn view(&self) -> Value {
        json!({
            "id": self.id,
            "operation": self.operation,
            "when": non_default(&self.when),
            "then": non_default(&self.then),
            "struck": self.when.struck(),
            "spent": self.when.is_spent(),
        })
    }

    pub(super) fn strike(&mut self, arrival: &Arrival<'_>) -> Option<Struck> {
        let wanted = self.operation.as_ref();
        let concerns = wanted.is_none_or(|wanted| **wanted == *arrival.operation.id);
        let concerns = concerns && !self.then.is_empty() && self.when.concerns(arrival);
        if !concerns || !self.when.due() {
            return None;
        }
        if let (None, Some(pages)) = (&self.rounds, self.then.cursor_loop) {
            self.rounds = Some(Arc::new(Mutex::new(Rounds::new(pages))));
        }
        Some(Struck {
            fault: self.id,
            effects: self.then.clone(),
            rounds: self.rounds.clone(),
        })
    }

    /// Rejects the first field with an invalid value. Fault files and the methods of [`Fault`](super::Fault) share
    /// this check.
    pub(super) fn check(&self, suite: &Suite) -> Result<(), String> {
        self.check_when()?;
        self.check_then()?;
        self.check_place(suite)
    }

    fn check_when(&self) -> Result<(), String> {
        let when = &self.when;
        if let Some(every) = when.every {
            must(every > 0, "when.every", "be at least 1", every)?;
        }
        if let Some(chance) = when.probability {
            let holds = (0.0..=1.0).contains(&chance);
            must(holds, "when.probability", "be from 0 to 1", chance)?;
        }
        if let Some(path) = &when.path {
            must(!path.is_empty(), "when.path", "not be empty", path)?;
        }
        if let Some(client) = &when.client {
            must(!client.is_empty(), "when.client", "not be empty", client)?;
        }
        if let Some(header) = &when.header {
            check_name("when.header.name", &header.name)?;
        }
        if let Some(member) = &when.member {
            let pointer = &member.pointer;
            let holds = pointer.starts_with('/');
            must(holds, "when.member.pointer", "begin with a slash", pointer)?;
        }
        Ok(())
    }

    fn check_then(&self) -> Result<(), String> {
        let then = &self.then;
        for (field, status) in [
            ("then.status", then.status),
            ("then.replyAfterCommitWith", then.reply_after_commit_with),
        ] {
            if let Some(status) = status {
                let holds = (200..=599).contains(&status);
                must(holds, field, "be from 200 to 599", status)?;
            }
        }
        if let Some(lifetime) = then.token_lifetime {
            registry::lifetime("then.tokenLifetimeSeconds", lifetime.0)?;
        }
        if let Some(drip) = then.drip_body {
            let bytes = drip.bytes;
            must(bytes > 0, "then.dripBody.bytes", "be at least 1", bytes)?;
        }
        let (count, most) = (then.headers.len(), MOST_HEADERS / 2);
        let rule = format!("have at most {most} fields");
        must(count <= most, "then.headers", &rule, count)?;
        for (name, value) in &then.headers {
            let field = format!("then.headers.{name}");
            let name = check_name(&field, name)?;
            let holds = !FRAMING.contains(&name.as_str());
            let rule = "not frame the message, which the server does itself";
            must(holds, &field, rule, value)?;
            check_value(&field, value)?;
        }
        if let Some(body) = &then.body {
            check_value("then.body.mediaType", &body.media_type)?;
        }
        if let Some(value) = &then.retry_after {
            must(value.is_ascii(), "then.retryAfter", "be ASCII", value)?;
            check_value("then.retryAfter", value)?;
        }
        Ok(())
    }

    /// Checks the rules that depend on the server's operations and transport.
    fn check_place(&self, suite: &Suite) -> Result<(), String> {
        let Rule { when, then, .. } = self;
        if let Some(id) = &self.operation {
            let known = suite.operation(id);
            must(known.is_some(), "operation", "be an operationId", id)?;
            let holds = known.is_some_and(Served::is_exchange) || !then.shapes_tokens();
            let rule = "be the token exchange for an effect on tokens";
            must(holds, "operation", rule, id)?;
        }
        let transport = suite.settings.transport;
        for (field, asked) in [
            ("breakBody", then.break_body),
            ("dripBody", then.drip_body.is_some()),
            ("stall", then.stall),
        ] {
            if asked && transport == Transport::Wiremock {
                let rule = "needs Transport::Hyper or a server in memory";
                return Err(format!("then.{field}: {rule}: got {transport:?}"));
            }
        }
        if then.refuse_connection && transport != Transport::InMemory {
            let rule = "needs a server in memory";
            return Err(format!("then.refuseConnection: {rule}: got {transport:?}"));
        }
        if then.refuse_connection && when.looks_inside() {
            let rule = "excludes when.client, when.header and when.member";
            let reason = "the request is not sent";
            return Err(format!("then.refuseConnection: {rule}: {reason}"));
        }
        Ok(())
    }
}

fn must(holds: bool, field: &str, rule: &str, value: impl Debug) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    Err(format!("{field}: must {rule}: got {value:?}"))
}

fn check_name(field: &str, name: &str) -> Result<HeaderName, String> {
    let parsed = HeaderName::from_bytes(name.as_bytes());
    parsed.map_err(|_| format!("{field}: must be a header name: got {name:?}"))
}

fn check_value(field: &str, value: &str) -> Result<(), String> {
    let holds = HeaderValue::from_str(value).is_ok();
    must(holds, field, "be a header value", value)
}

pub(super) fn non_default<T: Default + Serialize>(of: &T) -> Map<String, Value> {
    let fields = |of: &T| match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (mut fields, usual) = (fields(of), fields(&T::default()));
    fields.retain(|name, value| usual.get(name) != Some(value));
    fields
}
