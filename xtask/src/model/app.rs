//! The applications whose clients are generated.

/// An application of the suite, and its generated client crate.
#[derive(Debug)]
pub(crate) struct App {
    /// The stem of its spec, and its name in the operation table.
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    /// The folder of that package.
    pub(crate) folder: &'static str,
    /// The folder of its spec, its overlay and the vendor's document.
    pub(crate) specs: &'static str,
}

/// The applications, in the order of the contract.
pub(crate) const APPS: &[App] = &[
    app("crm", "sdk-crm"),
    app("calendar", "sdk-calendar"),
    app("accounting", "sdk-accounting"),
    app("platform", "sdk-platform"),
];

/// The application for a document that is only tried, with its client in a separate package.
pub(crate) fn tried(name: &'static str) -> App {
    App {
        folder: ".",
        specs: "specs",
        name,
        ..SAMPLE
    }
}

/// The adopted sample, a document like a vendor's. The sample's tests compile and call every construct.
pub(crate) const SAMPLE: App = App {
    name: "crm",
    package: "sdk-adopted",
    folder: "tests/adopted",
    specs: "tests/adopted/specs",
};

const fn app(name: &'static str, package: &'static str) -> App {
    App {
        name,
        package,
        folder: package,
        specs: "specs",
    }
}

impl App {
    pub(crate) fn named(name: &str) -> Option<&'static App> {
        APPS.iter().find(|app| app.name == name)
    }

    /// The path of its spec from the root of the workspace.
    pub(crate) fn spec(&self) -> String {
        format!("{}/{}.yaml", self.specs, self.name)
    }

    pub(crate) fn crate_name(&self) -> String {
        self.package.replace('-', "_")
    }
}
