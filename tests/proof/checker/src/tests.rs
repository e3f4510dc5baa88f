//! One history that keeps all laws, and for each law a change of it that breaks this one. An event is a line of words.

use crate::event::{Asked, Command, Done, Effect, Event, Kind, Sent, Told};
use crate::{History, check};

const SECOND: u64 = 1_000_000;

/// The lines with their words, all of which are numbers unless they say what they are:
///
/// ```text
/// opened [LIMIT]                                  called CALL KIND [STORED] [resends CALL]
/// exchange REQUEST                                attempt REQUEST CALL KEY [INSTALLATION [TENANT [PATH]]]
/// begun REQUEST BODY                              status REQUEST STATUS [RETRY-AFTER]
/// offered REQUEST SECONDS                         receipt CALL BODY RECORD [new]
/// error CALL EFFECT ATTEMPTS [BODY | tokenless]   wait SECONDS
/// ```
///
/// A token, a command whose first reply is lost and that is stored, a refusal, and a walk.
const GOOD: &str = "opened 1
secret hush
exists a
exists b
called 1 keyed 9
stored
exchange 1
arrived 1
issued 1
delivered 1
attempt 2 1 key
begun 2 1
arrived 2
committed 2 made
broke 2
attempt 3 1 key
begun 3 1
arrived 3
replayed 3 made
offered 3 1
delivered 3
receipt 1 3 made
settled made
called 2 unkeyed
attempt 4 2 -
begun 4 2
arrived 4
status 4 409
delivered 4
error 2 refused 1
began
took a
took made
took b
ended
line nothing to see
calm
end";

/// Each invariant, with the replaced lines that violate it.
const BROKEN: &str = "
every call ends
  error 2 refused 1 ->
no call outlives its deadline
  error 2 refused 1 -> wait 60, error 2 refused 1
a reply is what the server sent
  receipt 1 3 made -> receipt 1 4 made
a reply is what the server sent
  delivered 3 -> broke 3
an error counts its attempts
  error 2 refused 1 -> error 2 refused 2
what begins in calm succeeds
  end -> wait 180, called 3 read, error 3 unknown 0, end
a key has one body
  calm -> called 3 keyed, attempt 5 3 key, begun 5 3, dropped 3, calm
a key commits once
  replayed 3 made -> committed 3 made
a call commits once
  replayed 3 made -> committed 3 made
a call keeps its key
  attempt 3 1 key -> attempt 3 1 other
what has no key is sent again only if it had no effect
  status 4 409 -> status 4 503
  error 2 refused 1 -> attempt 5 2 -, broke 5, error 2 unknown 2
a receipt has its commit
  receipt 1 3 made -> receipt 1 3 other
not sent: the service saw nothing
  error 2 refused 1 -> error 2 not-sent 1 2
refused: the service said so
  status 4 409 -> committed 4 too
refused: the service said so
  arrived 4 ->
  status 4 409 ->
  delivered 4 -> broke 4
refused: the service said so
  attempt 4 2 - -> attempt 5 2 -, begun 5 2, broke 5, attempt 4 2 -
  error 2 refused 1 -> error 2 refused 2
unknown: an attempt is open
  error 2 refused 1 -> error 2 unknown 1 2
an error returns the command that was sent
  error 2 refused 1 -> error 2 unknown 1 1
an error returns the command that was sent
  error 2 refused 1 -> error 2 unknown 1
a resend is the same command
  called 2 unkeyed -> called 3 unkeyed, error 3 not-sent 0 1, called 2 unkeyed resends 3
a whole response is a result
  receipt 1 3 made -> error 1 unknown 2
headers stay in their installation
  attempt 4 2 - -> attempt 4 2 - 1 2
a call that can leave leaves
  called 2 unkeyed -> called 2 unkeyed, wait 5
a call that can leave leaves
  broke 2 -> broke 2, wait 5
a response is read when it comes
  offered 3 1 -> offered 3 0
a call ends with its response
  delivered 3 -> delivered 3, wait 5
a failure that may pass is tried again
  called 2 unkeyed -> called 2 read
  status 4 409 -> status 4 503
  error 2 refused 1 -> error 2 unknown 1
a rejected token is renewed
  status 4 409 -> status 4 401
without faults only rejected calls fail
  opened 1 -> faultless, opened 1
  called 2 unkeyed -> called 2 unkeyed, called 3 read, error 3 unknown 0
a call is attempted
  called 2 unkeyed -> called 2 unkeyed, called 1 keyed, error 1 not-sent 0 1
a rejected call is not sent again
  error 2 refused 1 -> attempt 5 2 -, begun 5 2, status 5 409, delivered 5, error 2 refused 2
rejected exchanges are not repeated in a loop
  calm -> exchange 8, status 8 401, delivered 8, exchange 9, =status 9 401, =delivered 9, =exchange 10, calm
a call keeps its key
  attempt 4 2 - -> attempt 4 2 key
a call sends what its caller asked for
  attempt 4 2 - -> attempt 4 2 - 1 1 /other
the attempts of a call follow each other
  broke 2 ->
an attempt has its timeout
  broke 2 -> wait 40, broke 2
a call stops after a few 401s
  status 4 409 -> status 4 401, delivered 4, attempt 5 2 -, status 5 401, delivered 5, attempt 6 2 -, status 6 401, delivered 6, attempt 7 2 -, status 7 401, delivered 7, attempt 8 2 -, status 8 401, delivered 8
  error 2 refused 1 -> error 2 refused 5
