//! The one place where an operation meets its handler. No wildcard: an operation that the specs gain refuses to
//! compile here until it is served.

use crate::call::{Answer, Call};
use crate::generated::operations::Operation;
use crate::{accounting, calendar, crm, platform, token};

/// Serves an authorized call.
pub(crate) fn dispatch(call: &Call<'_>) -> Answer {
    match call.operation {
        Operation::GetHealth => Ok(crm::service::health()),
        Operation::GetReadiness => Ok(crm::service::readiness()),
        Operation::GetCrmMetadata => Ok(crm::service::metadata()),
        Operation::GetToday => crm::today::get(call),
        Operation::ListIntakeSubmissions => crm::intake::list(call),
        Operation::GetIntakeSubmission => crm::intake::get(call),
        Operation::ListPeople => crm::people::list(call),
        Operation::GetPerson => crm::people::get(call),
        Operation::GetPersonTimeline => crm::people::timeline(call),
        Operation::ListOrganizations => crm::organizations::list(call),
        Operation::GetOrganization => crm::organizations::get(call),
        Operation::ListOpportunities => crm::opportunities::list(call),
        Operation::GetOpportunity => crm::opportunities::get(call),
        Operation::ListTasks => crm::tasks::list(call),
        Operation::Search => crm::search::search(call),
        Operation::GetFunnel => crm::funnel::get(call),
        Operation::GetActors => crm::actors::list(call),
        Operation::GetPresentation => crm::presentation::get(call),
        Operation::SubmitCommand => crm::commands::submit(call),
        Operation::ReviewIntakeSubmission => crm::review::submit(call),
        Operation::SubmitEventCommand => calendar::command::submit(call),
        Operation::RespondAttendance => calendar::named::attendance(call),
        Operation::ChangeRecurrence => calendar::named::recurrence(call),
        Operation::ManageHold => calendar::named::hold(call),
        Operation::GetAccountingMetadata => Ok(accounting::service::metadata()),
        Operation::GetAccountingReadiness => Ok(accounting::service::readiness()),
        Operation::GetAccountingActor => accounting::service::actor(call),
        Operation::GetAccountingOverview => accounting::service::overview(call),
        Operation::ListFinancialCounterparties => accounting::counterparties::list(call),
        Operation::CreateFinancialCounterparty => accounting::counterparties::create(call),
        Operation::ListInvoices => accounting::invoices::list(call),
        Operation::CreateInvoiceDraft => accounting::invoices::create_draft(call),
        Operation::CreateImportRun => accounting::imports::create(call),
        Operation::CreateApprovalIntent => accounting::approvals::create(call),
        Operation::ExchangeToken => Ok(token::exchange::exchange(call)),
        Operation::ListApps => platform::apps::list(call),
        Operation::GetOrganizationContext => platform::organization::get(call),
        Operation::GetPublication => platform::publications::get(call),
    }
}
