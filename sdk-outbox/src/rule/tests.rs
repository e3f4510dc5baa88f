//! Compares the rule with a second implementation of its table, for all combinations of facts.

use sdk_core::PreparedCommand;
use serde_json::json;

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

/// The documented limits. No other test checks them.
const MAX_AGE: Duration = Duration::from_secs(24 * 3_600);
const MAX_ATTEMPTS: u32 = 300;

/// The facts about a command that a store can have.
#[derive(Clone, Copy, Debug)]
struct Facts {
    replayable: bool,
    says_sent: bool,
    prepared: Option<SystemTime>,
    first_sent: Option<SystemTime>,
    approved: Option<SystemTime>,
    attempts: u32,
    lease_expired: bool,
    outcome: Option<StoredOutcome>,
}

impl Facts {
    /// Whether the command's own record that it was sent still counts.
    fn was_sent(&self) -> bool {
        self.says_sent && self.approved.is_none()
    }
}

fn outcomes() -> Vec<Option<StoredOutcome>> {
    let mut all = vec![None, Some(StoredOutcome::Done)];
    for kind in ErrorKind::ALL.iter().copied() {
        for effect in [Effect::NotSent, Effect::Refused, Effect::Unknown] {
            for retry_after in [None, Some(HOUR / 120), Some(Duration::MAX)] {
                all.push(Some(StoredOutcome::Failed {
                    effect,
                    kind,
                    retry_after,
                }));
            }
        }
    }
    all
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recognized {
    Never,
    ByKey,
    Exact,
}

/// Builds a stored command with these facts. The rule ignores its digest.
fn command(by: Recognized, says_sent: bool, prepared: Option<SystemTime>) -> PreparedCommand {
    let mut form = json!({
        "version": 2,
        "application": "calendar",
        "operation": "submitEventCommand",
        "method": "POST",
        "path": "/calendar/v1/event-commands",
        "body": "{}",
        "replayShown": by == Recognized::Exact,
        "sent": says_sent,
        "digest": "",
    });
    if by == Recognized::ByKey {
        form["idempotencyKey"] = json!("the-key-of-order-4711");
    }
    if let Some(at) = prepared {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        form["preparedAt"] = json!(u64::try_from(since.as_millis()).unwrap());
    }
    serde_json::from_value(form).unwrap()
}

fn row(facts: &Facts, now: SystemTime) -> usize {
    use ErrorKind::{Conflict, InvalidInput, NotFound, PreparedCommand, Rejected};
    let failed = match facts.outcome {
        Some(StoredOutcome::Failed { effect, kind, .. }) => Some((effect, kind)),
        _ => None,
    };
    let unknown = failed.is_some_and(|(effect, _)| effect == Effect::Unknown);
    let sent = unknown || facts.was_sent() || facts.lease_expired || facts.first_sent.is_some();
    let since = facts.first_sent.or(facts.approved).or(facts.prepared);
    let rows = [
        facts.outcome == Some(StoredOutcome::Done),
        failed.is_some_and(|(effect, kind)| {
            let refused = matches!(kind, Rejected | NotFound | Conflict);
            matches!(kind, InvalidInput | PreparedCommand) || refused && effect != Effect::NotSent
        }),
        sent && !facts.replayable,
        since.is_none(),
        since.is_some_and(|at| at > now + HOUR / 12),
        since.is_some_and(|at| at + MAX_AGE < now),
        facts.attempts >= MAX_ATTEMPTS,
        failed.is_some(),
        true,
    ];
    1 + rows.iter().position(|fits| *fits).unwrap()
}

#[test]
fn the_rule_follows_its_table_for_all_facts() {
    // The time is in whole milliseconds, because the stored form rounds to them.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_300_000);
    let (second, skew) = (Duration::from_secs(1), HOUR / 12);
    let times = [
        None,
        Some(now + skew),
        Some(now + skew + second),
        Some(now - MAX_AGE),
        Some(now - MAX_AGE - second),
    ];
    let (rule, outcomes) = (StoredRule::default(), outcomes());
    let states: Vec<_> = (0..3 * 2 * 5)
        .map(|case| {
            let by = [Recognized::Never, Recognized::ByKey, Recognized::Exact][case % 3];
            StoredState::of(&command(by, case % 2 > 0, times[case / 6]))
        })
        .collect();
    let mut seen = [0_u32; 9];
    for case in 0..states.len() * 5 * 5 * 3 * 2 * outcomes.len() {
        let mut rest = case;
        let mut pick = |of| {
            let picked = rest % of;
            rest /= of;
            picked
        };
        let number = pick(states.len());
        let facts = Facts {
            replayable: number % 3 > 0,
            says_sent: number % 2 > 0,
            prepared: times[number / 6],
            first_sent: times[pick(5)],
            approved: times[pick(5)],
            attempts: [0, MAX_ATTEMPTS - 1, MAX_ATTEMPTS][pick(3)],
            lease_expired: pick(2) > 0,
            outcome: outcomes[pick(outcomes.len())],
        };
        let state = states[number].clone();
        let mut state = state
            .with_first_sent(facts.first_sent)
            .with_approved_at(facts.approved)
            .with_attempts(facts.attempts)
            .with_lease_expired(facts.lease_expired);
        if let Some(outcome) = facts.outcome {
            state = state.with_outcome(outcome);
        }
        let (step, row) = (rule.next(&state, now), row(&facts, now));
        assert_eq!(row_of(&step), row, "{facts:?}: {step:?}");
        assert_keeps_its_invariants(&facts, &step, now);
        assert_eq!(rule.next(&state, now), step, "{facts:?}");
        seen[row - 1] += 1;
    }
    println!("cases by row of the table: {seen:?}");
    assert!(!seen.contains(&0), "{seen:?}");
}

fn row_of(step: &StoredStep) -> usize {
    match step {
        StoredStep::Done => 1,
        StoredStep::Park(ParkReason::Refused { .. }) => 2,
        StoredStep::Park(ParkReason::NoReplay) => 3,
        StoredStep::Park(ParkReason::UnknownAge) => 4,
        StoredStep::Park(ParkReason::Future { .. }) => 5,
        StoredStep::Park(ParkReason::TooOld { .. }) => 6,
        StoredStep::Park(ParkReason::TooManyAttempts { .. }) => 7,
        StoredStep::SendAt(_) => 8,
        StoredStep::Send => 9,
    }
}

fn assert_keeps_its_invariants(facts: &Facts, step: &StoredStep, now: SystemTime) {
    match step {
        // A command that just failed has to wait, and a command that just succeeded is never resent.
        StoredStep::Send => assert!(facts.outcome.is_none(), "{facts:?}"),
        StoredStep::SendAt(at) => {
            let wait = at.duration_since(now).unwrap();
            // A server can delay the command by at most an hour.
            let Some(StoredOutcome::Failed { retry_after, .. }) = facts.outcome else {
                panic!("{facts:?}: {wait:?}");
            };
            let asked = retry_after.unwrap_or_default().min(HOUR);
            let least = asked.max(Duration::from_millis(500));
            assert!((least..=HOUR).contains(&wait), "{facts:?}: {wait:?}");
        }
        StoredStep::Done => assert_eq!(facts.outcome, Some(StoredOutcome::Done)),
        StoredStep::Park(reason) => {
            let harmless =
                matches!(reason, ParkReason::Refused { effect, .. } if *effect != Effect::Unknown);
            assert_eq!(reason.to_string().contains("check whether"), !harmless);
            // Despite a rejection, an earlier attempt may have had an effect.
            let before = facts.was_sent() || facts.lease_expired || facts.first_sent.is_some();
            assert!(!(harmless && before), "{facts:?}: {reason}");
        }
    }
}

#[test]
fn each_setting_moves_its_limit_and_backoffs_differ_between_commands() {
    let now = SystemTime::now();
    let failed = StoredOutcome::Failed {
        effect: Effect::NotSent,
        kind: ErrorKind::Connect,
        retry_after: None,
    };
    let fresh = |by| StoredState::of(&command(by, false, Some(now)));
    let state = fresh(Recognized::ByKey).with_outcome(failed);
    let rule = StoredRule::default();
    let wait = |rule: &StoredRule, state: &StoredState| match rule.next(state, now) {
        StoredStep::SendAt(at) => at.duration_since(now).unwrap(),
        other => panic!("{other:?}"),
    };
    let waits = [1, 2, 3, 60].map(|attempts| wait(&rule, &state.clone().with_attempts(attempts)));
    let longest = waits[3];
    assert!(waits.is_sorted() && longest >= HOUR / 12, "{waits:?}");
    assert_eq!(
        wait(&rule.with_backoff(Backoff::none()), &state),
        Duration::ZERO
    );
    let another = fresh(Recognized::Exact).with_outcome(failed);
    assert_ne!(wait(&rule, &another.with_attempts(3)), waits[2]);

    let patient = rule.with_max_age(48 * HOUR);
    let of_age = |age| row_of(&patient.next(&fresh(Recognized::ByKey), now + age));
    assert_eq!((of_age(47 * HOUR), of_age(49 * HOUR)), (9, 6));

    // The rule allows at least one attempt.
    let once = rule.with_max_attempts(0);
    let fresh = fresh(Recognized::ByKey);
    assert_eq!(once.next(&fresh, now), StoredStep::Send);
    let parked = once.next(&fresh.with_attempts(1), now);
    assert_eq!(
        parked,
        StoredStep::Park(ParkReason::TooManyAttempts { attempts: 1 })
    );
}
