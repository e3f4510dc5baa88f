//! The four applications of the suite.

use std::fmt;

use serde::Deserialize;

/// One application of the suite: an origin, an audience, an entitlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum App {
    /// The commercial domain.
    Crm,
    /// Scheduling.
    Calendar,
    /// Financial records.
    Accounting,
    /// Token exchange, installed apps, organization context, publications.
    Platform,
}

impl App {
    /// Every application, for this repository.
    #[doc(hidden)]
    pub const ALL: &[App] = &[App::Crm, App::Calendar, App::Accounting, App::Platform];

    /// A value for each application, in the order of `ALL`.
    pub(crate) fn each<T>(mut value: impl FnMut(App) -> T) -> [T; App::ALL.len()] {
        std::array::from_fn(|place| value(App::ALL[place]))
    }

    /// Every application.
    pub fn all() -> impl Iterator<Item = App> {
        App::ALL.iter().copied()
    }

    /// Every application in the order of their ports and variables.
    #[doc(hidden)]
    pub fn platform_first() -> impl Iterator<Item = App> {
        let others = App::all().filter(|app| *app != App::Platform);
        std::iter::once(App::Platform).chain(others)
    }

    /// The identifier used as entitlement and as `appId`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            App::Crm => "crm",
            App::Calendar => "calendar",
            App::Accounting => "accounting",
            App::Platform => "platform",
        }
    }

    /// The application with that identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<App> {
        App::all().find(|app| app.id() == id)
    }

    /// Whether `scope` is one of this application's.
    pub(crate) fn owns_scope(self, scope: &str) -> bool {
        let prefixes: &[&str] = match self {
            App::Crm => &["crm:"],
            App::Calendar => &["calendar:"],
            App::Accounting => &["accounting:"],
            App::Platform => &["suite.", "platform."],
        };
        prefixes.iter().any(|prefix| scope.starts_with(prefix))
    }

    /// Its name in the variable of its address, and in its host in memory.
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