a list delivers its own records
  took made -> took other
a simulation ends within its limits
  end -> stuck
a token stays in its installation
  attempt 4 2 - -> attempt 4 2 - 2
no dead token is sent
  calm -> wait 300, called 3 read, attempt 5 3 -, dropped 3, calm
one exchange at a time
  issued 1 -> exchange 8, issued 1
one exchange a generation
  calm -> exchange 8, calm
a live token serves
  calm -> called 3 read, error 3 not-sent 0 tokenless, calm
a walk delivers once
  took made -> took made, took made
a walk keeps the order
  took a -> took b
  took b -> took a
  ended ->
a walk ends at the end
  took b ->
refused: the service said so
  called 2 unkeyed -> called 3 unkeyed, attempt 5 3 -, begun 5 2, broke 5, error 3 unknown 1 2, called 2 unkeyed resends 3
a receipt says what the server said
  receipt 1 3 made -> receipt 1 3 made new
an attempt belongs to its call
  calm -> attempt 5 2 -, calm
no attempt is sooner than asked
  broke 2 -> wait 0
  committed 2 made -> status 2 503 9, delivered 2
a call makes no more attempts than allowed
  broke 2 -> broke 2, attempt 5 1 key, broke 5
a revoked token is not sent again
  status 4 409 -> status 4 401
  calm -> wait 9, called 3 read, attempt 5 3 -, dropped 3, calm
no more attempts at once than allowed
  broke 2 ->
a walk ends once the world is calm
  ended ->
a stored command is sent as it is
  attempt 3 1 key -> attempt 3 1 key 2
a stored command is sent as it is
  attempt 3 1 key -> attempt 3 1 -
a stored receipt has its one commit
  settled made -> settled other
a stored command reaches its receipt
  settled made ->
a refused command had no effect
  settled made -> parked refused
no line shows a secret
  line nothing to see -> line so hush!
";

/// The event of a line.
#[expect(clippy::too_many_lines, reason = "one arm for each event")]
fn event(line: &str) -> Event {
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
        let (request, body) = (number(1), number(1));
        Event::Answered {
            request,
            status,
            body,
            done,
            wait: words
                .get(3)
                .and_then(|it| it.parse::<u64>().ok())
                .map(|it| it * SECOND),
            odd: false,
        }
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
        "called" => Event::Called {
            call: number(1),
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
            attempts: Some(2),
            timeout: 30 * SECOND,
            backoff: 2 * SECOND,
            resends: words.get(4).and_then(|it| it.parse().ok()),
            asked: Asked {
                target: Some("/".to_owned()),
                ..Asked::default()
            },
        },
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

/// A history of these lines. Each is one second after the line before, unless that is a delivery or a call, or this begins
/// with `=`.
fn history(lines: &[&str]) -> History {
    let (mut history, mut now, mut instant) = (History::default(), 0, true);
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let whole = line.trim_start_matches('=');
        now += SECOND * u64::from(!instant && whole == *line);
        match line.strip_prefix("wait ") {
            Some(seconds) => now += seconds.parse::<u64>().unwrap() * SECOND,
            None => history.record(now, event(whole)),
        }
        instant = line.starts_with("delivered") || line.starts_with("called");
    }
    history
}

fn broken(lines: &[&str]) -> Vec<&'static str> {
    let violations = check(&history(lines));
    violations.iter().map(|violation| violation.law).collect()
}

#[test]
fn a_history_that_keeps_the_laws_breaks_none() {
    let lines: Vec<_> = GOOD.lines().collect();
    assert_eq!(broken(&lines), Vec::<&str>::new());
}

#[test]
fn only_equal_histories_have_equal_digests() {
    let lines: Vec<_> = GOOD.lines().collect();
    let digest = |lines| history(lines).digest();
    assert_eq!(digest(&lines), digest(&lines));
    assert_ne!(digest(&lines), digest(&lines[1..]));
}

/// Whether the lines of `GOOD` with these changes break this invariant, and few others.
fn is_found(invariant: &str, changes: &[(&str, &str)]) {
    for (old, _) in changes {
        assert!(GOOD.lines().any(|line| line == *old), "{old}");
    }
    let lines = GOOD.lines().flat_map(|line| {
        let change = changes.iter().find(|(old, _)| *old == line);
        change.map_or(line, |(_, new)| new).split(", ")
    });
    let found = broken(&lines.collect::<Vec<_>>());
    assert!(found.contains(&invariant), "{invariant}: {found:?}");
    assert!(found.len() <= 7, "{invariant}: {found:?}");
}

#[test]
fn each_broken_invariant_is_found() {
    let mut changes = Vec::new();
    for line in BROKEN.trim().lines().rev() {
        match line.strip_prefix("  ") {
            Some(change) => {
                let (old, new) = change.split_once(" ->").unwrap();
                changes.push((old, new.trim_start()));
            }
            None => is_found(line, &std::mem::take(&mut changes)),
        }
    }
}

#[test]
fn a_command_is_parked_only_for_a_reason() {
    let parked = GOOD.replace("settled made", "parked sent");
    let laws = broken(&parked.lines().collect::<Vec<_>>());
    assert_eq!(laws, ["a command is parked for a reason"]);
}
