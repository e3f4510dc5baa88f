//! The configuration of a server.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

#[cfg(feature = "tls")]
use crate::adapters::tls::Identity;
use crate::adapters::{Acceptor, Transport, cors};
use crate::app::App;
use crate::client::ClientSpec;
use crate::clock::Start;
use crate::contradict::Assumption;
use crate::data::Sizes;
use crate::log::RequestLog;
use crate::message::LONGEST_BODY;
use crate::server::ReferenceServer;
use crate::start;
use crate::token::key::Signing;
use crate::token::registry::{self, LONGEST_LIFE};

/// The id of the client that every server knows.
pub(crate) const CLIENT_ID: &str = "reference-client";

/// Its secret.
pub(crate) const CLIENT_SECRET: &str = "reference-secret";

/// More than any local client needs; a connection is not held open longer.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Keeps the timeout within what timers support.
const LONGEST_READ_TIMEOUT: Duration = Duration::from_secs(86_400);

/// A request takes some microseconds, so that a few threads serve every test. Each costs memory, and beyond the number of cores
/// they only wait for each other.
const MOST_WORKERS: usize = 64;

/// A body is in memory as a whole, several times over.
const LONGEST_DATA: usize = 1 << 30;

/// Configures a [`ReferenceServer`]. Everything has a default.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    pub(crate) seed: u64,
    pub(crate) seeded_tokens: bool,
    pub(crate) signing: Signing,
    pub(crate) sizes: Sizes,
    pub(crate) token_lifetime: Duration,
    pub(crate) start: Start,
    pub(crate) frozen_clock: bool,
    pub(crate) recorded_requests: usize,
    pub(crate) audiences: HashMap<App, String>,
    pub(crate) public_urls: HashMap<App, String>,
    pub(crate) public_host: Option<String>,
    pub(crate) client: ClientSpec,
    pub(crate) transport: Transport,
    pub(crate) workers: usize,
    pub(crate) host: IpAddr,
    pub(crate) ports: HashMap<App, u16>,
    pub(crate) control_host: IpAddr,
    pub(crate) control_port: Option<u16>,
    pub(crate) allowed_hosts: Vec<String>,
    /// The origins whose pages may call the applications.
    pub(crate) origins: Vec<String>,
    pub(crate) read_timeout: Duration,
    pub(crate) data_limit: usize,
    #[cfg(feature = "tls")]
    pub(crate) identity: Option<Identity>,
    pub(crate) request_log: Option<RequestLog>,
    pub(crate) data: Option<Arc<str>>,
    pub(crate) faults: Option<Arc<str>>,
    pub(crate) contracts: HashMap<App, Arc<str>>,
    pub(crate) contradicted: BTreeSet<Assumption>,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            seed: 1,
            seeded_tokens: false,
            signing: Signing::default(),
            sizes: Sizes::default(),
            // The documented maximum.
            token_lifetime: LONGEST_LIFE,
            start: Start::default(),
            frozen_clock: false,
            recorded_requests: 1_000,
            audiences: HashMap::new(),
            public_urls: HashMap::new(),
            public_host: None,
            client: ClientSpec::new(CLIENT_ID, CLIENT_SECRET),
            transport: Transport::default(),
            workers: 1,
            host: Ipv4Addr::LOCALHOST.into(),
            ports: HashMap::new(),
            control_host: Ipv4Addr::LOCALHOST.into(),
            control_port: None,
            allowed_hosts: Vec::new(),
            origins: Vec::new(),
            read_timeout: READ_TIMEOUT,
            data_limit: LONGEST_BODY,
            #[cfg(feature = "tls")]
            identity: None,
            request_log: None,
            data: None,
            faults: None,
            contracts: HashMap::new(),
            contradicted: BTreeSet::new(),
        }
    }
}

