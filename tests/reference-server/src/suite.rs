//! The state of one server.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::app::App;
use crate::base::Base;
use crate::builder::Builder;
use crate::client::ClientSpec;
use crate::clock::Clock;
use crate::contradict::Assumption::{A02, A43};
use crate::counters::Counters;
use crate::data::reference::Kind;
use crate::data::{Store, actors::Actor};
use crate::faults::Faults;
use crate::generated::operations::Operation;
use crate::keys::Key;
use crate::log::Log;
use crate::own;
use crate::recorder::Recorder;
use crate::schema::{self, Contract, EXCHANGE, Served};
use crate::start::invalid;
use crate::token::key::TokenKey;
use crate::token::registry::Registry;

/// Servers share no state.
pub(crate) struct Suite {
    /// The settings at the start.
    pub(crate) settings: Builder,
    pub(crate) clock: Clock,
    pub(crate) token_key: TokenKey,
    pub(crate) cursor_key: Key,
    pub(crate) faults: Faults,
    pub(crate) recorder: Recorder,
    pub(crate) log: Option<Log>,
    pub(crate) counters: Counters,
    /// The origin of the control endpoint, if there is one.
    pub(crate) control: Option<String>,
    /// The documents that replace this package's contracts.
    contracts: [Option<Contract>; App::ALL.len()],
    bases: [Base; App::ALL.len()],
    audiences: [String; App::ALL.len()],
    store: RwLock<Store>,
    registry: Mutex<Registry>,
    pub(crate) requests: AtomicU64,
}

impl Suite {
    /// `bases` are in the order of [`App::ALL`]. Fails if it can't serve a contract.
    pub(crate) fn new(
        mut settings: Builder,
        token_key: TokenKey,
        bases: [Base; App::ALL.len()],
        control: Option<Base>,
    ) -> io::Result<Suite> {
        let mut contracts = [const { None }; App::ALL.len()];
        for (app, text) in &settings.contracts {
            let contract = Contract::read(*app, text).map_err(invalid)?;
            for note in &contract.notes {
                eprintln!("reference server: the contract of {app}: {note}");
            }
            contracts[app.index()] = Some(contract);
        }
        let hosts = bases.iter().chain(&control).map(|base| base.host.clone());
        settings.allowed_hosts.extend(hosts);
        for app in App::all() {
            let base = &bases[app.index()];
            let sharing = bases.iter().filter(|one| one.origin() == base.origin());
            if sharing.count() > 1 {
                let whole = || base.url.clone();
                settings.audiences.entry(app).or_insert_with(whole);
            }
        }
        let slash = settings.contradicted.contains(&A43).then_some("/");
        let audience = |app: App| {
            let usual = || bases[app.index()].origin().to_owned() + slash.unwrap_or_default();
            settings.audiences.get(&app).cloned().unwrap_or_else(usual)
        };
        let audiences = App::each(audience);
        for (place, audience) in audiences.iter().enumerate() {
            if audience.is_empty() || audience.contains(char::is_control) {
                let rule = "must not be empty or have control characters";
                let app = App::ALL[place];
                return Err(invalid(format!(
                    "audience of {app}: {rule}: got {audience:?}"
                )));
            }
            if let Some(twin) = audiences[..place].iter().position(|one| one == audience) {
                let both = format!("{} and {}", App::ALL[place], App::ALL[twin]);
                return Err(invalid(format!(
                    "{both} have the same audience {audience:?}"
                )));
            }
        }
        let clock = Clock::new(&settings);
        let store = Store::new(settings.seed, settings.sizes, clock.start());
        let suite = Suite {
            clock,
            token_key,
            cursor_key: Key::of_seed("cursor", settings.seed),
            faults: Faults::default(),
            recorder: Recorder::new(settings.recorded_requests),
            log: settings.request_log.map(Log::start).transpose()?,
            counters: Counters::default(),
            control: control.map(|base| base.url),
            contracts,
            store: RwLock::new(store),
            registry: Mutex::new(Registry::new(settings.token_lifetime)),
            requests: AtomicU64::new(0),
            audiences,
            bases,
            settings,
        };
        let invalid = |problem| io::Error::new(io::ErrorKind::InvalidInput, problem);
        suite.begin().map_err(invalid)?;
        Ok(suite)
    }

    pub(crate) fn base(&self, app: App) -> &Base {
        &self.bases[app.index()]
    }

    pub(crate) fn url(&self, app: App) -> &str {
        &self.base(app).url
    }

    pub(crate) fn audience(&self, app: App) -> &str {
        &self.audiences[app.index()]
    }

