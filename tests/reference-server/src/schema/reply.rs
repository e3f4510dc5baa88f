//! Replies: samples of what the document shows, with what was sent where it fits.

use http::{HeaderName, Method};
use serde_json::{Map, Value};

use super::check::{self, Side};
use super::contract::{Described, Place, essence};
use super::document::{members, plain};
use super::request::{Sent, is_json};
use super::sample;
use crate::call::{Answer, Call};
use crate::cursor::{self, Binding};
use crate::idempotency;
use crate::json::{Json, Members};
use crate::message::Reply;
use crate::refusal::Refusal;

/// The member of a page that names the next one.
const NEXT: [&str; 2] = ["nextCursor", "next_cursor"];

/// Answers a request that keeps the rules.
pub(super) fn reply(call: &Call<'_>, described: &Described, sent: &Sent) -> Answer {
    let chosen = Chosen::of(call, described);
    let mut made = chosen.body(call, described, sent)?;
    let mut status = chosen.status;
    if described.method != "GET" && described.method != "HEAD" && status < 400 {
        let key = call.request.header("idempotency-key");
        match key.filter(|_| {
            described
                .parameter(Place::Header, "idempotency-key")
                .is_some()
        }) {
            None => call.committed(),
            Some(key) => {
                let print = idempotency::fingerprint(call, &command(call)?);
                let settled = idempotency::once(call, key, print, |_| Ok(Value::Null))?;
                if settled.replayed {
                    status = described.replay_status.unwrap_or(status);
                    let member = made.as_mut().and_then(|(_, body)| body.get_mut("replayed"));
                    if let Some(member) = member {
                        *member = true.into();
                    }
                }
            }
        }
    }
    let mut reply = match made {
        _ if call.request.method == Method::HEAD => Reply::empty(status),
        None => Reply::empty(status),
        Some((media_type, body)) if is_json(&essence(&media_type)) => {
            Reply::text(status, &media_type, body.to_string())
        }
        Some((media_type, body)) => Reply::text(status, &media_type, plain(&body)),
    };
    for (name, header) in members(&chosen.shown["headers"]) {
        let header = described.document.resolve(header);
        let value = header.get("example").cloned();
        let value = value.or_else(|| sample::sample(&described.document, &header["schema"], 0));
        let text = value.map(|value| match &value {
            Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
            value => plain(value),
        });
        if let (Ok(name), Some(text)) = (HeaderName::from_bytes(name.as_bytes()), text)
            && name != http::header::CONTENT_TYPE
        {
            reply.set(name, &text);
        }
    }
    Ok(reply)
}

/// What makes two requests with one key the same.
fn command(call: &Call<'_>) -> Result<Json, Refusal> {
    let bytes = call.request.body()?;
    let text = |bytes: &[u8]| Json::Text(String::from_utf8_lossy(bytes).into_owned());
    let query = call.request.query.as_deref().unwrap_or_default();
    let body = Json::read(bytes).unwrap_or_else(|_| text(bytes));
    Ok(Json::Object(Members::from([
        ("path".to_owned(), text(call.request.path.as_bytes())),
        ("query".to_owned(), text(query.as_bytes())),
        ("body".to_owned(), body),
    ])))
}

/// The documented reply that is given.
struct Chosen<'d> {
    status: u16,
    shown: &'d Value,
}

impl<'d> Chosen<'d> {
    /// The first documented success, or the status that `Prefer` names if that one is documented.
    fn of(call: &Call<'_>, described: &'d Described) -> Chosen<'d> {
        let preferred = call.request.header("prefer").and_then(|prefer| {
            let mut wishes = prefer.split([',', ';']);
            let status = wishes.find_map(|wish| wish.trim().strip_prefix("status="))?;
            described.replies.get_key_value(status.trim_matches('"'))
        });
        let chosen = preferred.or_else(|| success(described));
        let status = chosen.and_then(|(status, _)| status.parse().ok());
        Chosen {
            status: status.unwrap_or(200),
            shown: chosen.map_or(&Value::Null, |(_, shown)| shown),
        }
    }

    /// The media type and the body, if there is one.
    fn body(
        &self,
        call: &Call<'_>,
        described: &Described,
        sent: &Sent,
    ) -> Result<Option<(String, Value)>, Refusal> {
        let accepted = call.request.header("accept").map(essence);
        let Some((media_type, content)) = content(self.shown, accepted.as_deref()) else {
            return Ok(None);
        };
        if [204, 205, 304].contains(&self.status) {
            return Ok(None);
        }
        let schema = &content["schema"];
        let page = Page::of(call, described, sent)?;
        let mut body = sampled(described, content, page.first).map_err(unfit)?;
        if is_json(&essence(media_type)) {
            let fits = |body: &Value| check::holds(&described.document, Side::Reply, schema, body);
            echo(&mut body, described, sent, fits);
            page.cut(&mut body, call, fits);
            if !fits(&body) {
                return Err(unfit(format!("{}: no sample", described.id)));
            }
        }
        Ok(Some((media_type.to_owned(), body)))
    }
}

fn unfit(problem: String) -> Refusal {
    Refusal::new(501, "no_sample", problem)
}

/// A sample of the first documented success, if that has a JSON body, or why there is none.
#[cfg(test)]
pub(super) fn sample(described: &Described, first: usize) -> Result<Option<Value>, String> {
    let shown = success(described).and_then(|(_, shown)| content(shown, None));
    let json = shown.filter(|(media_type, _)| is_json(&essence(media_type)));
    json.map(|(_, content)| sampled(described, content, first))
        .transpose()
}

