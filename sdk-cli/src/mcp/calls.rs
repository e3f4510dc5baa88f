//! Calls of tools: checks the arguments, runs reads, and turns writes into proposals.

use std::time::{Duration, Instant};

use sdk_core::{IdempotencyKey, PreparedCommand, RawCall, RawJson, Safety, Suite};
use serde_json::{Map, Value};

use crate::catalog::{Entry, Parameter};
use crate::output::{Exit, Failure};

/// The longest body of a proposal, in bytes, because a person reads it.
const MAX_BODY: usize = 64 << 10;
/// Integers above this limit lose digits in programs that read numbers as floating point.
const MAX_INTEGER: u64 = 1 << 53;
/// The time limit of a read. Many clients stop waiting after 60 seconds.
const DEADLINE: Duration = Duration::from_secs(25);

/// The checked arguments of a tool.
pub(crate) struct Arguments {
    parameters: Vec<(Parameter, String)>,
    pub(crate) body: Option<Value>,
    /// The agent's words.
    pub(crate) intent: Option<String>,
}

impl Arguments {
    /// Checks the arguments by the rules of the spec, like the typed clients.
    pub(crate) fn check(entry: &Entry, mut given: Map<String, Value>) -> Result<Self, Failure> {
        let mut parameters = Vec::new();
        for parameter in entry.parameters() {
            let value = match given.remove(parameter.name) {
                None | Some(Value::Null) if parameter.required => {
                    return Err(Failure::usage(format!("{} is required", parameter.name)));
                }
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text,
                Some(Value::Number(number)) if !number.is_f64() => number.to_string(),
                Some(other) => {
                    let rule = "must be a string or an integer";
                    return Err(Failure::usage(format!(
                        "{} {rule}: got {other}",
                        parameter.name
                    )));
                }
            };
            parameters.push((parameter, value));
        }
        entry.check(&parameters)?;
        let takes_body = entry.operation.body;
        let body = takes_body.then(|| given.remove("body")).flatten();
        match &body {
            Some(body) => {
                digits(body, "body")?;
                entry.check_body(body)?;
            }
            None if entry.operation.body && !entry.operation.optional_body => {
                return Err(Failure::usage("body is required"));
            }
            None => {}
        }
        let intent = is_keyed(entry).then(|| given.remove("intent")).flatten();
        let intent = match intent {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.trim().is_empty() => None,
            Some(Value::String(text)) if text.chars().count() <= 500 => Some(text),
            Some(_) => {
                let rule = "intent must be a string of at most 500 characters";
                return Err(Failure::usage(rule));
            }
        };
        if let Some(unknown) = given.keys().next() {
            let unknown = sdk_core::one_line(unknown);
            return Err(Failure::usage(format!(
                "{unknown} is not an argument of this tool"
            )));
        }
        Ok(Self {
            parameters,
            body,
            intent,
        })
    }

    fn call(&self, suite: &Suite, entry: &Entry) -> Result<RawCall, Failure> {
        let body = self.body.clone().map(RawJson::from);
        Ok(entry.call(suite, &self.parameters, body)?)
    }

    /// Prepares a write. Its key depends only on the write, its sender and the intent, so that the same write has the
    /// same digest.
    pub(crate) fn prepare(
        &self,
        suite: &Suite,
        entry: &Entry,
        origin: &str,
        client: &str,
    ) -> Result<PreparedCommand, Failure> {
        let call = self.call(suite, entry)?;
        let command = call.clone().prepare()?;
        if command.body().len() > MAX_BODY {
            let found = command.body().len();
            let rule = "body must have at most 65536 bytes, because a person reads it";
            return Err(Failure::usage(format!("{rule}: got {found}")));
        }
        if !is_keyed(entry) {
            return Ok(command);
        }
        let key = key(&command, origin, client, self.intent.as_deref());
        Ok(call.idempotency_key(key).prepare()?)
    }

    /// Runs a read, and returns the exact body. If the body exceeds the limit, a list is read again with fewer items, and
    /// the second string says so.
    pub(crate) async fn read(
        &mut self,
        suite: &Suite,
        entry: &Entry,
        most: usize,
    ) -> Result<(String, Option<String>), Failure> {
        // The agent's process sends nothing but reads.
        if entry.operation.safety != Safety::Read {
            return Err(Failure::usage("only a read can run immediately"));
        }
        let (began, mut cut) = (Instant::now(), None);
        loop {
            let left = DEADLINE.saturating_sub(began.elapsed());
            let receipt = self.call(suite, entry)?.deadline(left).send().await?;
            let bytes = receipt.bytes();
            if bytes.len() <= most {
                let body = std::str::from_utf8(bytes);
                let body = body.map_err(|_| {
                    Failure::new(Exit::Failed, "decode", "the response is not UTF-8")
                })?;
                let body = if body.trim().is_empty() {
                    format!("status {}", receipt.http_status())
                } else {
                    body.to_owned()
                };
                let more = if entry.operation.cursor {
                    "For more, call the tool again with the cursor from nextCursor."
                } else {
                    "For other items, search for a longer string."
                };
                let note = |items| {
                    format!(
                        "The page was cut to {items} items, because more exceed {most} bytes. {more}"
                    )
                };
                return Ok((body, cut.map(note)));
            }
            let items = receipt.to_value().ok();
            let items = items.and_then(|it| Some(it["items"].as_array()?.len()));
            let parameter = entry.parameters().find(|it| it.name == "limit");
            // A server that ignores the limit would never send fewer items.
            let items = items.filter(|it| cut.is_none_or(|cut| *it <= cut));
            let (Some(items @ 2..), Some(parameter)) = (items, parameter) else {
                let message = format!(
                    "the response has {} bytes, more than the limit of {most}; request less, or raise --max-result",
                    bytes.len()
                );
                return Err(Failure::new(Exit::Failed, "too_large", message));
            };
            // Items differ in size, so the next page may still be too large.
            let fewer = (items * most / bytes.len()).clamp(1, items - 1);
            cut = Some(fewer);
            self.parameters.retain(|(it, _)| it.name != parameter.name);
            self.parameters.push((parameter, fewer.to_string()));
        }
    }
}

fn is_keyed(entry: &Entry) -> bool {
    entry.operation.safety == Safety::Keyed
}

/// Returns the key of a proposed write.
pub(crate) fn key(
    command: &PreparedCommand,
    origin: &str,
    client: &str,
    intent: Option<&str>,
) -> IdempotencyKey {
    let intent = intent.unwrap_or_default();
    let parts = [
        origin,
        client,
        command.operation(),
        command.path(),
        command.body(),
        intent,
    ];
    IdempotencyKey::derive("suite-mcp/v1", parts)
}

/// Rejects numbers that may have lost digits on their way through a client.
fn digits(value: &Value, at: &str) -> Result<(), Failure> {
    match value {
        Value::Number(number) => {
            let size = number
                .as_u64()
                .or_else(|| number.as_i64().map(i64::unsigned_abs));
            if size.is_some_and(|size| size <= MAX_INTEGER) {
                return Ok(());
            }
            let rule = "must be an integer of at most 2^53, or a string, because other numbers can lose digits";
            Err(Failure::usage(format!("{at} {rule}: got {number}")))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| digits(item, &format!("{at}[{index}]"))),
        Value::Object(fields) => fields
            .iter()
            .try_for_each(|(name, value)| digits(value, &format!("{at}.{name}"))),
        _ => Ok(()),
    }
}
