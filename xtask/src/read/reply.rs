//! Reads the successful response, which is JSON, empty, bytes, a page, or different per status.

use super::call::{Call, description, is_json};
use super::reader::Reader;
use super::structure::{follow, resolved};
use crate::model::{Case, Reply, ReplyHeader};
use crate::names;
use crate::node::{Node, step};

pub(super) struct Success {
    pub(super) reply: Reply,
    pub(super) headers: Vec<ReplyHeader>,
}

impl Reader<'_> {
    /// The responses with their statuses and places, after following references.
    pub(super) fn responses<'n>(&mut self, call: &Call<'n>) -> Vec<(String, String, &'n Node)> {
        let place = step(&call.place, "responses");
        let all = call.raw.at("responses").members();
        let resolved = all.filter_map(|(status, raw)| {
            let own = (step(&place, status), raw);
            let (place, raw) = resolved(call.root, own, self.findings)?;
            Some((status.clone(), place, raw))
        });
        resolved.collect()
    }

    pub(super) fn reply(&mut self, call: &Call<'_>, hint: &str) -> Success {
        let all = self.responses(call);
        for (status, place, _) in &all {
            if status.starts_with('3') {
                let rule =
                    format!("the status {status} is an error, because redirects are not followed");
                self.findings.note(place, rule);
            }
        }
        let is_success = |status: &str| status.starts_with('2');
        let mut successes: Vec<_> = all
            .iter()
            .filter(|(status, ..)| is_success(status))
            .collect();
        if successes.is_empty() {
            // Some documents have only `default`.
            successes.extend(all.iter().filter(|(status, ..)| status == "default"));
        }
        if successes.is_empty() {
            self.findings.note(
                &call.place,
                "no success is documented, so any 2xx is a success with a body of bytes",
            );
            return Success {
                reply: Reply::Bytes("*/*".to_owned()),
                headers: Vec::new(),
            };
        }
        let mut headers: Vec<ReplyHeader> = Vec::new();
        let mut cases: Vec<Case> = Vec::new();
        let several = successes.len() > 1;
        let is_code = |it: &&(String, String, &Node)| it.0.parse::<u16>().is_ok();
        let has_range = several && !successes.iter().all(is_code);
        if has_range && successes.iter().any(is_code) {
            self.findings.note(
                &call.place,
                "a range of successes (`2XX`) next to others, so its responses are read as `Other`",
            );
            successes.retain(is_code);
        }
        for (status, place, raw) in successes {
            for (name, header) in raw.at("headers").members() {
                let header = header
                    .text_at("$ref")
                    .and_then(|it| follow(self.root, it))
                    .map_or(header, |it| it.1);
                if !headers
                    .iter()
                    .any(|known| known.name.eq_ignore_ascii_case(name))
                {
                    headers.push(ReplyHeader {
                        name: name.clone(),
                        description: description(header),
                    });
                }
            }
            if raw.get("links").is_some() {
                let rule = "`links` to other operations, which have no effect";
                self.findings.note(place, rule);
            }
            let code = status.parse().unwrap_or(200);
            let variant = variant(code);
            let hint = if several {
                format!("{hint}{variant}")
            } else {
                format!("{hint}Reply")
            };
            let reply = self.success(raw, place, &hint);
            cases.push(Case {
                status: code,
                variant,
                description: description(raw),
                reply,
            });
        }
        let same = !has_range && cases.iter().all(|case| same(&case.reply, &cases[0].reply));
        let reply = if same {
            cases.swap_remove(0).reply
        } else {
            let place = step(&call.place, "responses");
            self.reserve(&place, &format!("{hint}Reply"));
            let name = self.entries[&place].name.clone();
            Reply::Several { name, cases }
        };
        Success { reply, headers }
    }

    fn success(&mut self, raw: &Node, place: &str, hint: &str) -> Reply {
        let contents = raw.at("content");
        let json = contents.members().find(|(media, _)| is_json(media));
        let Some((media, content)) = json else {
            let media: Vec<&str> = contents
                .members()
                .map(|(media, _)| media.as_str())
                .collect();
            return match media.as_slice() {
                [] => Reply::Empty,
                media => Reply::Bytes(media.join(", ")),
            };
        };
        for (other, _) in contents.members().filter(|(other, _)| *other != media) {
            self.findings.note(
                place,
                format!("the response is requested as {media}, never as {other}"),
            );
        }
        if !matches!(super::call::plain(media), "application/json" | "*/*") {
            let rule = format!("the response is requested as application/json, not as {media}");
            self.findings.note(place, rule);
        }
        let place = step(&step(&step(place, "content"), media), "schema");
        let Some(schema) = content.get("schema") else {
            self.findings
                .note(&place, "JSON without a schema is raw JSON");
            return Reply::Json(super::reader::annotations(content));
        };
        if schema.text_at("format") == Some("binary") {
            return Reply::Bytes(media.clone());
        }
        Reply::Json(self.used(schema, &place, hint))
    }
}

/// Whether a caller can't distinguish two successes.
fn same(left: &Reply, right: &Reply) -> bool {
    match (left, right) {
        (Reply::Json(left), Reply::Json(right)) => {
            left.ty == right.ty && left.nullable == right.nullable
        }
        (left, right) => left == right,
    }
}

fn variant(status: u16) -> String {
    let name = match status {
        200 => "Ok",
        201 => "Created",
        202 => "Accepted",
        203 => "NonAuthoritative",
        204 => "NoContent",
        205 => "ResetContent",
        206 => "PartialContent",
        207 => "MultiStatus",
        208 => "AlreadyReported",
        226 => "ImUsed",
        other => return names::variant(&format!("Status{other}")),
    };
    name.to_owned()
}
