//! The rule for stored commands, against a second reading of its table, over everything that a store can know.

use std::time::{Duration, SystemTime};

use sdk_core::{Backoff, Effect, ErrorKind, PreparedCommand};
use sdk_outbox::{ParkReason, StoredOutcome, StoredRule, StoredState, StoredStep};
use serde_json::{Value, json};

use super::stored::EVENT_V2;

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
const ATTEMPTS: u32 = 300;

/// What a store can know of a command, before it is put into words of the SDK.
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

/// The command with these facts: its digest does not matter to the rule.
fn command(replayable: usize, says_sent: bool, prepared: Option<SystemTime>) -> PreparedCommand {
    let mut form: Value = serde_json::from_str(EVENT_V2).unwrap();
    let form_of = form.as_object_mut().unwrap();
    if replayable != 1 {
        form_of.remove("idempotencyKey");
    }
    form_of.insert("replayShown".into(), json!(replayable == 2));
    form_of.insert("sent".into(), json!(says_sent));
    form_of.remove("preparedAt");
    if let Some(at) = prepared {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let millis = u64::try_from(since.as_millis()).unwrap();
        form_of.insert("preparedAt".into(), json!(millis));
    }
    serde_json::from_value(form).unwrap()
}

/// The row of the table that decides, read once more.
fn row(facts: &Facts, now: SystemTime) -> usize {
    use ErrorKind::{Conflict, InvalidInput, NotFound, PreparedCommand, Rejected};
    let failed = match facts.outcome {
        Some(StoredOutcome::Failed { effect, kind, .. }) => Some((effect, kind)),
        _ => None,
    };
    let unknown = failed.is_some_and(|(effect, _)| effect == Effect::Unknown);
    let told = facts.says_sent && facts.approved.is_none();
    let sent = unknown || told || facts.lease_expired || facts.first_sent.is_some();
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
        since.is_some_and(|at| at + DAY < now),
        facts.attempts >= ATTEMPTS,
        failed.is_some(),
        true,
    ];
    1 + rows.iter().position(|fits| *fits).unwrap()
}

#[test]
fn the_rule_is_its_table_whatever_a_store_knows() {
    // Of whole milliseconds, as the stored form has them.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_300_000);
    let times = [
        None,
        Some(now - HOUR),
        Some(now - DAY),
        Some(now - 25 * HOUR),
        Some(now + HOUR),
    ];
    let (rule, outcomes) = (StoredRule::default(), outcomes());
    let commands: Vec<_> = (0..30)
        .map(|case| command(case % 3, case % 2 > 0, times[case / 6]))
        .collect();
    let (mut cases, mut seen) = (0_u32, [0_u32; 9]);
    for case in 0..commands.len() * 5 * 5 * 5 * 2 * outcomes.len() {
        let mut rest = case;
        let mut pick = |of| {
            let picked = rest % of;
            rest /= of;
            picked
        };
        let number = pick(commands.len());
        let facts = Facts {
            replayable: number % 3 > 0,
            says_sent: number % 2 > 0,
            prepared: times[number / 6],
            first_sent: times[pick(5)],
            approved: times[pick(5)],
            attempts: [0, 1, ATTEMPTS - 1, ATTEMPTS, u32::MAX][pick(5)],
            lease_expired: pick(2) > 0,
            outcome: outcomes[pick(outcomes.len())],
        };
        let mut state = StoredState::of(&commands[number])
            .with_first_sent(facts.first_sent)
            .with_approved_at(facts.approved)
            .with_attempts(facts.attempts)
            .with_lease_expired(facts.lease_expired);
        if let Some(outcome) = facts.outcome {
            state = state.with_outcome(outcome);
        }
        let (step, row) = (rule.next(&state, now), row(&facts, now));
        assert_eq!(row_of(&step), row, "{facts:?}: {step:?}");
        assert_keeps_the_laws(&facts, &step, now);
        assert_eq!(rule.next(&state, now), step, "{facts:?}");
        cases += 1;
        seen[row - 1] += 1;
    }
    println!("{cases} cases, by row of the table: {seen:?}");
    assert!(cases > 1_000_000 && !seen.contains(&0), "{seen:?}");
}

/// The row that such a step comes from.
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
        StoredStep::Park(other) => panic!("the table has no row for {other}"),
    }
}

/// What must hold whatever the table says.
fn assert_keeps_the_laws(facts: &Facts, step: &StoredStep, now: SystemTime) {
    let failed = matches!(facts.outcome, Some(StoredOutcome::Failed { .. }));
    match step {
        // What failed is never sent in the same breath, and what just succeeded is never sent again.
        StoredStep::Send => assert!(facts.outcome.is_none(), "{facts:?}"),
        StoredStep::SendAt(at) => {
            let wait = at.duration_since(now).unwrap();
            // A server can make it wait, for an hour at most.
            let asked = match facts.outcome {
                Some(StoredOutcome::Failed { retry_after, .. }) => retry_after.unwrap_or_default(),
                _ => Duration::ZERO,
            };
            assert!(failed && wait >= asked.min(HOUR), "{facts:?}: {wait:?}");
            assert!(
                wait >= Duration::from_millis(500) && wait <= HOUR,
                "{facts:?}: {wait:?}"
            );
        }
        StoredStep::Done => assert_eq!(facts.outcome, Some(StoredOutcome::Done)),
        StoredStep::Park(reason) => {
            let harmless =
                matches!(reason, ParkReason::Refused { effect, .. } if *effect != Effect::Unknown);
            assert_eq!(reason.to_string().contains("check whether"), !harmless);
            // A refusal says nothing about an earlier sending.
            let told = facts.says_sent && facts.approved.is_none();
            let before = told || facts.lease_expired || facts.first_sent.is_some();
            assert!(!(harmless && before), "{facts:?}: {reason}");
        }
    }
}

#[test]
fn each_setting_moves_its_limit_and_commands_do_not_come_back_together() {
    let now = SystemTime::now();
    let failed = StoredOutcome::Failed {
        effect: Effect::NotSent,
        kind: ErrorKind::Connect,
        retry_after: None,
    };
    let state = StoredState::of(&command(1, false, Some(now))).with_outcome(failed);
    let rule = StoredRule::default();
    let wait = |rule: &StoredRule, state: &StoredState| match rule.next(state, now) {
        StoredStep::SendAt(at) => at.duration_since(now).unwrap(),
        other => panic!("{other:?}"),
    };
    let waits = [1, 2, 3, 60].map(|attempts| wait(&rule, &state.clone().with_attempts(attempts)));
    assert!(
        waits.is_sorted() && waits[3] >= Duration::from_secs(300),
        "{waits:?}"
    );
    let none = rule.with_backoff(Backoff::none());
    assert_eq!(wait(&none, &state), Duration::ZERO);
    let mut another: Value = serde_json::from_str(EVENT_V2).unwrap();
    another["body"] = json!("another");
    let another: PreparedCommand = serde_json::from_value(another).unwrap();
    let another = StoredState::of(&another)
        .with_approved_at(now)
        .with_outcome(failed);
    assert_ne!(wait(&rule, &another.with_attempts(3)), waits[2]);

    // At least once, whatever is set.
    let once = rule.with_max_attempts(0);
    let fresh = StoredState::of(&command(1, false, Some(now)));
    assert_eq!(once.next(&fresh, now), StoredStep::Send);
    let parked = once.next(&fresh.with_attempts(1), now);
    assert_eq!(
        parked,
        StoredStep::Park(ParkReason::TooManyAttempts { attempts: 1 })
    );
}
