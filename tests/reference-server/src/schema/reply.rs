//! Replies: samples of what the document shows, with what was sent where it fits.

use http::{HeaderName, Method, header};
use serde_json::{Map, Value};

use super::check::{self, Side};
use super::document::{members, plain};
use super::request::{Sent, essence, is_json};
use super::served::Served;
use crate::call::{Answer, Call};
use crate::cursor::{self, Binding};
use crate::faults::FRAMING;
use crate::idempotency;
use crate::json::{Json, Members};
use crate::message::Reply;
use crate::refusal::Refusal;

/// The members of a page that name the next one.
const NEXT: [&str; 2] = ["nextCursor", "next_cursor"];

/// Headers that say of the body what is not true of a sample; those that frame the message are left out too.
const OURS: [&str; 2] = ["content-type", "content-encoding"];

/// Answers a request that keeps the rules. The generated list of handlers names it where a spec says
/// `x-served-from-schema`.
pub(crate) fn serve(call: &Call<'_>) -> Answer {
    let (described, sent) = (call.operation, &call.sent);
    let (mut status, shown) = chosen(call, described)?;
    let mut body = body(call, described, sent, shown)?;
    if !["GET", "HEAD"].contains(&described.method.as_str())
        && status < 400
        && !settle(call, described)?
    {
        if let Some(replayed) = body.as_mut().and_then(|(_, body)| body.get_mut("replayed")) {
            *replayed = true.into();
        }
        let other = described.raw["x-replay-status"].as_u64();
        status = other
            .and_then(|other| other.try_into().ok())
            .unwrap_or(status);
    }
    let mut reply = match body {
        Some((media_type, body)) if status != 204 && call.request.method != Method::HEAD => {
            let text = if is_json(media_type) {
                body.to_string()
            } else {
                plain(&body)
            };
            Reply::text(status, media_type, text)
        }
        _ => Reply::empty(status),
    };
    for (name, shown) in members(&shown["headers"]) {
        let shown = described.document.resolve(shown);
        let example = shown.get("example").cloned();
        let value = example.or_else(|| described.sample(&shown["schema"], 0));
        let items = value.iter().flat_map(|value| {
            value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice)
        });
        let text = items.map(plain).collect::<Vec<_>>().join(", ");
        let name = HeaderName::from_bytes(name.as_bytes()).ok();
        if let Some(name) =
            name.filter(|name| !OURS.contains(&name.as_str()) && !FRAMING.contains(&name.as_str()))
        {
            reply.set(name, &text);
        }
    }
    Ok(reply)
}

/// Gives an error reply the body that the document describes for its status, if a sample of that can carry the code and
/// the message.
pub(crate) fn refused(described: &Served, mut reply: Reply, code: &str, message: &str) -> Reply {
    let status = reply.status;
    let status = status.as_str();
    let range = format!("{}XX", &status[..1]);
    let responses = &described.raw["responses"];
    let mut shown = [status, &range, "default"]
        .into_iter()
        .filter_map(|known| responses.get(known));
    let shown = shown.next().map(|shown| described.document.resolve(shown));
    let mut contents = shown
        .into_iter()
        .flat_map(|shown| members(&shown["content"]));
    let Some((media_type, content)) = contents.find(|(media_type, _)| is_json(media_type)) else {
        return reply;
    };
    let schema = &content["schema"];
    let mut body = described.sample(schema, 0).unwrap_or_default();
    let inner = ["/error/code", "/errors/0/code"]
        .into_iter()
        .find(|place| body.pointer(place).is_some());
    let inner = inner.map_or("", |place| place.trim_end_matches("/code"));
    for (name, text) in [("code", code), ("message", message)] {
        match body.pointer_mut(&format!("{inner}/{name}")) {
            Some(member) => *member = text.into(),
            None => return reply,
        }
    }
    if check::holds(&described.document, Side::Reply, schema, &body) {
        reply.set(header::CONTENT_TYPE, media_type);
        reply.body = body.to_string().into();
    }
    reply
}

/// Counts a command, unless its key says that it was committed before: then that is refused or not true.
fn settle(call: &Call<'_>, described: &Served) -> Result<bool, Refusal> {
    let key = call.request.header("idempotency-key");
    let Some(key) = key.filter(|_| described.takes_header("idempotency-key")) else {
        call.committed();
        return Ok(true);
    };
    let text = |bytes: &[u8]| Json::Text(String::from_utf8_lossy(bytes).into_owned());
    let target = [
        call.request.path.as_str(),
        call.request.query.as_deref().unwrap_or_default(),
    ];
    let body = call.request.body()?;
    let body = Json::read(body).unwrap_or_else(|_| text(body));
    let command = [(target.join("?"), body)];
    let print = idempotency::fingerprint(call, &Json::Object(Members::from(command)));
    let settled = idempotency::once(call, key, print, |_| Ok(Value::Null));
    // The one code that is documented anywhere, so that a client knows it.
    let settled =
        settled.map_err(|refusal| Refusal::conflict("IDEMPOTENCY_CONFLICT", refusal.message))?;
    Ok(!settled.replayed)
}

