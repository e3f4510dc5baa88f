//! The four applications of the suite.

use std::fmt;

use serde::Deserialize;

/// An application of the suite, with its own origin, audience and entitlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum App {
    /// People, organizations, opportunities, tasks and intake submissions.
    Crm,
    /// Events and holds.
    Calendar,
    /// Invoices, counterparties and import runs.
    Accounting,
    /// Token exchange, installed apps, organization context and publications.
    Platform,
}

impl App {
    /// Every application, for use in this repository.
    #[doc(hidden)]
    pub const ALL: &[App] = &[App::Crm, App::Calendar, App::Accounting, App::Platform];

    /// Builds a value for each application, in the order of `ALL`.
    pub(crate) fn each<T>(mut value: impl FnMut(App) -> T) -> [T; App::ALL.len()] {
        std::array::from_fn(|place| value(App::ALL[place]))
    }

    /// Returns every application.
    pub fn all() -> impl Iterator<Item = App> {
        App::ALL.iter().copied()
    }

    /// Returns every application in the order of their ports and environment variables.
    #[doc(hidden)]
    pub fn platform_first() -> impl Iterator<Item = App> {
        let others = App::all().filter(|app| *app != App::Platform);
        std::iter::once(App::Platform).chain(others)
    }

    /// Returns the identifier, which entitlements and `appId` use.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            App::Crm => "crm",
            App::Calendar => "calendar",
            App::Accounting => "accounting",
            App::Platform => "platform",
        }
    }

    /// Returns the application with this identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<App> {
        App::all().find(|app| app.id() == id)
    }

    pub(crate) fn owns_scope(self, scope: &str) -> bool {
        let prefixes: &[&str] = match self {
            App::Crm => &["crm:"],
            App::Calendar => &["calendar:"],
            App::Accounting => &["accounting:"],
            App::Platform => &["suite.", "platform."],
        };
        prefixes.iter().any(|prefix| scope.starts_with(prefix))
    }

    /// Returns the name in its environment variable, and in its host in memory.
    pub(crate) const fn short(self) -> &'static str {
        match self {
            App::Platform => "core",
            app => app.id(),
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
