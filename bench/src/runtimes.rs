//! Eight runtimes of one thread each, at one suite whose token endpoint takes its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use sdk_core::{App, AccessToken, Suite, TokenFuture, TokenRequest, TokenSource};

use crate::clients::Failure;

const RUNTIMES: usize = 8;

/// How long the endpoint takes: none is longer than a renewal may.
const DELAYS: [f64; 4] = [0.1, 3.0, 7.0, 9.0];

#[derive(Clone)]
struct Slow {
    delay: Duration,
    asked: Arc<AtomicUsize>,
}

impl TokenSource for Slow {
    fn token<'a>(&'a self, _request: &'a TokenRequest) -> TokenFuture<'a> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async {
            tokio::time::sleep(self.delay).await;
            Ok(AccessToken::new("slow").with_lifetime(Duration::from_secs(300)))
        })
    }
}

/// Measures each delay in turn, in real time.
pub fn run() -> Result<String, Failure> {
    let mut table =
        String::from("| the endpoint takes | exchanges | served | failed |\n|---|---|---|---|\n");
    for seconds in DELAYS {
        let source = Slow {
            delay: Duration::from_secs_f64(seconds),
            asked: Arc::default(),
        };
        let asked = Arc::clone(&source.asked);
        let suite = Suite::builder()
            .application_url(App::Crm, "http://127.0.0.1:1")
            .token_source(source)
            .build()?;
        let crm = sdk_crm::Client::new(&suite)?;
        let callers: Vec<_> = (0..RUNTIMES)
            .map(|_| {
                let crm = crm.clone();
                thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .build();
                    runtime.is_ok_and(|runtime| runtime.block_on(crm.prewarm()).is_ok())
                })
            })
            .collect();
        let served = callers
            .into_iter()
            .filter_map(|caller| caller.join().ok())
            .filter(|served| *served)
            .count();
        let (exchanges, failed) = (asked.load(Ordering::Relaxed), RUNTIMES - served);
        table += &format!("| {seconds} s | {exchanges} | {served} | {failed} |\n");
    }
    Ok(table)
}
