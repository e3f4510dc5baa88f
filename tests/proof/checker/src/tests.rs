//! One history that keeps all laws, and for each law a change of it that breaks this one. An event is some words between commas.

mod lines;

use crate::{History, check};
use lines::{SECOND, event};

/// A token, a command whose first reply is lost and that is stored, a refusal, and a walk.
const GOOD: &str = "
opened 1, secret hush, exists a, exists b
called 1 keyed 9, stored, exchange 1, arrived 1, issued 1, delivered 1
attempt 2 1 key, begun 2 1, arrived 2, committed 2 made, broke 2
attempt 3 1 key, begun 3 1, arrived 3, replayed 3 made, offered 3 1, delivered 3, receipt 1 3 made, settled made
called 2 unkeyed, attempt 4 2 -, begun 4 2, arrived 4, status 4 409, delivered 4, error 2 refused 1
began, took a, took made, took b, ended
line nothing to see, calm, end
";

/// Each invariant, with the replaced lines that violate it.
const BROKEN: &str = "
every call ends | error 2 refused 1 ->
no call outlives its deadline | error 2 refused 1 -> wait 60, error 2 refused 1
a reply is what the server sent | receipt 1 3 made -> receipt 1 4 made
a reply is what the server sent | delivered 3 -> broke 3
an error counts its attempts | error 2 refused 1 -> error 2 refused 2
what begins in calm succeeds | end -> wait 180, called 3 read, error 3 unknown 0, end
a key has one body | calm -> called 3 keyed, attempt 5 3 key, begun 5 3, dropped 3, calm
a key commits once | replayed 3 made -> committed 3 made
a call commits once | replayed 3 made -> committed 3 made
a call keeps its key | attempt 3 1 key -> attempt 3 1 other
what has no key is sent again only if it had no effect | status 4 409 -> status 4 503 | error 2 refused 1 -> attempt 5 2 -, broke 5, error 2 unknown 2
a receipt has its commit | receipt 1 3 made -> receipt 1 3 other
not sent: the service saw nothing | error 2 refused 1 -> error 2 not-sent 1 2
refused: the service said so | status 4 409 -> committed 4 too
refused: the service said so | arrived 4 -> | status 4 409 -> | delivered 4 -> broke 4
refused: the service said so | attempt 4 2 - -> attempt 5 2 -, begun 5 2, broke 5, attempt 4 2 - | error 2 refused 1 -> error 2 refused 2
unknown: an attempt is open | error 2 refused 1 -> error 2 unknown 1 2
an error returns the command that was sent | error 2 refused 1 -> error 2 unknown 1 1
an error returns the command that was sent | error 2 refused 1 -> error 2 unknown 1
a resend is the same command | called 2 unkeyed -> called 3 unkeyed, error 3 not-sent 0 1, called 2 unkeyed resends 3
a whole response is a result | receipt 1 3 made -> error 1 unknown 2
headers stay in their installation | attempt 4 2 - -> attempt 4 2 - 1 2
a call that can leave leaves | called 2 unkeyed -> called 2 unkeyed, wait 5
a call that can leave leaves | broke 2 -> broke 2, wait 5
a response is read when it comes | offered 3 1 -> offered 3 0
a call ends with its response | delivered 3 -> delivered 3, wait 5
a failure that may pass is tried again | called 2 unkeyed -> called 2 read | status 4 409 -> status 4 503 | error 2 refused 1 -> error 2 unknown 1
a rejected token is renewed | status 4 409 -> status 4 401
without faults only rejected calls fail | opened 1 -> faultless, opened 1 | called 2 unkeyed -> called 2 unkeyed, called 3 read, error 3 unknown 0
a call is attempted | called 2 unkeyed -> called 2 unkeyed, called 1 keyed, error 1 not-sent 0 1
a rejected call is not sent again | error 2 refused 1 -> attempt 5 2 -, begun 5 2, status 5 409, delivered 5, error 2 refused 2
rejected exchanges are not repeated in a loop | calm -> exchange 8, status 8 401, delivered 8, =exchange 9, calm
a call keeps its key | attempt 4 2 - -> attempt 4 2 key
a call sends what its caller asked for | attempt 4 2 - -> attempt 4 2 - 1 1 /other
the attempts of a call follow each other | broke 2 ->
an attempt has its timeout | broke 2 -> wait 40, broke 2
a call stops after a few 401s | status 4 409 -> status 4 401, delivered 4, attempt 5 2 -, status 5 401, delivered 5, attempt 6 2 -, status 6 401, delivered 6, attempt 7 2 -, status 7 401, delivered 7, attempt 8 2 -, status 8 401, delivered 8 | error 2 refused 1 -> error 2 refused 5
a list delivers its own records | took made -> took other
a simulation ends within its limits | end -> stuck
a token stays in its installation | attempt 4 2 - -> attempt 4 2 - 2
no dead token is sent | calm -> wait 300, called 3 read, attempt 5 3 -, dropped 3, calm
one exchange at a time | issued 1 -> exchange 8, issued 1
one exchange a generation | calm -> exchange 8, calm
a live token serves | calm -> called 3 read, error 3 not-sent 0 tokenless, calm
a walk delivers once | took made -> took made, took made
a walk keeps the order | took a -> took b | took b -> took a | ended ->
a walk ends at the end | took b ->
refused: the service said so | called 2 unkeyed -> called 3 unkeyed, attempt 5 3 -, begun 5 2, broke 5, error 3 unknown 1 2, called 2 unkeyed resends 3
a receipt says what the server said | receipt 1 3 made -> receipt 1 3 made new
an attempt belongs to its call | calm -> attempt 5 2 -, calm
no attempt is sooner than asked | broke 2 -> wait 0 | committed 2 made -> status 2 503 9, delivered 2
a call makes no more attempts than allowed | broke 2 -> broke 2, attempt 5 1 key, broke 5
a revoked token is not sent again | status 4 409 -> status 4 401 | calm -> wait 9, called 3 read, attempt 5 3 -, dropped 3, calm
no more attempts at once than allowed | broke 2 ->
a walk ends once the world is calm | ended ->
a stored command is sent as it is | attempt 3 1 key -> attempt 3 1 key 2
a stored command is sent as it is | attempt 3 1 key -> attempt 3 1 -
a stored receipt has its one commit | settled made -> settled other
a stored command reaches its receipt | settled made ->
a command is parked for a reason | settled made -> parked sent
a refused command had no effect | settled made -> parked refused
no line shows a secret | line nothing to see -> line so hush!
";

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

