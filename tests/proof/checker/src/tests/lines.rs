//! Parses events from lines of words. The words are numbers unless they are named here:
//!
//! ```text
//! opened [LIMIT]                                  called CALL KIND [STORED] [resends CALL]
//! exchange REQUEST                                attempt REQUEST CALL KEY [INSTALLATION [TENANT [PATH]]]
//! begun REQUEST BODY                              status REQUEST STATUS [RETRY-AFTER]
//! offered REQUEST SECONDS                         receipt CALL BODY RECORD [new]
//! error CALL EFFECT ATTEMPTS [BODY | tokenless]   wait SECONDS
//! ```

use crate::event::{
    Answer, Asked, Attempt, Command, Done, Effect, Event, Failed, Kind, Outcome, Sent, Terms,
};

/// The time between two events.
pub(super) const SECOND: u64 = 1_000_000;

#[expect(clippy::too_many_lines, reason = "one arm for each event")]
pub(super) fn event(line: &str) -> Event {
    let words: Vec<&str> = line.split(' ').collect();
    let place = |at: usize| words.get(at).and_then(|it| it.parse::<u64>().ok());
    let has = |word| words.contains(&word);
    let text = |at: usize| words[at].to_owned();
    // The ID of the request or call of the line.
    let request = place(1).unwrap_or_default();
    let (call, listing, command, audience) = (request, 1, 9, "crm".to_owned());
    let (list, installation, suite) = ("people".to_owned(), 1, 1);
    let departed = |installation: u64, sent| Event::Departed {
        request,
        suite,
        installation: u32::try_from(installation).unwrap(),
        sent,
    };
    let answered = |status, done| Event::Answered {
        request,
        answer: Answer {
            status,
            body: request,
            done,
            wait: place(3).map(|it| it * SECOND),
            odd: false,
        },
    };
    let outcome = |outcome| Event::Returned { call, outcome };
    match words[0] {
        "secret" => Event::Secret { text: text(1) },
        "exists" => Event::Exists {
            installation,
            list,
            record: text(1),
        },
        "called" => {
            let terms = Terms {
                suite,
                operation: "anything".to_owned(),
                kind: match words[2] {
                    "keyed" => Kind::Keyed,
                    "unkeyed" => Kind::Unkeyed,
                    _ => Kind::Read,
                },
                caller: 1,
                // Calls after a wait have no deadline.
                deadline: (call < 3).then_some(60 * SECOND),
                command: place(3),
                most: Some(2),
                timeout: 30 * SECOND,
                backoff: 2 * SECOND,
                resends: place(4),
                asked: Asked {
                    target: Some("/".to_owned()),
                    ..Asked::default()
                },
            };
            Event::Called { call, terms }
        }
        "opened" => Event::Opened {
            suite,
            most: place(1).and_then(|it| usize::try_from(it).ok()),
            retries: 100,
        },
        "stored" => Event::Stored {
            command,
            installation,
            form: form(Some("key"), 1),
        },
        "exchange" => departed(1, Sent::Exchange { audience }),
        "attempt" => {
            let installation = place(4).unwrap_or(1);
            let attempt = Attempt {
                call: place(2).unwrap(),
                audience,
                token: Some(7),
                tenant: u32::try_from(place(5).unwrap_or(installation)).unwrap(),
                key: Some(text(3)).filter(|key| key != "-"),
                target: words.get(6).unwrap_or(&"/").to_string(),
            };
            departed(installation, Sent::Attempt(attempt))
        }
        "begun" => Event::Begun {
            request,
            body: place(2).unwrap(),
        },
        "offered" => Event::Offered {
            request,
            takes: place(2).unwrap() * SECOND,
        },
        "arrived" => Event::Arrived { request },
        "issued" => {
            let issued = Done::Issued {
                token: 7,
                audience,
                stated: None,
                lasts: 300 * SECOND,
            };
            answered(200, issued)
        }
        "committed" => answered(201, Done::Committed { reference: text(2) }),
        "replayed" => answered(200, Done::Replayed { reference: text(2) }),
        "status" => answered(words[2].parse().unwrap(), Done::Nothing),
        "delivered" => Event::Delivered { request },
        "broke" => Event::Broke { request },
        "receipt" => outcome(Outcome::Receipt {
            body: place(2).unwrap(),
            key: Some("key".to_owned()),
            reference: text(3),
            replayed: !has("new"),
        }),
        "error" => outcome(Outcome::Error(Failed {
            effect: match words[2] {
                "refused" => Effect::Refused,
                "not-sent" => Effect::NotSent,
                _ => Effect::Unknown,
            },
            kind: String::new(),
            attempts: words[3].parse().unwrap(),
            tokenless: has("tokenless"),
            command: place(4).map(|body| form(None, body)),
        })),
        "dropped" => outcome(Outcome::Dropped),
        "began" => Event::ListingBegan {
            listing,
            installation,
            list,
        },
        "took" => Event::Took {
            listing,
            record: text(1),
        },
        "ended" => Event::ListingEnded { listing },
        "settled" => Event::Settled {
            command,
            reference: text(1),
        },
        "parked" => Event::Parked {
            command,
            was_sent: true,
            refused: has("refused"),
            reason: String::new(),
        },
        "line" => Event::Logged {
            line: line.to_owned(),
        },
        "faultless" => Event::Faultless,
        "stuck" => Event::Stuck {
            limit: "it used up all its steps".to_owned(),
        },
        "calm" => Event::Calm,
        "end" => Event::Ended,
        other => panic!("unknown event {other}"),
    }
}

fn form(key: Option<&str>, body: u64) -> Command {
    Command {
        key: key.map(str::to_owned),
        target: "/".to_owned(),
        body,
    }
}
