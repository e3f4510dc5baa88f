//! Error bodies. The status determines kind and effect, the body is preserved, and no message contains a secret.

use http::HeaderValue;
use sdk_core::{Effect, ErrorKind};

use super::stage::{Stage, alone, is_sound, on, reply};
use super::{choice, line};
use crate::json::Json;

/// Statuses with their error kind, and whether the error is retryable.
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

/// The first byte selects the application and the status. The first line is the request ID, and the rest is the body.
pub(super) fn run(data: &[u8]) {
    let (pick, rest) = choice(data);
    let (id, body) = line(rest);
    let (status, kind, retryable) = KINDS[pick / 4 % KINDS.len()];
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
    // Uses separate clients, because a suite remembers a rejected token.
    let error = match status {
        401 => alone(|suite| suite, None, vec![answer], call),
        _ => on(vec![answer], call),
    };
    let error = error.expect("the call fails");
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
    let rejected = (400..500).contains(&status);
    let effects = [Effect::Unknown, Effect::Refused];
    assert_eq!(error.effect(), effects[usize::from(rejected)]);
    // Only the Platform's envelope can change whether an error is retryable, but not for a rejected request.
    if pick % 4 != 3 || (rejected && !retryable) {
        assert_eq!(error.is_retryable(), retryable);
    }
}
