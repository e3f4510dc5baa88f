//! The applications of a suite.

use std::fmt;
use std::str::FromStr;

/// The path of the Platform's token endpoint (contract, Endpoints / Platform).
pub(crate) const TOKEN_PATH: &str = "/oauth/token";

/// An application of a suite.
///
/// Settings use it to select an application. Parse names from a configuration, which rejects unknown names:
///
/// ```
/// use sdk_core::App;
///
/// let app: App = "calendar".parse()?;
/// assert_eq!(app, App::Calendar);
/// assert_eq!(app.url_variable(), "SUITE_CALENDAR_URL");
/// let error = "calender".parse::<App>().unwrap_err().to_string();
/// assert!(error.starts_with("no application is named \"calender\": the applications are crm, "));
/// # Ok::<(), sdk_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum App {
    /// The CRM.
    Crm,
    /// The Calendar.
    Calendar,
    /// Accounting.
    Accounting,
    /// The Platform, which also exchanges tokens.
    Platform,
}

impl App {
    pub(crate) const ALL: &[Self] = &[Self::Crm, Self::Calendar, Self::Accounting, Self::Platform];

    /// Creates an array with a value for each application, in the order of `ALL`.
    pub(crate) fn each<T>(mut value: impl FnMut(Self) -> T) -> [T; Self::ALL.len()] {
        std::array::from_fn(|place| value(Self::ALL[place]))
    }

    /// Whether the application's position in `ALL` equals its discriminant, by which arrays are indexed.
    pub(crate) const fn is_listed(self) -> bool {
        let place = self as usize;
        place < Self::ALL.len() && Self::ALL[place] as usize == place
    }

    /// Iterates over all applications.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied()
    }

    /// The application's name, such as `crm`. `Display` prints the same.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crm => "crm",
            Self::Calendar => "calendar",
            Self::Accounting => "accounting",
            Self::Platform => "platform",
        }
    }

    /// The environment variable with the application's base URL.
    #[must_use]
    pub const fn url_variable(self) -> &'static str {
        match self {
            Self::Crm => "SUITE_CRM_URL",
            Self::Calendar => "SUITE_CALENDAR_URL",
            Self::Accounting => "SUITE_ACCOUNTING_URL",
            Self::Platform => "SUITE_CORE_URL",
        }
    }

    /// The environment variable with the audience of the application's tokens.
    #[must_use]
    pub const fn audience_variable(self) -> &'static str {
        match self {
            Self::Crm => "SUITE_CRM_AUDIENCE",
            Self::Calendar => "SUITE_CALENDAR_AUDIENCE",
            Self::Accounting => "SUITE_ACCOUNTING_AUDIENCE",
            Self::Platform => "SUITE_PLATFORM_AUDIENCE",
        }
    }

    pub(crate) fn url_setter(self) -> String {
        match self {
            Self::Platform => "core_url".to_owned(),
            _ => format!("application_url(App::{self:?}, …)"),
        }
    }

    pub(crate) fn audience_setter(self) -> String {
        format!("audience(App::{self:?}, …)")
    }
}

impl fmt::Display for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that no application has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no application is named {name:?}: the applications are {}",
    App::each(App::name).join(", ")
)]
pub struct UnknownApp {
    name: String,
}

impl FromStr for App {
    type Err = UnknownApp;

    fn from_str(name: &str) -> Result<Self, UnknownApp> {
        let known = Self::all().find(|app| app.name() == name);
        known.ok_or_else(|| UnknownApp {
            // Limits the length of the message.
            name: name.chars().take(100).collect(),
        })
    }
}