impl Builder {
    /// The seed of the demo data, of the references and of the cursors. Tokens are signed with a random key, unless
    /// [`seeded_tokens`](Builder::seeded_tokens) says otherwise.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.seed = seed;
        self
    }

    /// Derives the key of the tokens from the seed, so that a run can be repeated to the last byte. Anybody can then forge a
    /// token: only for a server in memory, and without effect on others.
    pub fn seeded_tokens(mut self) -> Builder {
        self.seeded_tokens = true;
        self
    }

    /// How tokens are signed; with HS256 by default, which nobody else can check.
    pub fn signing(mut self, signing: Signing) -> Builder {
        self.signing = signing;
        self
    }

    /// How many people there are. Rows are computed on read, so a million people take no memory.
    pub fn people(mut self, count: u64) -> Builder {
        self.sizes.people = count;
        self
    }

    /// How many organizations there are.
    pub fn organizations(mut self, count: u64) -> Builder {
        self.sizes.organizations = count;
        self
    }

    /// How many opportunities there are.
    pub fn opportunities(mut self, count: u64) -> Builder {
        self.sizes.opportunities = count;
        self
    }

    /// How many tasks there are.
    pub fn tasks(mut self, count: u64) -> Builder {
        self.sizes.tasks = count;
        self
    }

    /// How many intake submissions there are.
    pub fn intake_submissions(mut self, count: u64) -> Builder {
        self.sizes.intake = count;
        self
    }

    /// The lifetime of tokens: more than zero, and at most the documented 300 seconds, which is the default. Otherwise the server
    /// does not start.
    pub fn token_lifetime(mut self, lifetime: Duration) -> Builder {
        self.token_lifetime = lifetime;
        self
    }

    /// Starts the server's clock, and the demo data with it, at this instant instead of 2026-01-15T09:00:00Z.
    pub fn start_at(mut self, start: Timestamp) -> Builder {
        self.start = Start::At(start);
        self
    }

    /// Goes by the machine's clock, so that tokens are right for everybody else. The data go by the second in which the
    /// server starts or is reset. In memory, time starts there and passes with tokio's.
    pub fn wall_clock(mut self) -> Builder {
        self.start = Start::Now;
        self
    }

    /// Stops the server's clock until [`ReferenceServer::advance`] or [`ReferenceServer::set_clock`] moves it.
    pub fn frozen_clock(mut self) -> Builder {
        self.frozen_clock = true;
        self
    }

    /// How many of the last requests [`ReferenceServer::requests`] remembers; 1,000 by default.
    pub fn recorded_requests(mut self, count: usize) -> Builder {
        self.recorded_requests = count;
        self
    }

    /// The base URL by which clients reach an application, where that is not the address it listens at. It is what
    /// [`ReferenceServer::url`] says and tokens name, and its host is allowed. A path, as in `https://suite.test:8443/crm`,
    /// may come with requests or be stripped by a proxy.
    pub fn public_url(mut self, app: App, url: impl Into<String>) -> Builder {
        self.public_urls.insert(app, url.into());
        self
    }

    /// The host by which clients reach every application that has no [`public_url`](Builder::public_url), instead of the address
    /// it listens at: `localhost`, or the name of a container. It is allowed, too.
    pub fn public_host(mut self, name: impl Into<String>) -> Builder {
        self.public_host = Some(name.into());
        self
    }

    /// The audience of an application, instead of its origin. Applications with one origin have their URLs as audiences.
    pub fn audience(mut self, app: App, audience: impl Into<String>) -> Builder {
        self.audiences.insert(app, audience.into());
        self
    }

    /// The client whose credentials the server hands out, instead of the default one with all rights.
    pub fn client(mut self, client: ClientSpec) -> Builder {
        self.client = client;
        self
    }

    /// What answers.
    pub fn transport(mut self, transport: Transport) -> Builder {
        self.transport = transport;
        self
    }

    /// How many threads answer, with [`Transport::Hyper`]: 1 to 64, and 1 by default.
    pub fn workers(mut self, workers: usize) -> Builder {
        self.workers = workers;
        self
    }

    /// The address to listen at; loopback by default.
    pub fn host(mut self, host: IpAddr) -> Builder {
        self.host = host;
        self
    }

    /// The port of an application; a free one by default.
    pub fn port(mut self, app: App, port: u16) -> Builder {
        self.ports.insert(app, port);
        self
    }

    /// Opens a control endpoint at this port, 0 for a free one: faults, clock, tokens and counts without
    /// Rust. There is none by default.
    pub fn control_port(mut self, port: u16) -> Builder {
        self.control_port = Some(port);
        self
    }

    /// The address that the control endpoint listens at; loopback by default, independent of
    /// [`host`](Builder::host). Anyone who can reach it controls the server.
    pub fn control_host(mut self, host: IpAddr) -> Builder {
        self.control_host = host;
        self
    }

    /// Allows another host name, such as `suite.test`, without a port. By default the server accepts `localhost`,
    /// loopback addresses and those it listens on, and refuses other names with 403: a malicious page could use a name
    /// of its own to reach it from a browser.
    pub fn allow_host(mut self, name: impl Into<String>) -> Builder {
        self.allowed_hosts.push(name.into());
        self
    }

    /// Lets the pages of an origin, such as `http://localhost:5173`, call the applications from a browser (CORS), or with
    /// `*` the pages of every origin; several add up. The control endpoint accepts commands from its own page
    /// only. None by default.
    pub fn cors(mut self, origin: impl Into<String>) -> Builder {
        self.origins.push(origin.into());
        self
    }

    /// How long a client may take to send the head of a request, and again to send its body, before the connection is
    /// closed: more than zero, at most a day, and 30 seconds by default. wiremock has no such limit.
    pub fn read_timeout(mut self, limit: Duration) -> Builder {
        self.read_timeout = limit;
        self
    }

    /// The longest body in bytes that the control endpoint accepts, for example from `POST /-/data`: at least 1, at most
    /// 1,073,741,824 (1 GiB), and 1,048,576 (1 MiB) by default. [`data`](Builder::data) has no limit.
    pub fn data_limit(mut self, bytes: usize) -> Builder {
        self.data_limit = bytes;
        self
    }

    /// Serves the applications over TLS, HTTP/2 included, with this chain of certificates and its key, both in PEM; needs the
    /// feature `tls` and [`Transport::Hyper`]. The control endpoint stays plain HTTP. [`public_host`](Builder::public_host) is
    /// the name in the certificate.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Builder {
        let (certificate, key) = (certificate.into(), key.into());
        self.identity = Some(Identity { certificate, key });
        self
    }

    /// Writes a line about each request on standard output; none by default.
    pub fn request_log(mut self, log: RequestLog) -> Builder {
        self.request_log = Some(log);
        self
    }

    /// Records beside the demo data, at the start and after every [`reset`](ReferenceServer::reset), as JSON; the
    /// [guide](crate::guide) shows their members. What is wrong with them is an error when the server starts.
    pub fn data(mut self, json: impl Into<Arc<str>>) -> Builder {
        self.data = Some(json.into());
        self
    }

    /// Faults that are active from the start and after every [`reset`](ReferenceServer::reset), as the JSON of a fault file.
    /// What is wrong with them is an error when the server starts.
    pub fn faults(mut self, json: impl Into<Arc<str>>) -> Builder {
        self.faults = Some(json.into());
        self
    }

    /// Serves the operations of an `OpenAPI` document, 3.0 or 3.1 and JSON or YAML, instead of those of `app`: requests are
    /// checked against it, and replies are samples of its schemas. The [guide](crate::guide) says how. A document that
    /// cannot be served is an error when the server starts, which lists everything that is in the way.
    ///
    /// ```
    /// use sdk_reference_server::{App, ReferenceServer};
    ///
    /// let document = r#"{"openapi": "3.1.0", "info": {"title": "CRM", "version": "4"}, "paths": {"/deals": {"get": {
    ///     "operationId": "listDeals", "responses": {"200": {"description": "Deals."}}}}}}"#;
    /// let server = ReferenceServer::builder().contract(App::Crm, document).in_memory();
    /// assert_eq!(server.attempts("listDeals"), 0);
    /// ```
    pub fn contract(mut self, app: App, document: impl Into<Arc<str>>) -> Builder {
        self.contracts.insert(app, document.into());
        self
    }

    /// Serves a world in which an assumption of the register does not hold; several add up. The
    /// [guide](crate::guide) has a table of all.
    ///
    /// ```
    /// use sdk_reference_server::{Assumption, ReferenceServer};
    ///
    /// let server = ReferenceServer::builder().contradict(Assumption::A07).in_memory();
    /// // … the pages of people have `data` instead of `items` …
    /// ```
    pub fn contradict(mut self, assumption: Assumption) -> Builder {
        self.contradicted.insert(assumption);
        self
    }

    /// What proves this server to its clients, if it speaks TLS.
    #[cfg_attr(not(feature = "tls"), allow(clippy::unused_self))]
    pub(crate) fn acceptor(&self) -> Result<Option<Acceptor>, String> {
        #[cfg(feature = "tls")]
        if let Some(identity) = &self.identity {
            if self.transport == Transport::Wiremock {
                return Err("tls: needs Transport::Hyper".to_owned());
            }
            return identity.acceptor().map(Some);
        }
        Ok(None)
    }

    /// The settings, or why no server can have them, beginning with the name of one.
    pub(crate) fn checked(mut self) -> Result<Builder, String> {
        self.token_lifetime = registry::lifetime("token_lifetime", self.token_lifetime)?;
        let (limit, seconds) = (self.read_timeout, self.read_timeout.as_secs_f64());
        if limit.is_zero() || limit > LONGEST_READ_TIMEOUT {
            let rule = "must be more than 0 and at most 86400 seconds";
            return Err(format!("read_timeout: {rule}: got {seconds}"));
        }
        if !(1..=LONGEST_DATA).contains(&self.data_limit) {
            let rule = format!("must be from 1 to {LONGEST_DATA} bytes");
            return Err(format!("data_limit: {rule}: got {}", self.data_limit));
        }
        if !(1..=MOST_WORKERS).contains(&self.workers) {
            let rule = format!("must be 1 to {MOST_WORKERS}");
            return Err(format!("workers: {rule}: got {}", self.workers));
        }
        let origins = self.origins.iter().map(|origin| cors::origin(origin));
        self.origins = origins.collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Starts the server.
    ///
    /// # Panics
    /// If a port is not available, a setting is out of bounds or a contract cannot be served; [`try_start`](Builder::try_start) reports that instead.
    pub async fn start(self) -> ReferenceServer {
        match self.try_start().await {
            Ok(server) => server,
            Err(error) => panic!("the reference server cannot start: {error}"),
        }
    }

    /// Starts the server, or returns why it cannot.
    pub async fn try_start(self) -> io::Result<ReferenceServer> {
        start::start(self).await
    }

    /// A server without sockets, as [`ReferenceServer::in_memory`] gives it. [`control_port`](Builder::control_port) adds
    /// the control endpoint, at `https://control.suite.test` whatever its number; settings of sockets have no effect.
    ///
    /// # Panics
    /// If the system has no randomness for the key of the tokens, a setting is out of bounds, or a contract cannot be served.
    #[must_use]
    pub fn in_memory(self) -> ReferenceServer {
        match start::in_memory(self) {
            Ok(server) => server,
            Err(error) => panic!("the reference server cannot start: {error}"),
        }
    }
}