/// The first documented success, or the status that `Prefer` names if that one is documented.
fn chosen<'d>(call: &Call<'_>, described: &'d Served) -> Result<(u16, &'d Value), Refusal> {
    let preferred = call.request.header("prefer").and_then(|prefer| {
        let mut wishes = prefer.split([',', ';']);
        wishes.find_map(|wish| wish.trim().strip_prefix("status="))
    });
    let replies = || members(&described.raw["responses"]);
    let found = replies().find(|(status, _)| Some(status.as_str()) == preferred);
    let (status, shown) = found.or_else(|| described.success()).ok_or_else(|| {
        let message = format!("{}: no success is documented", described.id);
        Refusal::new(501, "no_sample", message)
    })?;
    Ok((
        status.parse().unwrap_or(200),
        described.document.resolve(shown),
    ))
}

/// The media type and the body, if one is documented: of the type that is asked for, or else JSON, or else the first.
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
    let named =
        members(&content["examples"]).map(|(_, example)| &document.resolve(example)["value"]);
    let mut examples = content.get("example").into_iter().chain(named);
    let example = examples
        .find(|value| !value.is_null() && fits(value))
        .cloned();
    let made = example.or_else(|| match schema {
        Value::Null => Some("sample".into()),
        schema => described.sample(schema, page.first),
    });
    let mut made = made.unwrap_or_default();
    if is_json(media_type) {
        echo(&mut made, described, sent, fits);
        page.cut(&mut made, call, fits);
    }
    if !fits(&made) {
        let message = format!("{}: no sample conforms to the schema", described.id);
        return Err(Refusal::new(501, "no_sample", message));
    }
    Ok(Some((media_type, made)))
}

/// Puts what was sent into the members of that name, where it fits. What ends the path, if it ends in `Id`, is the `id`.
fn echo(body: &mut Value, described: &Served, sent: &Sent, fits: impl Fn(&Value) -> bool) {
    let own = described.places().last().filter(|name| {
        name.to_lowercase().ends_with("id") && described.path.ends_with(&format!("{{{name}}}"))
    });
    let own = own.and_then(|name| Some(("id", sent.path.get(name)?)));
    let named = sent.body.iter().flat_map(members).chain(&sent.path);
    let named = named.map(|(name, value)| (name.as_str(), value));
    for (name, value) in own.into_iter().chain(named) {
        if let Some(member) = body.get_mut(name) {
            let before = std::mem::replace(member, value.clone());
            if !fits(body) {
                body[name] = before;
            }
        }
    }
}

/// The page that is asked for: the first or the second if there is a `cursor` and a `limit`, and the only one otherwise.
struct Page {
    pages: Option<Binding>,
    /// How many items came before.
    first: usize,
    limit: usize,
}

impl Page {
    fn of(call: &Call<'_>, described: &Served, sent: &Sent) -> Result<Page, Refusal> {
        let others = sent
            .query
            .iter()
            .filter(|(name, _)| *name != "cursor" && *name != "limit");
        let filters: Vec<_> = others
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let binding = Binding::new(&described.id, &[Some(&filters.join("&"))]);
        let pages = described.takes_query("cursor") && described.takes_query("limit");
        let cursor = sent.query.get("cursor").filter(|_| pages).map(plain);
        let open = |cursor: String| cursor::open(&call.suite.cursor_key, binding, &cursor);
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Page {
            pages: pages.then_some(binding),
            first: cursor.map(open).transpose()?.map_or(0, number),
            limit: sent
                .query
                .get("limit")
                .and_then(Value::as_u64)
                .map_or(usize::MAX, number),
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
        let cursor = more.map(|page| cursor::issue(&call.suite.cursor_key, page, next));
        // Without null and as a required member, an empty text is all that is left to say that there is no more.
        let ends = [Some(Value::Null), None, Some("".into())];
        for value in cursor
            .map(|cursor| Some(cursor.into()))
            .into_iter()
            .chain(ends)
        {
            let mut page = body.clone();
            page.as_object_mut().and_then(|page| page.remove(name));
            if let Some(value) = value {
                page[name] = value;
            }
            if fits(&page) {
                *body = page;
                return;
            }
        }
    }
}
