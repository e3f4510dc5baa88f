//! Notes what replies announce about the end of their operations. Nothing here affects a call.

use crate::call::attempt::Outcome;
use crate::call::progress::Progress;
use crate::reply::deprecation::Deprecation;
use crate::text::Line;

impl Progress<'_, '_> {
    /// Keeps what a reply announces, and tells of the first announcement of an operation. Most announce nothing.
    pub(super) fn note_announcement(&self, outcome: &Outcome) {
        let Outcome::Reply { headers, body, .. } = outcome else {
            return;
        };
        let shown = |link: &str| {
            let body = body.as_deref().unwrap_or_default();
            self.confidential(body).line(Line::Message, link)
        };
        let suite = self.client.suite();
        let announced = Deprecation::of(self.operation, suite.watcher.label(), headers, shown);
        if let Some(announced) = announced
            && suite.announced.keep(announced.clone())
        {
            self.watch.deprecated(&announced);
        }
    }
}
