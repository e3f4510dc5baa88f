//! Each operation succeeds once and fails once.

mod accounting;
mod calendar;
mod crm_commands;
mod crm_lists;
mod crm_records;
mod crm_views;
mod name_only;
mod platform;

use sdk_reference_server::Operation;

/// The operations that have their two cases.
pub(super) const COVERED: [&[Operation]; 8] = [
    crm_views::COVERED,
    crm_lists::COVERED,
    crm_records::COVERED,
    crm_commands::COVERED,
    calendar::COVERED,
    accounting::COVERED,
    name_only::COVERED,
    platform::COVERED,
];
