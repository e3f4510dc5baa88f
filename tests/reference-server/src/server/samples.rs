//! Sample records for tests.

use super::ReferenceServer;
use crate::data::intake::Intake;
use crate::data::opportunities::Opportunity;
use crate::data::tasks::Task;
use crate::data::{Record, Table, counterparties};

/// Sample records.
impl ReferenceServer {
    /// Returns the first person in the list, whose timeline has 250 entries.
    #[must_use]
    pub fn sample_person(&self) -> String {
        self.suite.store().people.reference(0)
    }

    /// Returns an organization.
    #[must_use]
    pub fn sample_organization(&self) -> String {
        self.suite.store().organizations.reference(0)
    }

    /// Returns an open opportunity.
    #[must_use]
    pub fn sample_opportunity(&self) -> String {
        first(&self.suite.store().opportunities, Opportunity::is_open)
    }

    /// Returns an open task that the default client's actor owns.
    #[must_use]
    pub fn sample_task(&self) -> String {
        let wanted = |task: &Task| !task.is_final() && task.owner == Some(0);
        first(&self.suite.store().tasks, wanted)
    }

    /// Returns an intake submission that waits for a review.
    #[must_use]
    pub fn sample_intake_submission(&self) -> String {
        let waits = |row: &Intake| row.status == "review_needed";
        first(&self.suite.store().intake, waits)
    }

    /// Returns the actor that the default client acts for.
    #[must_use]
    pub fn sample_actor(&self) -> String {
        self.suite.store().actors.reference(0)
    }

    /// Returns an active financial counterparty.
    #[must_use]
    pub fn sample_counterparty(&self) -> String {
        self.suite.store().counterparties.reference(0)
    }

    /// Returns an archived financial counterparty, for which the server rejects invoices.
    #[must_use]
    pub fn archived_counterparty(&self) -> String {
        let last = counterparties::COUNT - 1;
        self.suite.store().counterparties.reference(last)
    }

    /// Returns the application, resource type and record of an active publication.
    #[must_use]
    pub fn sample_publication(&self) -> (String, String, String) {
        let [app, resource] = ["crm", "organization"].map(str::to_owned);
        (app, resource, self.sample_organization())
    }
}

/// Returns the first record that matches, or else the first record.
fn first<R: Record>(table: &Table<R>, wanted: impl Fn(&R) -> bool) -> String {
    let found = table.rows(0).find(|(_, row)| wanted(row));
    table.reference(found.map_or(0, |(index, _)| index))
}
