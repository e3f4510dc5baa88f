//! Reads an operation of a path item.

use super::call::{Call, FORM, Names, description, is_json, plain};
use super::reader::Reader;
use super::reply::Success;
use super::structure::{assumptions_of, resolved};
use crate::model::{
    Auth, Body, Method, Operation, Place, Replay, Reply, Safety, Statuses, Ty, Use,
};
use crate::names;
use crate::node::{Node, step};

/// The prefix of the line in a description that names the section of the contract.
pub(super) const SOURCE: &str = "Source: ";

impl Reader<'_> {
    /// Reads an operation. `None` if it is rejected.
    pub(super) fn operation(
        &mut self,
        call: &Call<'_>,
        names: Names,
        title: &str,
    ) -> Option<Operation> {
        let raw = call.raw;
        let rejections = self.findings.rejections;
        let hint = names::pascal(&names.id);
        let (text, source) = Self::text_of(call, title);
        let (auth, scopes) = self.security(call);
        let (parameters, keyed) = self.parameters(call, &hint);
        let body = self.body(call, &hint);
        let Success { reply, headers } = self.reply(call, &hint);
        let operation = Operation {
            keyed,
            safety: match call.method {
                Method::Get => Safety::Read,
                _ if keyed => Safety::Keyed,
                Method::Put | Method::Delete => Safety::Idempotent,
                Method::Post | Method::Patch => Safety::Unkeyed,
            },
            method: call.method,
            path: call.path.clone(),
            summary: Self::summary(call, &text),
            description: text,
            source,
            deprecated: raw.is_set("deprecated"),
            auth,
            scopes,
            name_only: raw.text_at("x-provenance") == Some("name-only"),
            assumptions: assumptions_of(self.root, raw),
            parameters,
            replay: self.replay(call, &reply),
            body,
            reply,
            reply_headers: headers,
            schema_version: None,
            statuses: self.statuses(call),
            exclusive: pairs(raw.at("x-mutually-exclusive")),
            without_handler: raw.is_set("x-served-from-schema"),
            id: names.id,
            group: names.group,
            name: names.method,
        };
        self.check(call, &operation);
        (self.findings.rejections == rejections).then_some(operation)
    }

    /// The description of an operation, and its source.
    fn text_of(call: &Call<'_>, title: &str) -> (String, String) {
        let text = call.raw.text_at("description").unwrap_or_default();
        if let Some((text, source)) = text.split_once(SOURCE) {
            let source = source.trim().trim_end_matches('.').replace('\n', " ");
            return (text.trim().to_owned(), source);
        }
        let summary = call.item.text_at("summary").unwrap_or_default();
        let around = call.item.text_at("description").unwrap_or_default();
        let mut text = text.trim().to_owned();
        for part in [summary, around]
            .map(str::trim)
            .into_iter()
            .filter(|part| !part.is_empty())
        {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(part);
        }
        (
            text,
            format!("{title}, {} {}", call.method.name(), call.path),
        )
    }

    fn summary(call: &Call<'_>, text: &str) -> String {
        let own = call.raw.text_at("summary").unwrap_or_default().trim();
        if !own.is_empty() {
            return own.to_owned();
        }
        let first = text.lines().next().unwrap_or_default();
        let first = first
            .split_inclusive(". ")
            .next()
            .unwrap_or_default()
            .trim();
        if first.is_empty() {
            format!("{} {}", call.method.name(), call.path)
        } else {
            first.to_owned()
        }
    }

    fn body(&mut self, call: &Call<'_>, hint: &str) -> Option<Body> {
        let root = self.root;
        let raw = call.raw.get("requestBody")?;
        let place = step(&call.place, "requestBody");
        let (place, node) = resolved(root, (place, raw), self.findings)?;
        let contents = node.at("content");
        let place = step(&place, "content");
        let json = contents.members().find(|(media, _)| is_json(media));
        let form = contents.get(FORM);
        let (media, form, content) = match (json, form) {
            (Some((media, content)), _) => (media.as_str(), false, content),
            (None, Some(content)) => (FORM, true, content),
            (None, None) => {
                let media: Vec<&str> = contents
                    .members()
                    .map(|(media, _)| media.as_str())
                    .collect();
                let rule = format!("a body must be JSON or a form, not {}", media.join(" or "));
                let remedy =
                    "leave the operation out with `x-sdk-skip`; `raw_call` reaches its path";
                self.findings.reject(&place, rule, remedy);
                return None;
            }
        };
        for (other, _) in contents.members().filter(|(other, _)| *other != media) {
            self.findings.note(
                &place,
                format!("the body is sent as {media}, never as {other}"),
            );
        }
        let required = node.is_set("required");
        let place = step(&step(&place, media), "schema");
        let value = match content.get("schema") {
            Some(schema) => self.used(schema, &place, &format!("{hint}Body")),
            None => Use::of(Ty::Value),
        };
        let fits = matches!(value.ty, Ty::Named(_) | Ty::Value);
        if form && !fits {
            let remedy = "describe its properties in the overlay";
            self.findings
                .reject(&place, "a form must be an object with properties", remedy);
        }
        Some(Body {
            description: node
                .text_at("description")
                .unwrap_or_default()
                .trim()
                .to_owned(),
            required,
            form,
            media_type: (!form && !is_plain_json(media)).then(|| media.to_owned()),
            value,
        })
    }

    /// The mark of a stored result of an earlier command in a response.
    fn replay(&self, call: &Call<'_>, reply: &Reply) -> Replay {
        if let Some(status) = call.raw.at("x-replay-status").integer() {
            return Replay::Status(u16::try_from(status).unwrap_or_default());
        }
        let is_stored_result = reply.ty().and_then(Ty::name).is_some_and(|name| {
            let mut entries = self.entries.values().filter_map(|it| it.component.as_ref());
            let component = entries.find(|it| it.name == *name);
            component.is_some_and(|component| {
                component.members().iter().any(|member| {
                    member.name == "replayed" && member.required && member.value.ty == Ty::Boolean
                })
            })
        });
        if is_stored_result {
            Replay::Field
        } else {
            Replay::Undocumented
        }
    }

    fn statuses(&mut self, call: &Call<'_>) -> Statuses {
        let mut statuses = Statuses::default();
        for (status, _, raw) in self.responses(call) {
            let mut meaning = description(raw);
            let headers: Vec<String> = raw
                .at("headers")
                .members()
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            // `reply` handles the headers of successes.
            if !headers.is_empty() && !status.starts_with('2') {
                meaning = format!("{meaning} It has {}.", headers.join(", "));
            }
            match status.parse() {
                Ok(number) => statuses.documented.push((number, meaning)),
                // `reply` handles a range of successes.
                Err(_) if status.starts_with('2') => {}
                // `4XX`, `default`.
                Err(_) => {
                    let meaning = match status.as_str() {
                        "default" => meaning,
                        range => format!("{}: {meaning}", range.to_uppercase()),
                    };
                    let before = statuses.otherwise.take().map(|it| it + " ");
                    statuses.otherwise = Some(before.unwrap_or_default() + &meaning);
                }
            }
        }
        statuses
    }

    /// Checks the rules that concern several parts of an operation.
    fn check(&mut self, call: &Call<'_>, operation: &Operation) {
        let place = call.place.as_str();
        let parameters = operation.parameters.iter();
        let in_path = parameters.filter(|it| it.place == Place::Path).count();
        if in_path != call.path.matches('{').count() || !call.path.starts_with('/') {
            let rule =
                "its path must begin with `/`, and each `{name}` in it needs a path parameter";
            self.reject(place, rule);
        }
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || "?#`\"\\".contains(c);
        if call.path.contains(is_odd) {
            let rule = "its path has a query, a fragment, spaces or quotes, which would be escaped";
            self.findings
                .reject(place, rule, "leave the operation out with `x-sdk-skip`");
        }
        if call.method == Method::Get && operation.body.is_some() {
            let rule = "a GET must not have a body";
            self.findings
                .reject(place, rule, "leave the operation out with `x-sdk-skip`");
        }
        if let Replay::Status(status) = operation.replay {
            let documented = &operation.statuses.documented;
            if !operation.is_command() || !documented.iter().any(|(known, _)| *known == status) {
                let rule = "`x-replay-status` must be a documented status of a command";
                self.reject(place, rule);
            }
        }
        for (left, right) in &operation.exclusive {
            for name in [left, right] {
                if operation
                    .parameter(name)
                    .is_none_or(|parameter| parameter.required)
                {
                    let rule =
                        format!("`{name}` of `x-mutually-exclusive` is not an optional parameter");
                    self.reject(place, &rule);
                }
            }
        }
        if operation.auth == Auth::Client && operation.body.is_none() {
            self.reject(place, "a call with the client credential must send a form");
        }
    }
}

/// Whether a body of this media type is sent as `application/json`.
fn is_plain_json(media: &str) -> bool {
    let media = plain(media);
    media == "application/json" || media.ends_with('*')
}

fn pairs(node: &Node) -> Vec<(String, String)> {
    let pair = |node: &Node| match node.items() {
        [left, right] => Some((left.plain(), right.plain())),
        _ => None,
    };
    node.items().iter().filter_map(pair).collect()
}
