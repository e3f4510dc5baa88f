//! Responses for operations without a handler: samples of the documented schemas, filled with fields of the request.

use http::{HeaderName, header};
use serde_json::{Map, Value};

use super::check::{self, Side};
use super::document::{members, plain};
use super::request::{Sent, essence, is_json};
use super::served::Served;
use crate::call::{Answer, Call};
use crate::cursor::{self, Binding};
use crate::faults::FRAMING;
use crate::idempotency;
use crate::message::Reply;
use crate::refusal::Refusal;

/// The fields of a page that contain the next cursor.
const NEXT: [&str; 2] = ["nextCursor", "next_cursor"];

/// Headers whose documented value would be wrong for a sample. Headers that frame the message are also omitted.
const OURS: [&str; 2] = ["content-type", "content-encoding"];

/// Serves a valid request from the schema. The generated list of handlers uses it where a spec has
/// `x-served-from-schema`.
pub(crate) fn serve(call: &Call<'_>) -> Answer {
    let (described, sent) = (call.operation, &call.sent);
    let (mut status, shown) = chosen(call, described)?;
    let mut body = body(call, described, sent, shown)?;
    let changes = !["GET", "HEAD"].contains(&described.method.as_str());
    if changes && status < 400 && !settle(call, described)? {
        let replayed = body.as_mut().and_then(|(_, body)| body.get_mut("replayed"));
        if let Some(replayed) = replayed {
            *replayed = true.into();
        }
        let other = described.raw["x-replay-status"].as_u64();
        let other = other.and_then(|other| other.try_into().ok());
        status = other.unwrap_or(status);
    }
    let mut reply = match body.filter(|_| status != 204) {
        Some((media_type, body)) if is_json(media_type) => {
            Reply::text(status, media_type, body.to_string())
        }
        Some((media_type, body)) => Reply::text(status, media_type, plain(&body)),
        None => Reply::empty(status),
    };
    for (name, shown) in members(&shown["headers"]) {
        let shown = described.document.resolve(shown);
        let example = shown.get("example").cloned();
        let value = example.or_else(|| described.sample(&shown["schema"], 0));
        let text = match value.unwrap_or_default() {
            Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
            value => plain(&value),
        };
        let is_ours = |name: &str| OURS.contains(&name) || FRAMING.contains(&name);
        let name = HeaderName::from_bytes(name.as_bytes()).ok();
        if let Some(name) = name.filter(|name| !is_ours(name.as_str())) {
            reply.set(name, &text);
        }
    }
    Ok(reply)
}

/// Gives an error the body that the document describes for its status, if a sample of that body can carry the code and
/// the message.
pub(crate) fn refused(described: &Served, mut reply: Reply, code: &str, message: &str) -> Reply {
    let status = reply.status;
    let range = format!("{}XX", &status.as_str()[..1]);
    let mut statuses = [status.as_str(), &range, "default"].into_iter();
    let responses = &described.raw["responses"];
    let shown = statuses.find_map(|known| responses.get(known));
    let shown = shown.map_or(&Value::Null, |shown| described.document.resolve(shown));
    let mut contents = members(&shown["content"]);
    let Some((media_type, content)) = contents.find(|(media_type, _)| is_json(media_type)) else {
        return reply;
    };
    let schema = &content["schema"];
    let mut body = described.sample(schema, 0).unwrap_or_default();
    let mut places = ["/error", "/errors/0", ""].into_iter();
    let inner = places.find(|place| body.pointer(place).is_some_and(carries));
    if let Some(inner) = inner.and_then(|place| body.pointer_mut(place)) {
        inner["code"] = code.into();
        inner["message"] = message.into();
        if check::holds(&described.document, Side::Reply, schema, &body) {
            reply.set(header::CONTENT_TYPE, media_type);
            reply.body = body.to_string().into();
        }
    }
    reply
}

/// Whether an error has `code` and `message` fields.
fn carries(error: &Value) -> bool {
    ["code", "message"].iter().all(|it| error.get(it).is_some())
}

/// Counts a command. Returns `false` for a replay by idempotency key; a different command with the same key is
/// rejected.
fn settle(call: &Call<'_>, described: &Served) -> Result<bool, Refusal> {
    let key = call.request.header("idempotency-key");
    let Some(key) = key.filter(|_| described.takes_header("idempotency-key")) else {
        call.committed();
        return Ok(true);
    };
    let bytes = &call.request.body;
    let body = match &*call.sent.canonical {
        "" => String::from_utf8_lossy(bytes),
        canonical => canonical.into(),
    };
    let query = call.request.query.as_deref().unwrap_or_default();
    let command = format!("{}?{query} {body}", call.request.path);
    let print = idempotency::fingerprint(call, &command);
    let settled = idempotency::once(call, key, print, |_| Ok(Value::Null));
    // The only documented code for this conflict, so that clients recognize it.
    let conflict = |it: Refusal| Refusal::conflict("IDEMPOTENCY_CONFLICT", it.message);
    Ok(!settled.map_err(conflict)?.replayed)
}

