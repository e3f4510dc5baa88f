//! Error bodies: kind and effect follow from the status, the body is kept, and no text shows more than it may.

use http::HeaderValue;
use sdk_core::{Effect, ErrorKind};

use super::stage::{Stage, alone, is_sound, on, reply};
use super::{choice, line};
use crate::json::Json;

/// Statuses with their kind, and whether the same call may succeed later.
const KINDS: [(u16, ErrorKind, bool); 20] = [
    (302, ErrorKind::UnexpectedStatus, false),
    (400, ErrorKind::Rejected, false),
    (401, ErrorKind::Unauthenticated, false),
    (402, ErrorKind::Rejected, false),
    (403, ErrorKind::Forbidden, false),
    (404, ErrorKind::NotFound, false),
    (407, ErrorKind::Connect, false),
    (408, ErrorKind::Unavailable, true),
    (409, ErrorKind::Conflict, false),
    (413, ErrorKind::Rejected, false),
    (422, ErrorKind::Rejected, false),
    (429, ErrorKind::RateLimited, true),
    (431, ErrorKind::Rejected, false),
    (500, ErrorKind::Unavailable, true),
    (501, ErrorKind::Unavailable, false),
    (502, ErrorKind::Unavailable, true),
    (503, ErrorKind::Unavailable, true),
    (504, ErrorKind::Unavailable, true),
    (505, ErrorKind::Unavailable, false),
    (599, ErrorKind::Unavailable, true),
];

/// The first byte chooses application and status, the first line is the request id, and the rest is the body.
pub(super) fn run(data: &[u8]) {
    let (pick, rest) = choice(data);
    let (id, body) = line(rest);
    let (status, kind, passing) = KINDS[pick / 4 % KINDS.len()];
    let mut answer = reply(status, body.to_vec());
    if let Ok(id) = HeaderValue::from_bytes(id) {
        answer.headers_mut().insert("x-request-id", id);
    }
    let call = async |stage: &Stage| match pick % 4 {
        0 => stage.crm.people().get("PER-0123456789AB").await.err(),
        1 => {
            let command = sdk_calendar::types::EventCommand::new();
            stage.calendar.events().command(&command).await.err()
        }
        2 => stage.accounting.counterparties().list().await.err(),
        _ => stage.platform.apps().list().await.err(),
    };
    // A refused token is remembered.
    let error = match status {
        401 => alone(|suite| suite, None, vec![answer], call),
        _ => on(vec![answer], call),
    };
    let error = error.expect("it is no success");
    is_sound(&error);
    assert_eq!((error.kind(), error.status()), (kind, Some(status)));
    assert_eq!(error.body(), Some(body));
    if let Some(top) = str::from_utf8(body).ok().and_then(Json::read) {
        let inner = top.field("error");
        let named = |name: &str| inner.and_then(|it| it.field(name)).or(top.field(name));
        let code = named("code").and_then(Json::text);
        let code = code.or(inner.and_then(Json::text));
        assert_eq!(error.code().is_some(), code.is_some());
    }
    let refused = (400..500).contains(&status);
    let effects = [Effect::Unknown, Effect::Refused];
    assert_eq!(error.effect(), effects[usize::from(refused)]);
    // Only the Platform's envelope says more than the status, and never makes a refused request retryable.
    if pick % 4 != 3 || (refused && !passing) {
        assert_eq!(error.is_retryable(), passing);
    }
}