    pub(crate) fn token_url(&self) -> String {
        self.url(App::Platform).to_owned() + self.unless(A02, EXCHANGE, "/identity/token")
    }

    pub(crate) fn app_of_audience(&self, audience: &str) -> Option<App> {
        App::all().find(|app| self.audience(*app) == audience)
    }

    /// Returns the contract of `app`: the test's document, or else this package's contract. The error says why this
    /// package's contract can't be served.
    pub(crate) fn contract(&self, app: App) -> Result<&Contract, &str> {
        let brought = self.brought(app);
        brought.map_or_else(|| schema::built_in(app), Ok)
    }

    /// Returns the test's document that replaces the contract of `app`, if any.
    pub(crate) fn brought(&self, app: App) -> Option<&Contract> {
        self.contracts[app.index()].as_ref()
    }

    pub(crate) fn operations(&self, app: App) -> &[Served] {
        let contract = self.contract(app).ok();
        contract.map_or(&[], |contract| &contract.operations)
    }

    pub(crate) fn operation(&self, id: &str) -> Option<&Served> {
        let mut all = App::all().flat_map(|app| self.operations(app));
        all.find(|operation| &*operation.id == id)
    }

    /// Panics if there is no such operation.
    pub(crate) fn named(&self, operation: impl AsRef<str>) -> &Served {
        let id = operation.as_ref();
        self.operation(id)
            .unwrap_or_else(|| panic!("unknown operation {id:?}"))
    }

    pub(crate) fn owns_scope(&self, app: App, scope: &str) -> bool {
        let brought = self.brought(app);
        let declares = |contract: &Contract| contract.scopes().any(|known| known == scope);
        app.owns_scope(scope) || brought.is_some_and(declares)
    }

    pub(crate) fn workspace(&self) -> String {
        self.store().references.name(Kind::Workspace, 0)
    }

    pub(crate) fn store(&self) -> RwLockReadGuard<'_, Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store_mut(&self) -> RwLockWriteGuard<'_, Store> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client, with a new actor unless it acts for an existing actor. The error names an invalid field.
    pub(crate) fn add_client(&self, spec: ClientSpec) -> Result<(), String> {
        let written = Operation::all().flat_map(Operation::scopes);
        let mut known: Vec<&str> = written.copied().collect();
        known.extend(self.contracts.iter().flatten().flat_map(Contract::scopes));
        let mut seen = HashSet::new();
        known.retain(|scope| seen.insert(*scope));
        let scopes = spec.granted(&known)?;
        let actor = {
            let mut store = self.store_mut();
            if let Some(name) = &spec.actor {
                let known = store.actors.index(name);
                known.ok_or_else(|| format!("actingFor: no actor has the reference {name:?}"))?
            } else {
                let display_name = spec.id.clone().into();
                store.actors.create(Actor { display_name })
            }
        };
        self.registry().add(spec, scopes, actor);
        Ok(())
    }

    /// Adds the records of a data file, all or none, and returns their references by kind.
    pub(crate) fn load_data(&self, json: &[u8]) -> Result<own::Added, String> {
        own::load(&mut self.store_mut(), json, self.clock.now())
    }

    fn begin(&self) -> Result<(), String> {
        let first = self.store().actors.reference(0);
        let client = self.settings.client.clone().acting_for(first);
        let added = self.add_client(client);
        added.map_err(|problem| format!("the client: {problem}"))?;
        if let Some(json) = &self.settings.data {
            let loaded = self.load_data(json.as_bytes());
            loaded.map_err(|problem| format!("the data: {problem}"))?;
        }
        if let Some(json) = &self.settings.faults {
            let loaded = self.load_faults(json.as_bytes());
            loaded.map_err(|problem| format!("the faults: {problem}"))?;
        }
        Ok(())
    }

    /// Activates the faults of a fault file, all or none, and returns their numbers.
    pub(crate) fn load_faults(&self, json: &[u8]) -> Result<Vec<u64>, String> {
        self.faults.load(json, self)
    }

    /// Restores the initial state, including the time, and rejects earlier tokens.
    pub(crate) fn reset(&self) {
        self.clock.restart();
        self.faults.restart();
        self.recorder.clear();
        self.requests.store(0, Ordering::Relaxed);
        self.counters.clear();
        self.registry().restart(self.settings.token_lifetime);
        let start = self.clock.start();
        *self.store_mut() = Store::new(self.settings.seed, self.settings.sizes, start);
        self.begin()
            .expect("these settings were valid at the start");
    }
}
