//! Row 51: how long the place of an attempt that no runtime polls any more counts as in use.

use futures_util::future::join_all;
use futures_util::poll;
use tokio::time::Instant;

use super::{SECOND, Slow, begun};
use crate::faults::fixtures::get_person;
use crate::support::Clients as _;

/// The order of the attempts doesn't matter, and attempts that have ended don't count.
#[tokio::test(start_paused = true)]
async fn fault_51_places_count_as_lost_after_the_longest_attempt_that_may_use_them() {
    for (queued, timeouts) in [(0, [20, 5]), (0, [5, 20]), (2, [20, 5]), (2, [5, 20])] {
        let slow = Slow::new();
        let crm = slow.suite(2).crm();
        let call = |seconds| {
            let call = get_person(&crm).timeout(seconds * SECOND);
            call.deadline(60 * SECOND).send()
        };
        call(50).await.unwrap();
        // With both places taken, the calls get their places from the queue.
        let mut earlier = Vec::new();
        for _ in 0..queued {
            earlier.push(begun(&crm).await);
        }
        let mut kept = timeouts.map(|seconds| Box::pin(call(seconds)));
        for call in &mut kept {
            assert!(poll!(call).is_pending());
        }
        join_all(earlier).await;
        for call in &mut kept {
            assert!(poll!(call).is_pending());
        }
        assert_eq!(slow.seen().len(), queued + 3);
        let start = Instant::now();

        get_person(&crm).await.unwrap();

        // The long attempt, two seconds, and one for the call.
        assert_eq!(start.elapsed(), 23 * SECOND, "{queued} {timeouts:?}");
    }
}
