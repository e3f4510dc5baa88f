//! A run with a seed can be repeated.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sdk_core::{
    AccessToken, Backoff, RetryPolicy, Suite, TokenError, TokenPolicy, TokenRequest, TokenSource,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::fixtures::{Tokens, get_person};
use crate::peer::reply;
use crate::samples::kick_off;
use crate::seams::transport::service::Scripted;
use crate::support::{Clients, Events};

/// The keys of three commands, and the waits of a call that is attempted four times.
async fn keys_and_waits(seed: Option<u64>) -> Vec<String> {
    let (events, _guard) = Events::here();
    let retry = RetryPolicy::default().with_attempts(4);
    let mut builder = Scripted::always(reply(503)).suite().retry(retry);
    if let Some(seed) = seed {
        builder = builder.seed(seed);
    }
    let suite = builder.suite();
    let calendar = suite.calendar();
    let key = |_| {
        let command = kick_off(&calendar).prepare().unwrap();
        command.idempotency_key().unwrap().as_str().to_owned()
    };
    let mut drawn: Vec<String> = (0..3).map(key).collect();
    let error = get_person(&suite.crm()).await.unwrap_err();
    assert_eq!(error.attempts(), 4);
    let retried = events.lines("DEBUG", &["the call is retried"]);
    drawn.extend(retried.iter().map(|line| {
        let (_, wait) = line.split_once("wait_s=").unwrap();
        wait.split(' ').next().unwrap().to_owned()
    }));
    drawn
}

#[tokio::test(start_paused = true)]
async fn one_seed_gives_the_same_keys_and_waits_and_none_gives_others() {
    let first = keys_and_waits(Some(7)).await;
    assert_eq!(first.len(), 6);
    assert_eq!(keys_and_waits(Some(7)).await, first);
    for other in [Some(8), None] {
        let other = keys_and_waits(other).await;
        let differ = first.iter().zip(&other).all(|(one, two)| one != two);
        assert!(differ, "{first:?} {other:?}");
    }
}

type Log = Arc<Mutex<Vec<String>>>;

/// Gives short tokens slowly, and fails two times of three. Writes down when it was asked.
fn flaky(log: Log, began: Instant) -> impl TokenSource {
    Tokens(move |_: &TokenRequest| {
        let mut log = log.lock().unwrap();
        log.push(format!("{:?} exchange", began.elapsed()));
        let asked = log.iter().filter(|line| line.ends_with("exchange")).count();
        async move {
            sleep(Duration::from_millis(40)).await;
            if asked % 3 != 1 {
                return Err(TokenError::unavailable("most of the time"));
            }
            Ok(AccessToken::new("t").with_lifetime(Duration::from_secs(9)))
        }
    })
}

/// What a hundred callers of one token see in ten minutes, in the order in which they see it.
async fn history(seed: u64) -> Vec<String> {
    let log = Log::default();
    let began = Instant::now();
    let mut policy = TokenPolicy::default();
    policy.renewal_backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(8));
    let suite = Suite::builder()
        .core_url("http://core.localhost")
        .token_source(flaky(Arc::clone(&log), began))
        .token_policy(policy)
        .seed(seed)
        .suite();
    let platform = suite.platform();
    let mut callers = JoinSet::new();
    for caller in 0..100_u64 {
        let (platform, log) = (platform.clone(), Arc::clone(&log));
        callers.spawn(async move {
            for turn in 0..200 {
                let got = platform.prewarm().await.is_ok();
                let line = format!("{:?} {caller} {got}", began.elapsed());
                log.lock().unwrap().push(line);
                sleep(Duration::from_millis(700 + caller * turn % 50 * 10)).await;
            }
        });
    }
    callers.join_all().await;
    std::mem::take(&mut *log.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_hundred_callers_of_a_token_have_the_same_history_again() {
    let first = history(7).await;
    let lines = |end: &str| first.iter().filter(|line| line.ends_with(end)).count();
    assert!(lines("exchange") > 5 && lines("false") > 0);
    for _ in 0..3 {
        assert_eq!(history(7).await, first);
    }
    assert_ne!(history(8).await, first);
}
