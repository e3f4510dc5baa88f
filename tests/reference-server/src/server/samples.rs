//! Records that a test can begin with.

use super::ReferenceServer;
use crate::data::counterparties;

/// Records to begin with.
impl ReferenceServer {
    /// A person, the first of the list, with a timeline of 250 entries.
    #[must_use]
    pub fn sample_person(&self) -> String {
        self.suite.store().people.reference(0)
    }

    /// An organization.
    #[must_use]
    pub fn sample_organization(&self) -> String {
        self.suite.store().organizations.reference(0)
    }

    /// An opportunity in which work goes on.
    #[must_use]
    pub fn sample_opportunity(&self) -> String {
        let store = self.suite.store();
        let open = store.opportunities.rows(0).find(|(_, row)| row.is_open());
        store
            .opportunities
            .reference(open.map_or(0, |(index, _)| index))
    }

    /// A task that is not done, owned by the default client's actor.
    #[must_use]
    pub fn sample_task(&self) -> String {
        let store = self.suite.store();
        let mine = store
            .tasks
            .rows(0)
            .find(|(_, row)| !row.is_final() && row.owner == Some(0));
        store.tasks.reference(mine.map_or(0, |(index, _)| index))
    }

    /// An intake submission that waits for a review.
    #[must_use]
    pub fn sample_intake_submission(&self) -> String {
        let store = self.suite.store();
        let waiting = store
            .intake
            .rows(0)
            .find(|(_, row)| row.status == "review_needed");
        store
            .intake
            .reference(waiting.map_or(0, |(index, _)| index))
    }

    /// The actor for whom the default client acts.
    #[must_use]
    pub fn sample_actor(&self) -> String {
        self.suite.store().actors.reference(0)
    }

    /// An active financial counterparty.
    #[must_use]
    pub fn sample_counterparty(&self) -> String {
        self.suite.store().counterparties.reference(0)
    }

    /// A financial counterparty for whom no invoice may be drafted.
    #[must_use]
    pub fn archived_counterparty(&self) -> String {
        self.suite
            .store()
            .counterparties
            .reference(counterparties::COUNT - 1)
    }

    /// The application, resource type and record of an active publication.
    #[must_use]
    pub fn sample_publication(&self) -> (String, String, String) {
        (
            "crm".to_owned(),
            "organization".to_owned(),
            self.suite.store().organizations.reference(0),
        )
    }
}
