//! Responses of a custom transport. The limits are the same as over sockets.

use std::future::ready;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, Request};
use http_body::Frame;
use http_body_util::StreamBody;
use sdk_core::transport::{RequestBody, ResponseBody};
use sdk_core::{Effect, ErrorKind, SuiteBuilder};
use tokio::time::sleep;

use super::{Answers, answered, reply};
use crate::fixtures::{add_person, get_person};
use crate::support::{Clients, assert_says, assert_tried, builder_at, quick_tokens_with};

const PERSON: &str = r#"{"publicReference": "PER-0123456789AB", "displayName": "Ann"}"#;

#[derive(Clone, Copy)]
enum Piece {
    Data(&'static str),
    Trailers,
    Pause(Duration),
    Reset,
}

fn body(pieces: impl IntoIterator<Item = Piece, IntoIter: Send + 'static>) -> ResponseBody {
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
    ResponseBody::new(StreamBody::new(pieces))
}

/// Returns a suite whose transport answers with these pieces.
fn sending<P>(status: u16, pieces: P) -> SuiteBuilder
where
    P: IntoIterator<Item = Piece, IntoIter: Send + 'static> + Clone + Send + Sync + 'static,
{
    answered(move |request| {
        request.into_body().into_bytes().unwrap();
        ready(Ok(reply(status, body(pieces.clone()))))
    })
}

/// Returns a suite whose transport answers with a person and this header.
fn with(name: HeaderName, value: &'static str) -> SuiteBuilder {
    answered(move |_| {
        let mut reply = reply(200, PERSON);
        let value = value.parse().unwrap();
        reply.headers_mut().insert(name.clone(), value);
        ready(Ok(reply))
    })
}

#[tokio::test(start_paused = true)]
async fn a_body_from_any_transport_is_read_within_the_limits() {
    type Row = (SuiteBuilder, ErrorKind, u32, &'static str);
    let (one, two) = PERSON.split_at(20);
    let pause = Piece::Pause(Duration::from_secs(3));
    let pieces = [Piece::Data(one), pause, Piece::Data(two), Piece::Trailers];
    let person = get_person(&sending(200, pieces).crm()).await.unwrap();
    assert_eq!(
        (person.bytes(), person.attempts()),
        (&Bytes::from(PERSON), 1)
    );
    let encoded = |encoding| with(CONTENT_ENCODING, encoding);
    get_person(&encoded("identity").crm()).await.unwrap();

    let (decode, transport) = (ErrorKind::Decode, ErrorKind::Transport);
    let announced = |length| with(CONTENT_LENGTH, length);
    let large = "larger than 10000 bytes";
    let endless = std::iter::repeat_n(Piece::Data(include_str!("replies.rs")), 40);
    let rows: [Row; 4] = [
        (announced("999"), transport, 3, ""),
        (announced("4611686018427387904"), decode, 1, large),
        (sending(200, endless), decode, 1, large),
        (encoded("br"), decode, 1, "compressed (br)"),
    ];
    for (suite, kind, attempts, word) in rows {
        let error = get_person(&suite.max_response_bytes(10_000).crm()).await;
        let error = error.unwrap_err();
        assert_tried(&error, kind, Effect::Unknown, attempts);
        assert_eq!(error.status(), Some(200));
        assert_says(&error, &[word]);
    }
    let hour = Piece::Pause(Duration::from_secs(3_600));
    for (end, kind) in [
        (Piece::Reset, ErrorKind::Transport),
        (hour, ErrorKind::Timeout),
    ] {
        let suite = sending(201, [Piece::Data("{\"a\":"), end, Piece::Data("1}")]);
        let error = add_person(&suite.crm()).await.unwrap_err();
        assert_tried(&error, kind, Effect::Unknown, 1);
        assert_eq!(error.status(), Some(201));
    }
}

/// The pieces are always ready and never end.
#[tokio::test]
async fn endless_pieces_do_not_delay_the_deadline() {
    for piece in [Piece::Data(""), Piece::Trailers] {
        let crm = sending(200, std::iter::repeat(piece)).crm();
        let call = get_person(&crm).deadline(Duration::from_millis(50));
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Timeout);
    }
}

#[tokio::test]
async fn a_body_and_a_token_may_have_exactly_the_allowed_size() {
    const TOKEN: &str = r#"{"access_token": "t-1", "token_type": "Bearer", "expires_in": 300}"#;
    for (at, announced) in [(0, true), (0, false), (20, false)] {
        let service = Answers(move |request: Request<RequestBody>| {
            let is_token = request.uri().path().ends_with("/oauth/token");
            let text = if is_token { TOKEN } else { PERSON };
            let (one, two) = text.split_at(at);
            let mut reply = reply(200, body([one, two].map(Piece::Data)));
            if announced {
                let length = text.len().into();
                reply.headers_mut().insert(CONTENT_LENGTH, length);
            }
            ready(Ok(reply))
        });
        let call = |most, most_of_token| {
            let tokens = quick_tokens_with(|it| it.max_response_bytes = most_of_token);
            let suite = builder_at("https://suite.test").token_policy(tokens);
            let suite = suite.max_response_bytes(most).transport(service.clone());
            get_person(&suite.crm()).send()
        };
        let (most, most_of_token) = (PERSON.len(), TOKEN.len());
        call(most, most_of_token).await.unwrap();
        let error = call(most - 1, most_of_token).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{error}");
        let error = call(most, most_of_token - 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TokenUnavailable, "{error}");
    }
}