/// The lines of the good history.
fn good() -> impl Iterator<Item = &'static str> {
    GOOD.trim().split([',', '\n']).map(str::trim)
}

fn broken(lines: &[&str]) -> Vec<&'static str> {
    let violations = check(&history(lines));
    violations.iter().map(|violation| violation.law).collect()
}

#[test]
fn a_history_that_keeps_the_laws_breaks_none_and_only_its_equal_has_its_digest() {
    let lines: Vec<_> = good().collect();
    assert_eq!(broken(&lines), Vec::<&str>::new());
    let digest = |lines| history(lines).digest();
    assert_eq!(digest(&lines), digest(&lines));
    assert_ne!(digest(&lines), digest(&lines[1..]));
}

#[test]
fn each_broken_invariant_is_found() {
    for row in BROKEN.trim().lines() {
        let (invariant, changes) = row.split_once(" | ").unwrap();
        let changes = changes.split(" | ").map(|it| it.split_once(" ->").unwrap());
        let changes: Vec<_> = changes.collect();
        assert!(
            changes
                .iter()
                .all(|(old, _)| good().any(|line| line == *old)),
            "{row}"
        );
        let lines = good().flat_map(|line| {
            let change = changes.iter().find(|(old, _)| *old == line);
            change.map_or(line, |(_, new)| new.trim_start()).split(", ")
        });
        let found = broken(&lines.collect::<Vec<_>>());
        assert!(found.contains(&invariant), "{row}: {found:?}");
        assert!(found.len() <= 7, "{row}: {found:?}");
    }
}
