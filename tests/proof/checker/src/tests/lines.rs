//! Events as lines of words, all of which are numbers unless they say what they are:
//!
//! ```text
//! opened [LIMIT]                                  called CALL KIND [STORED] [resends CALL]
//! exchange REQUEST                                attempt REQUEST CALL KEY [INSTALLATION [TENANT [PATH]]]
//! begun REQUEST BODY                              status REQUEST STATUS [RETRY-AFTER]
//! offered REQUEST SECONDS                         receipt CALL BODY RECORD [new]
//! error CALL EFFECT ATTEMPTS [BODY | tokenless]   wait SECONDS
//! ```

use crate::event::{Answer, Asked, Command, Done, Effect, Event, Kind, Sent, Terms, Told};

/// The step of time between two lines.
pub(super) const SECOND: u64 = 1_000_000;

/// The event of a line.
#[expect(clippy::too_many_lines, reason = "one arm for each event")]
pub(super) fn event(line: &str) -> Event {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let text = |at: usize| words[at].to_owned();
    let departed = |installation, sent| {
        let (request, suite) = (number(1), 1);
        Event::Departed {
            request,
            suite,
            installation,
            sent,
        }
    };
    let answered = |status, done| {
        let (request, body, odd) = (number(1), number(1), false);
        let wait = words.get(3).and_then(|it| it.parse::<u64>().ok());
        let wait = wait.map(|it| it * SECOND);
        let answer = Answer {
            status,
            body,
            done,
            wait,
            odd,
        };
        Event::Answered { request, answer }
    };
    let told = |told| Event::Returned {
        call: number(1),
        told,
    };
    let audience = || "crm".to_owned();
    match words[0] {
        "secret" => Event::Secret { text: text(1) },
        "exists" => Event::Exists {
            installation: 1,
            list: "people".to_owned(),
            record: text(1),
        },
        "called" => {
            let terms = Terms {
                suite: 1,
                operation: "anything".to_owned(),
                kind: match words[2] {
                    "keyed" => Kind::Keyed,
                    "unkeyed" => Kind::Unkeyed,
                    _ => Kind::Read,
                },
                caller: 1,
                // The calls that come after a wait have none.
                deadline: (number(1) < 3).then_some(60 * SECOND),
                command: words.get(3).and_then(|it| it.parse().ok()),
                most: Some(2),
                timeout: 30 * SECOND,
                backoff: 2 * SECOND,
                resends: words.get(4).and_then(|it| it.parse().ok()),
                asked: Asked {
                    target: Some("/".to_owned()),
                    ..Asked::default()
                },
            };
            let call = number(1);
            Event::Called { call, terms }
        }
        "opened" => Event::Opened {
            suite: 1,
            most: words.get(1).and_then(|it| it.parse().ok()),
            retries: 100,
        },
        "stored" => Event::Stored {
            command: 9,
            installation: 1,
            form: form(Some("key"), 1),
        },
        "exchange" => departed(
            1,
            Sent::Exchange {
                audience: audience(),
            },
        ),
        "attempt" => {
            let key = Some(text(3)).filter(|key| key != "-");
            let place = |at: usize| words.get(at).and_then(|it| it.parse().ok());
            let installation = place(4).unwrap_or(1);
            let sent = Sent::Attempt {
                call: number(2),
                audience: audience(),
                token: Some(7),
                tenant: place(5).unwrap_or(installation),
                key,
                target: words.get(6).unwrap_or(&"/").to_string(),
            };
            departed(installation, sent)
        }
        "begun" => {
            let (request, body) = (number(1), number(2));
            Event::Begun { request, body }
        }
        "offered" => {
            let (request, takes) = (number(1), number(2) * SECOND);
            Event::Offered { request, takes }
        }
        "arrived" => Event::Arrived { request: number(1) },
        "issued" => {
            let (token, audience, lasts) = (7, audience(), 300 * SECOND);
            answered(
                200,
                Done::Issued {
                    token,
                    audience,
                    stated: None,
                    lasts,
                },
            )
        }
        "committed" => answered(201, Done::Committed { reference: text(2) }),
        "replayed" => answered(200, Done::Replayed { reference: text(2) }),
        "status" => answered(words[2].parse().unwrap(), Done::Nothing),
        "delivered" => Event::Delivered { request: number(1) },
        "broke" => Event::Broke { request: number(1) },
        "receipt" => {
            let (body, key, reference) = (number(2), Some("key".to_owned()), text(3));
            told(Told::Receipt {
                body,
                key,
                reference,
                replayed: !words.contains(&"new"),
            })
        }
        "error" => told(Told::Error {
            effect: match words[2] {
                "refused" => Effect::Refused,
                "not-sent" => Effect::NotSent,
                _ => Effect::Unknown,
            },
            kind: String::new(),
            attempts: words[3].parse().unwrap(),
            tokenless: words.contains(&"tokenless"),
            command: words
                .get(4)
                .and_then(|it| it.parse().ok())
                .map(|body| form(None, body)),
        }),
        "dropped" => told(Told::Dropped),
        "began" => Event::WalkBegan {
            walk: 1,
            installation: 1,
            list: "people".to_owned(),
        },
        "took" => Event::Took {
            walk: 1,
            record: text(1),
        },
        "ended" => Event::WalkEnded { walk: 1 },
        "settled" => Event::Settled {
            command: 9,
            reference: text(1),
        },
        "parked" => {
            let (refused, reason) = (words.contains(&"refused"), String::new());
            Event::Parked {
                command: 9,
                was_sent: true,
                refused,
                reason,
            }
        }
        "line" => Event::Logged {
            line: line.to_owned(),
        },
        "faultless" => Event::Faultless,
        "stuck" => Event::Stuck {
            limit: "it took all its steps".to_owned(),
        },
        "calm" => Event::Calm,
        "end" => Event::Ended,
        other => panic!("no event is called {other}"),
    }
}

fn form(key: Option<&str>, body: u64) -> Command {
    Command {
        key: key.map(str::to_owned),
        target: "/".to_owned(),
        body,
    }
}