fn success(described: &Described) -> Option<(&String, &Value)> {
    let mut replies = described.replies.iter();
    let default = || described.replies.get_key_value("DEFAULT");
    replies
        .find(|(status, _)| status.starts_with('2'))
        .or_else(default)
}

/// The content of a reply: of the media type that is asked for, or else JSON, or else the first.
fn content<'d>(shown: &'d Value, accepted: Option<&str>) -> Option<(&'d str, &'d Value)> {
    let of = |wanted: &dyn Fn(&str) -> bool| {
        members(&shown["content"]).find(|(media_type, _)| wanted(&essence(media_type)))
    };
    let asked = of(&|media_type| Some(media_type) == accepted);
    let found = asked.or_else(|| of(&is_json)).or_else(|| of(&|_| true));
    found.map(|(media_type, content)| (media_type.as_str(), content))
}

/// A body that conforms, whether the document shows one or not.
fn sampled(described: &Described, content: &Value, first: usize) -> Result<Value, String> {
    let (document, schema) = (&described.document, &content["schema"]);
    let named =
        members(&content["examples"]).map(|(_, example)| &document.resolve(example)["value"]);
    let mut shown = content.get("example").into_iter().chain(named);
    let fits = |value: &Value| check::holds(document, Side::Reply, schema, value);
    let shown = shown.find(|value| !value.is_null() && fits(value)).cloned();
    let made = shown.or_else(|| match schema {
        Value::Null => Some("sample".into()),
        schema => sample::sample(document, schema, first),
    });
    let made = made.ok_or_else(|| format!("{}: no sample", described.id))?;
    match check::problems(document, Side::Reply, schema, &made, "").first() {
        None => Ok(made),
        Some((at, rule)) => Err(format!("{}: no sample: {at}: {rule}", described.id)),
    }
}

/// Puts what was sent into the members of that name, where it fits. The last place of a path that ends in `Id` names the
/// record itself.
fn echo(body: &mut Value, described: &Described, sent: &Sent, fits: impl Fn(&Value) -> bool) {
    let own = described.places().last().filter(|name| {
        name.to_lowercase().ends_with("id") && described.path.ends_with(&format!("{{{name}}}"))
    });
    let own = own.and_then(|name| Some(("id", sent.path.get(name)?)));
    let sent_members = sent.body.iter().flat_map(members);
    let named = sent_members
        .chain(&sent.path)
        .map(|(name, value)| (name.as_str(), value));
    for (name, value) in own.into_iter().chain(named) {
        if let Some(member) = body.get_mut(name) {
            let before = std::mem::replace(member, value.clone());
            if !fits(body) {
                body[name] = before;
            }
        }
    }
}

/// The page that is asked for: the first or the second, where the operation has `cursor` and `limit`; there is one otherwise.
struct Page {
    pages: Option<Binding>,
    /// How many items came before.
    first: usize,
    limit: usize,
}

impl Page {
    fn of(call: &Call<'_>, described: &Described, sent: &Sent) -> Result<Page, Refusal> {
        let has = |name: &str| described.parameter(Place::Query, name).is_some();
        let others = sent
            .query
            .iter()
            .filter(|(name, _)| !["cursor", "limit"].contains(&name.as_str()));
        let filters: Vec<String> = others
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let filters: Vec<Option<&str>> = filters.iter().map(|text| Some(text.as_str())).collect();
        let binding = Binding::new(&described.id, &filters);
        let cursor = sent.query.get("cursor").map(plain);
        let opened = cursor.filter(|_| has("limit"));
        let opened = opened
            .map(|cursor| cursor::open(&call.suite.cursor_key, binding, &cursor))
            .transpose()?;
        let limit = sent.query.get("limit").and_then(Value::as_u64);
        Ok(Page {
            pages: (has("cursor") && has("limit")).then_some(binding),
            first: opened.and_then(|at| usize::try_from(at).ok()).unwrap_or(0),
            limit: limit
                .and_then(|limit| usize::try_from(limit).ok())
                .unwrap_or(usize::MAX),
        })
    }

    /// Shortens the lists of a page, and names the next page or says that there is none.
    fn cut(&self, body: &mut Value, call: &Call<'_>, fits: impl Fn(&Value) -> bool) {
        let lists = body.as_object_mut().into_iter().flat_map(Map::values_mut);
        let lengths = lists.filter_map(Value::as_array_mut).map(|list| {
            list.truncate(self.limit);
            list.len()
        });
        let next = lengths.max().unwrap_or(0) as u64;
        let Some(name) = NEXT.into_iter().find(|name| body.get(*name).is_some()) else {
            return;
        };
        let more = self.pages.filter(|_| self.first == 0 && next > 0);
        let cursor = more.map(|page| cursor::issue(&call.suite.cursor_key, page, next).into());
        // Without null and as a required member, an empty text is all that is left to say that there is no more.
        let ends = [Some(Value::Null), None, Some("".into())];
        let mut said = cursor
            .map(Some)
            .into_iter()
            .chain(ends)
            .filter_map(|value| {
                let mut page = body.as_object()?.clone();
                page.remove(name);
                page.extend(value.map(|value| (name.to_owned(), value)));
                Some(Value::from(page)).filter(&fits)
            });
        if let Some(page) = said.next() {
            *body = page;
        }
    }
}
