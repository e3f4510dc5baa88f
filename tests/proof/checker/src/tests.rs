//! One history that satisfies all invariants, and for each invariant a change that violates it. An event is a few
//! words, and commas separate events.

mod lines;

use crate::{History, check};
use lines::{SECOND, event};

/// A token exchange, a stored command with a lost response, a rejected command, and a listing.
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
a result matches the server's response | receipt 1 3 made -> receipt 1 4 made
a result matches the server's response | delivered 3 -> broke 3
an error reports its attempts | error 2 refused 1 -> error 2 refused 2
calls succeed after all faults have ended | end -> wait 180, called 3 read, error 3 unknown 0, end
a key has one body | calm -> called 3 keyed, attempt 5 3 key, begun 5 3, dropped 3, calm
a key commits once | replayed 3 made -> committed 3 made
a call commits once | replayed 3 made -> committed 3 made
a call keeps its key | attempt 3 1 key -> attempt 3 1 other
a command without a key is resent only if it had no effect | status 4 409 -> status 4 503 | error 2 refused 1 -> attempt 5 2 -, broke 5, error 2 unknown 2
a receipt has a commit | receipt 1 3 made -> receipt 1 3 other
not sent: the service received nothing | error 2 refused 1 -> error 2 not-sent 1 2
refused: the service rejected the call | status 4 409 -> committed 4 too
refused: the service rejected the call | arrived 4 -> | status 4 409 -> | delivered 4 -> broke 4
refused: the service rejected the call | attempt 4 2 - -> attempt 5 2 -, begun 5 2, broke 5, attempt 4 2 - | error 2 refused 1 -> error 2 refused 2
unknown: an attempt may have taken effect | error 2 refused 1 -> error 2 unknown 1 2
an error returns the command that was sent | error 2 refused 1 -> error 2 unknown 1 1
an error returns the command that was sent | error 2 refused 1 -> error 2 unknown 1
a resend is the same command | called 2 unkeyed -> called 3 unkeyed, error 3 not-sent 0 1, called 2 unkeyed resends 3
a complete success is returned as a result | receipt 1 3 made -> error 1 unknown 2
headers stay in their installation | attempt 4 2 - -> attempt 4 2 - 1 2
a call doesn't wait without a reason | called 2 unkeyed -> called 2 unkeyed, wait 5
a call doesn't wait without a reason | broke 2 -> broke 2, wait 5
a response is read when it arrives | offered 3 1 -> offered 3 0
a call ends with its response | delivered 3 -> delivered 3, wait 5
a temporary failure is retried | called 2 unkeyed -> called 2 read | status 4 409 -> status 4 503 | error 2 refused 1 -> error 2 unknown 1
a rejected token is renewed | status 4 409 -> status 4 401
without faults only rejected calls fail | opened 1 -> faultless, opened 1 | called 2 unkeyed -> called 2 unkeyed, called 3 read, error 3 unknown 0
a call is attempted | called 2 unkeyed -> called 2 unkeyed, called 1 keyed, error 1 not-sent 0 1
a rejected call is not retried | error 2 refused 1 -> attempt 5 2 -, begun 5 2, status 5 409, delivered 5, error 2 refused 2
rejected exchanges are not repeated in a loop | calm -> exchange 8, status 8 401, delivered 8, =exchange 9, calm
a call keeps its key | attempt 4 2 - -> attempt 4 2 key
a call sends its caller's request | attempt 4 2 - -> attempt 4 2 - 1 1 /other
a call's attempts don't overlap | broke 2 ->
an attempt respects its timeout | broke 2 -> wait 40, broke 2
a call stops after a few 401s | status 4 409 -> status 4 401, delivered 4, attempt 5 2 -, status 5 401, delivered 5, attempt 6 2 -, status 6 401, delivered 6, attempt 7 2 -, status 7 401, delivered 7, attempt 8 2 -, status 8 401, delivered 8 | error 2 refused 1 -> error 2 refused 5
a list delivers its own records | took made -> took other
a simulation ends within its limits | end -> stuck
a token stays in its installation | attempt 4 2 - -> attempt 4 2 - 2
no expired token is sent | calm -> wait 300, called 3 read, attempt 5 3 -, dropped 3, calm
one exchange at a time | issued 1 -> exchange 8, issued 1
one exchange per token | calm -> exchange 8, calm
a live token is used | calm -> called 3 read, error 3 not-sent 0 tokenless, calm
a listing delivers no record twice | took made -> took made, took made
a listing keeps the order | took a -> took b | took b -> took a | ended ->
a listing ends only after the last record | took b ->
refused: the service rejected the call | called 2 unkeyed -> called 3 unkeyed, attempt 5 3 -, begun 5 2, broke 5, error 3 unknown 1 2, called 2 unkeyed resends 3
a receipt matches the server's response | receipt 1 3 made -> receipt 1 3 made new
an attempt belongs to its call | calm -> attempt 5 2 -, calm
no attempt is earlier than the server asked | broke 2 -> wait 0 | committed 2 made -> status 2 503 9, delivered 2
a call makes no more attempts than allowed | broke 2 -> broke 2, attempt 5 1 key, broke 5
a revoked token is not sent again | status 4 409 -> status 4 401 | calm -> wait 9, called 3 read, attempt 5 3 -, dropped 3, calm
concurrent attempts stay within the limit | broke 2 ->
a listing ends after all faults have ended | ended ->
a stored command is sent unchanged | attempt 3 1 key -> attempt 3 1 key 2
a stored command is sent unchanged | attempt 3 1 key -> attempt 3 1 -
a stored receipt has exactly one commit | settled made -> settled other
a stored command gets its receipt | settled made ->
a command is parked for a reason | settled made -> parked sent
a rejected command had no effect | settled made -> parked refused
no line contains a secret | line nothing to see -> line so hush!
";

/// Builds the history of these lines. Each event is one second after the event before. Deliveries, calls and lines that
/// begin with `=` take no time.
fn history(lines: &[&str]) -> History {
    let (mut history, mut now, mut instant) = (History::default(), 0, true);
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let text = line.trim_start_matches('=');
        now += SECOND * u64::from(!instant && text == *line);
        match line.strip_prefix("wait ") {
            Some(seconds) => now += seconds.parse::<u64>().unwrap() * SECOND,
            None => history.record(now, event(text)),
        }
        instant = line.starts_with("delivered") || line.starts_with("called");
    }
    history
}

fn good() -> impl Iterator<Item = &'static str> {
    GOOD.trim().split([',', '\n']).map(str::trim)
}

fn broken(lines: &[&str]) -> Vec<&'static str> {
    let violations = check(&history(lines));
    violations
        .iter()
        .map(|violation| violation.invariant)
        .collect()
}

#[test]
fn a_valid_history_violates_no_invariant_and_digests_differ_between_histories() {
    let lines: Vec<_> = good().collect();
    assert_eq!(broken(&lines), Vec::<&str>::new());
    let digest = |lines| history(lines).digest();
    assert_eq!(digest(&lines), digest(&lines));
    assert_ne!(digest(&lines), digest(&lines[1..]));
}

#[test]
fn each_violated_invariant_is_found() {
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
