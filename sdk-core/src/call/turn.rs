//! The wait for a place among the attempts in flight, if their number is limited.

use tokio::time::Instant;

use crate::call::Call;
use crate::call::progress::Progress;
use crate::error::Error;
use crate::observe::event::WaitReason;
use crate::observe::spans;
use crate::policy::in_flight::{Crowded, InFlight, Place};
use crate::text::counted;

impl Call {
    /// A place for the next attempt; `None` if any number may be in flight.
    pub(super) async fn turn(
        &self,
        progress: &mut Progress<'_, '_>,
    ) -> Result<Option<Place>, Error> {
        let Some(in_flight) = self.client.in_flight() else {
            return Ok(None);
        };
        let place = match in_flight.try_enter() {
            Some(place) => place,
            // Boxed, because few calls wait and the futures of all calls should stay small.
            None => Box::pin(self.wait_for_turn(in_flight, progress)).await?,
        };
        Ok(Some(place))
    }

    async fn wait_for_turn(
        &self,
        in_flight: &InFlight,
        progress: &mut Progress<'_, '_>,
    ) -> Result<Place, Error> {
        let limits = progress.limits;
        loop {
            let waiting = progress.watch.wait(WaitReason::Limit);
            let since = Instant::now();
            let entered = in_flight.enter(limits.deadline).await;
            drop(waiting);
            spans::had_to_wait(since.elapsed());
            let place = entered.map_err(|crowded| {
                // It is not the token that was missing.
                progress.refusal = None;
                self.crowded(crowded, progress)
            })?;
            if progress.bearer.is_none() {
                return Ok(place);
            }
            // Meanwhile the token may have been replaced, or have expired.
            if let Some(live) = self.client.tokens().live() {
                progress.bearer = Some(self.scoped(limits, live)?);
                return Ok(place);
            }
            // Nobody waits for a token in a place that others could use.
            drop(place);
            progress.bearer = Some(self.bearer(limits, progress.watch).await?);
        }
    }

    /// The error of a call whose deadline passed while it waited for a place.
    fn crowded(&self, crowded: Crowded, progress: &Progress<'_, '_>) -> Error {
        let Crowded { most, waiting } = crowded;
        let (app, total) = (self.operation.application, progress.limits.total);
        let message = format!(
            "the deadline of the call passed, {total:?} after it began, while it waited for its turn: {} of {app} in flight, as \
             many as `max_in_flight` allows, and {waiting} more wait",
            counted(most, "attempt")
        );
        let hint = "raise `max_in_flight` of the suite's builder, or make fewer calls at once";
        Error::timeout(message).with_hint(hint)
    }
}