/// Returns the response for the status that `Prefer` names, or else the first documented success.
fn chosen<'d>(call: &Call<'_>, described: &'d Served) -> Result<(u16, &'d Value), Refusal> {
    let preferred = call.request.header("prefer").and_then(|prefer| {
        let mut wishes = prefer.split([',', ';']);
        wishes.find_map(|wish| wish.trim().strip_prefix("status="))
    });
    let mut replies = members(&described.raw["responses"]);
    let found = replies.find(|(status, _)| Some(status.as_str()) == preferred);
    let (status, shown) = found
        .or_else(|| described.success())
        .ok_or_else(|| no_sample(described, "no success is documented"))?;
    let status = status.parse().unwrap_or(200);
    Ok((status, described.document.resolve(shown)))
}

fn no_sample(described: &Served, why: &str) -> Refusal {
    Refusal::new(501, "no_sample", format!("{}: {why}", described.id))
}

/// Returns the media type and the sample body, if the response has a body. The type is the requested type, or else
/// JSON, or else the first type.
fn body<'d>(
    call: &Call<'_>,
    described: &'d Served,
    sent: &Sent,
    shown: &'d Value,
) -> Result<Option<(&'d str, Value)>, Refusal> {
    let accepted = call.request.header("accept").map(essence);
    let contents = || members(&shown["content"]);
    let found = contents()
        .find(|(media_type, _)| Some(essence(media_type)) == accepted)
        .or_else(|| contents().find(|(media_type, _)| is_json(media_type)))
        .or_else(|| contents().next());
    let Some((media_type, content)) = found else {
        return Ok(None);
    };
    let (document, schema) = (&described.document, &content["schema"]);
    let fits = |body: &Value| check::holds(document, Side::Reply, schema, body);
    let page = Page::of(call, described, sent)?;
    let named = members(&content["examples"]);
    let named = named.map(|(_, example)| &document.resolve(example)["value"]);
    let mut examples = content.get("example").into_iter().chain(named);
    let example = examples.find(|value| !value.is_null() && fits(value));
    let made = match (example, schema) {
        (Some(example), _) => Some(example.clone()),
        (None, Value::Null) => Some("sample".into()),
        (None, schema) => described.sample(schema, page.first),
    };
    let mut made = made
        .filter(|made| fits(made))
        .ok_or_else(|| no_sample(described, "no sample conforms to the schema"))?;
    if is_json(media_type) {
        echo(&mut made, described, sent, fits);
        page.cut(&mut made, call, fits);
    }
    Ok(Some((media_type, made)))
}

/// Copies fields of the request into fields with the same name, where they fit the schema. A path parameter that ends
/// in `Id` at the end of the path becomes the `id`.
fn echo(body: &mut Value, described: &Served, sent: &Sent, fits: impl Fn(&Value) -> bool) {
    let own = described.places().last().filter(|name| {
        name.to_lowercase().ends_with("id") && described.path.ends_with(&format!("{{{name}}}"))
    });
    let own = own.and_then(|name| Some(("id", sent.path.get(name)?)));
    let named = sent.body.iter().flat_map(members).chain(&sent.path);
    let named = named.map(|(name, value)| (name.as_str(), value));
    for (name, value) in own.into_iter().chain(named) {
        if let Some(field) = body.get_mut(name) {
            let before = std::mem::replace(field, value.clone());
            if !fits(body) {
                body[name] = before;
            }
        }
    }
}

/// The requested page. If the operation has `cursor` and `limit`, there are two pages, otherwise one.
struct Page {
    pages: Option<Binding>,
    /// The number of items on earlier pages.
    first: usize,
    limit: usize,
}

impl Page {
    fn of(call: &Call<'_>, described: &Served, sent: &Sent) -> Result<Page, Refusal> {
        let mut filters = sent.query.clone();
        let [cursor, limit] = ["cursor", "limit"].map(|name| filters.remove(name));
        let filters = format!("{filters:?}");
        let binding = Binding::new(&described.id, &[Some(&filters)]);
        let pages = described.takes_query("cursor") && described.takes_query("limit");
        let open = |it: Value| cursor::open(&call.suite.cursor_key, binding, &plain(&it));
        let first = cursor.filter(|_| pages).map(open).transpose()?;
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Page {
            pages: pages.then_some(binding),
            first: first.map_or(0, number),
            limit: limit.and_then(|it| it.as_u64()).map_or(usize::MAX, number),
        })
    }

    /// Truncates the lists of a page and sets the next cursor, or marks the page as the last.
    fn cut(&self, body: &mut Value, call: &Call<'_>, fits: impl Fn(&Value) -> bool) {
        let mut page = body.clone();
        let lists = page.as_object_mut().into_iter().flat_map(Map::values_mut);
        let lengths = lists.filter_map(Value::as_array_mut).map(|list| {
            list.truncate(self.limit);
            list.len()
        });
        let next = lengths.max().unwrap_or(0) as u64;
        let more = self.pages.filter(|_| self.first == 0 && next > 0);
        let cursor = more.map(|page| cursor::issue(&call.suite.cursor_key, page, next));
        let cursor = cursor.map(|cursor| Some(cursor.into()));
        // If the cursor is required and not nullable, only an empty string can mark the last page.
        let ends = [Some(Value::Null), None, Some("".into())];
        let name = NEXT.into_iter().find(|name| body.get(*name).is_some());
        for end in cursor.into_iter().chain(ends) {
            if let Some((name, page)) = name.zip(page.as_object_mut()) {
                page.remove(name);
                page.extend(end.map(|end| (name.to_owned(), end)));
            }
            if fits(&page) {
                *body = page;
                return;
            }
        }
    }
}
