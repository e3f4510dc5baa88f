//! Replies of a transport of the caller's own: the same limits hold as over sockets.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName};
use http_body::{Body as _, Frame};
use http_body_util::StreamBody;
use sdk_core::transport::{ReplyBody, RequestBody};
use sdk_core::{Effect, ErrorKind};
use tokio::time::sleep;

use super::service::{Scripted, reply};
use crate::fixtures::{add_person, get_person};
use crate::support::{Clients, assert_says, assert_tried, quick_tokens_with};

const PERSON: &str = r#"{"publicReference": "PER-0123456789AB", "displayName": "Ann"}"#;

enum Piece {
    Data(&'static str),
    Trailers,
    Pause(Duration),
    Reset,
}

/// A body in pieces.
fn body(pieces: impl IntoIterator<Item = Piece, IntoIter: Send + 'static>) -> ReplyBody {
    let pieces = stream::iter(pieces).then(|piece| async move {
        match piece {
            Piece::Data(text) => Ok(Frame::data(Bytes::from(text))),
            Piece::Trailers => Ok(Frame::trailers(HeaderMap::new())),
            Piece::Reset => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
            Piece::Pause(length) => {
                sleep(length).await;
                Ok(Frame::data(Bytes::new()))
            }
        }
    });
    ReplyBody::new(StreamBody::new(pieces))
}

fn with(name: HeaderName, value: &'static str) -> Scripted {
    Scripted::new(move |_| {
        let mut reply = reply(200, PERSON);
        reply
            .headers_mut()
            .insert(name.clone(), value.parse().unwrap());
        std::future::ready(Ok(reply))
    })
}

#[tokio::test(start_paused = true)]
async fn a_body_in_pieces_is_read_to_its_end() {
    let scripted = Scripted::new(|_| async {
        let (one, two) = PERSON.split_at(20);
        let pause = Piece::Pause(Duration::from_secs(3));
        let pieces = [Piece::Data(one), pause, Piece::Data(two), Piece::Trailers];
        Ok(reply(200, body(pieces)))
    });
    let person = get_person(&scripted.suite().crm()).await.unwrap();
    assert_eq!(person.bytes(), PERSON);
    assert_eq!(scripted.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn fault_16_a_body_that_breaks_off_or_drips_too_long_is_lost() {
    for (end, kind) in [
        (|| Piece::Reset, ErrorKind::Transport),
        (|| Piece::Pause(Duration::from_secs(60)), ErrorKind::Timeout),
    ] as [(fn() -> Piece, ErrorKind); 2]
    {
        let scripted = Scripted::new(move |request| async move {
            request.into_body().into_bytes().unwrap();
            let pieces = [Piece::Data("{\"a\":"), end(), Piece::Data("1}")];
            Ok(reply(201, body(pieces)))
        });
        let error = add_person(&scripted.suite().crm()).await.unwrap_err();
        assert_tried(&error, kind, Effect::Unknown, 1);
        assert_eq!(error.status(), Some(201));
    }
}

/// Always ready, and never done.
#[tokio::test]
async fn fault_15_pieces_without_an_end_do_not_hold_the_deadline_up() {
    for piece in [|| Piece::Data(""), || Piece::Trailers] as [fn() -> Piece; 2] {
        let scripted = Scripted::new(move |_| async move {
            let pieces = std::iter::repeat_with(piece);
            Ok(reply(200, body(pieces)))
        });
        let soon = Duration::from_millis(50);
        let call = get_person(&scripted.suite().crm()).deadline(soon).send();
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Timeout);
    }
}

#[tokio::test]
async fn fault_16_a_body_shorter_than_announced_is_cut_off() {
    let scripted = with(CONTENT_LENGTH, "999");
    let error = get_person(&scripted.suite().crm()).await.unwrap_err();
    assert_tried(&error, ErrorKind::Transport, Effect::Unknown, 3);
    assert_eq!(error.status(), Some(200));
}

#[tokio::test]
async fn fault_30_a_body_is_bounded_whoever_brings_it() {
    let endless = Scripted::new(|_| async {
        let megabytes = (0..40).map(|_| Piece::Data(include_str!("replies.rs")));
        Ok(reply(200, body(megabytes)))
    });
    for scripted in [with(CONTENT_LENGTH, "4611686018427387904"), endless] {
        let crm = scripted.suite().max_response_bytes(10_000).crm();
        let error = get_person(&crm).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert_says(&error, &["larger than 10000 bytes"]);
    }
}

#[tokio::test]
async fn a_body_and_a_token_may_be_as_large_as_allowed_and_no_larger() {
    const TOKEN: &str = r#"{"access_token": "t-1", "token_type": "Bearer", "expires_in": 300}"#;
    for (at, announced) in [(0, true), (0, false), (20, false)] {
        let scripted = Scripted::new(move |request| async move {
            let is_token = request.uri().path().ends_with("/oauth/token");
            let text = if is_token { TOKEN } else { PERSON };
            let (one, two) = text.split_at(at);
            let mut reply = reply(200, body([one, two].map(Piece::Data)));
            if announced {
                let length = text.len().into();
                reply.headers_mut().insert(CONTENT_LENGTH, length);
            }
            Ok(reply)
        })
        .without_tokens();
        let crm = |reply, token| {
            let tokens = quick_tokens_with(|it| it.max_response_bytes = token);
            let suite = scripted.suite().token_policy(tokens);
            suite.max_response_bytes(reply).crm()
        };
        let (reply, token) = (PERSON.len(), TOKEN.len());
        get_person(&crm(reply, token)).await.unwrap();
        let error = get_person(&crm(reply - 1, token)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        let error = get_person(&crm(reply, token - 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenUnavailable, "{error}");
    }
}

#[test]
fn a_whole_body_tells_its_length_and_its_end() {
    for (text, length) in [("", 0), ("abc", 3)] {
        let reply = ReplyBody::from(text);
        let request = RequestBody::from(text);
        assert_eq!(reply.size_hint().exact(), Some(length));
        assert_eq!(request.size_hint().exact(), Some(length));
        assert_eq!(reply.is_end_stream(), text.is_empty());
        assert_eq!(request.is_end_stream(), text.is_empty());
        assert_eq!(request.into_bytes().unwrap(), text);
    }
}

#[tokio::test]
async fn a_body_that_nobody_decoded_is_called_what_it_is() {
    let scripted = with(CONTENT_ENCODING, "br");
    let error = get_person(&scripted.suite().crm()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert_says(&error, &["compressed (br)", "transport"]);
    let scripted = with(CONTENT_ENCODING, "identity");
    get_person(&scripted.suite().crm()).await.unwrap();
}
