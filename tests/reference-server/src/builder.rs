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

pub(crate) const CLIENT_ID: &str = "reference-client";

pub(crate) const CLIENT_SECRET: &str = "reference-secret";

/// The default limit. A local client needs less, and longer limits only keep dead connections open.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Keeps the timeout within the range of timers.
const LONGEST_READ_TIMEOUT: Duration = Duration::from_secs(86_400);

/// A request takes a few microseconds, so a few threads are enough for any test. Each thread costs memory, and threads
/// beyond the number of cores only wait for each other.
const MOST_WORKERS: usize = 64;

/// The server holds a body in memory several times over, so the settable limit needs a bound.
const LONGEST_DATA: usize = 1 << 30;

/// Configures a [`ReferenceServer`]. Every setting has a default.
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
    /// Sets the seed of the demo data, the references and the cursors. Tokens are signed with a random key, unless you
    /// call [`seeded_tokens`](Builder::seeded_tokens).
    pub fn seed(mut self, seed: u64) -> Builder {
        self.seed = seed;
        self
    }

    /// Derives the token signing key from the seed, so that a run can be repeated byte for byte. Anyone who knows the
    /// seed can then forge a token, so the setting works only for servers in memory. Other servers ignore it.
    pub fn seeded_tokens(mut self) -> Builder {
        self.seeded_tokens = true;
        self
    }

    /// Sets the algorithm that signs tokens. The default is HS256, whose tokens only the server itself can check.
    pub fn signing(mut self, signing: Signing) -> Builder {
        self.signing = signing;
        self
    }

    /// Sets the number of people. Rows are computed on read, so a million people take no memory.
    pub fn people(mut self, count: u64) -> Builder {
        self.sizes.people = count;
        self
    }

    /// Sets the number of organizations.
    pub fn organizations(mut self, count: u64) -> Builder {
        self.sizes.organizations = count;
        self
    }

    /// Sets the number of opportunities.
    pub fn opportunities(mut self, count: u64) -> Builder {
        self.sizes.opportunities = count;
        self
    }

    /// Sets the number of tasks.
    pub fn tasks(mut self, count: u64) -> Builder {
        self.sizes.tasks = count;
        self
    }

    /// Sets the number of intake submissions.
    pub fn intake_submissions(mut self, count: u64) -> Builder {
        self.sizes.intake = count;
        self
    }

    /// Sets the lifetime of tokens. The default is the documented maximum of 300 seconds. The server doesn't start
    /// with a lifetime of zero or above the maximum.
    pub fn token_lifetime(mut self, lifetime: Duration) -> Builder {
        self.token_lifetime = lifetime;
        self
    }

    /// Starts the server's clock at this instant instead of 2026-01-15T09:00:00Z. The dates of the demo data move with
    /// it.
    pub fn start_at(mut self, start: Timestamp) -> Builder {
        self.start = Start::At(start);
        self
    }

    /// Uses the machine's clock, so that services that check tokens against real time accept them. The dates in the
    /// demo data are relative to the second in which the server starts or is reset. In memory, the clock starts at the
    /// machine's time and then advances with tokio's clock.
    pub fn wall_clock(mut self) -> Builder {
        self.start = Start::Now;
        self
    }

    /// Stops the server's clock until [`ReferenceServer::advance`] or [`ReferenceServer::set_clock`] moves it.
    pub fn frozen_clock(mut self) -> Builder {
        self.frozen_clock = true;
        self
    }

    /// Sets how many of the most recent requests [`ReferenceServer::requests`] returns; 1,000 by default.
    pub fn recorded_requests(mut self, count: usize) -> Builder {
        self.recorded_requests = count;
        self
    }

    /// Sets the base URL by which clients reach an application, if it differs from the address that it listens on.
    /// [`ReferenceServer::url`] returns this URL, tokens name it, and its host is allowed. If the URL has a path, as
    /// in `https://suite.test:8443/crm`, a proxy can strip that path from requests or leave it.
    pub fn public_url(mut self, app: App, url: impl Into<String>) -> Builder {
        self.public_urls.insert(app, url.into());
        self
    }

    /// Sets the host by which clients reach every application that has no [`public_url`](Builder::public_url): for
    /// example `localhost`, or the name of a container. The host is allowed, too. By default, clients use the address
    /// that the application listens on.
    pub fn public_host(mut self, name: impl Into<String>) -> Builder {
        self.public_host = Some(name.into());
        self
    }

    /// Sets the audience of an application; its origin by default. Applications that share an origin use their URLs
    /// instead.
    pub fn audience(mut self, app: App, audience: impl Into<String>) -> Builder {
        self.audiences.insert(app, audience.into());
        self
    }

    /// Replaces the default client, which has all rights. The server's [`environment`](ReferenceServer::environment)
    /// has this client's credentials.
    pub fn client(mut self, client: ClientSpec) -> Builder {
        self.client = client;
        self
    }

    /// Sets the implementation that serves requests.
    pub fn transport(mut self, transport: Transport) -> Builder {
        self.transport = transport;
        self
    }

    /// Sets the number of threads that serve requests with [`Transport::Hyper`]: 1 to 64, and 1 by default.
    pub fn workers(mut self, workers: usize) -> Builder {
        self.workers = workers;
        self
    }

    /// Sets the address to listen on; loopback by default.
    pub fn host(mut self, host: IpAddr) -> Builder {
        self.host = host;
        self
    }

    /// Sets the port of an application; a free port by default.
    pub fn port(mut self, app: App, port: u16) -> Builder {
        self.ports.insert(app, port);
        self
    }

    /// Opens a control endpoint on this port, or on a free port if it is 0. The endpoint gives programs in any
    /// language access to faults, clock, tokens and counts. By default, there is no control endpoint.
    pub fn control_port(mut self, port: u16) -> Builder {
        self.control_port = Some(port);
        self
    }

    /// Sets the address that the control endpoint listens on; loopback by default, independent of
    /// [`host`](Builder::host). Anyone who can reach it controls the server.
    pub fn control_host(mut self, host: IpAddr) -> Builder {
        self.control_host = host;
        self
    }

    /// Allows another host name, such as `suite.test`, without a port. By default, the server accepts `localhost`,
    /// loopback addresses and the addresses that it listens on. It rejects other names with 403, because a malicious
    /// page could point its own host name at the server to reach it from a browser.
    pub fn allow_host(mut self, name: impl Into<String>) -> Builder {
        self.allowed_hosts.push(name.into());
        self
    }

    /// Lets the pages of an origin, such as `http://localhost:5173`, call the applications from a browser (CORS). `*`
    /// allows every origin. Each call adds an origin. By default, no other origin is allowed. The control endpoint
    /// always accepts commands from its own page only.
    pub fn cors(mut self, origin: impl Into<String>) -> Builder {
        self.origins.push(origin.into());
        self
    }

    /// Limits the time that a client may take to send the head of a request, and again the time for its body. After
    /// that, the server closes the connection. The limit is more than zero, at most a day, and 30 seconds by default.
    /// wiremock has no such limit.
    pub fn read_timeout(mut self, limit: Duration) -> Builder {
        self.read_timeout = limit;
        self
    }

    /// Limits the body of requests to the control endpoint, for example of `POST /-/data`. The limit is from 1 to
    /// 1,073,741,824 bytes (1 GiB), and 1,048,576 (1 MiB) by default. [`data`](Builder::data) has no limit.
    pub fn data_limit(mut self, bytes: usize) -> Builder {
        self.data_limit = bytes;
        self
    }

    /// Serves the applications over TLS, with HTTP/2, with this certificate chain and its key, both in PEM. This needs
    /// the `tls` feature and [`Transport::Hyper`]. The control endpoint stays plain HTTP. Set
    /// [`public_host`](Builder::public_host) to the name in the certificate.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Builder {
        let (certificate, key) = (certificate.into(), key.into());
        self.identity = Some(Identity { certificate, key });
        self
    }

    /// Writes a line for each request to standard output. By default, the server writes nothing.
    pub fn request_log(mut self, log: RequestLog) -> Builder {
        self.request_log = Some(log);
        self
    }

    /// Adds records to the demo data, at the start and after every [`reset`](ReferenceServer::reset). The
    /// [guide](crate::guide) documents their JSON fields. If a record is invalid, the server doesn't start.
    pub fn data(mut self, json: impl Into<Arc<str>>) -> Builder {
        self.data = Some(json.into());
        self
    }

    /// Activates the faults of a fault file (JSON), at the start and after every [`reset`](ReferenceServer::reset). If
    /// a fault is invalid, the server doesn't start.
    pub fn faults(mut self, json: impl Into<Arc<str>>) -> Builder {
        self.faults = Some(json.into());
        self
    }

    /// Serves the operations of an `OpenAPI` document (3.0 or 3.1, JSON or YAML) instead of those of `app`. The server
    /// checks requests against the document and builds its responses as samples of the schemas; see the
    /// [guide](crate::guide). If the document can't be served, the server doesn't start, and the error lists every
    /// reason.
    ///
    /// ```
    /// use sdk_reference_server::{App, ReferenceServer};
    ///
    /// let document = r#"{"openapi": "3.1.0", "info": {"title": "CRM", "version": "4"}, "paths": {
    ///     "/deals": {"get": {"operationId": "listDeals", "responses": {
    ///         "200": {"description": "Deals."}}}}}}"#;
    /// let server = ReferenceServer::builder().contract(App::Crm, document).in_memory();
    /// assert_eq!(server.attempts("listDeals"), 0);
    /// ```
    pub fn contract(mut self, app: App, document: impl Into<Arc<str>>) -> Builder {
        self.contracts.insert(app, document.into());
        self
    }

    /// Contradicts an assumption of the SDK, so the server behaves differently from `specs/ASSUMPTIONS.md` on this
    /// point. Each call adds an assumption. The [guide](crate::guide) lists the possible assumptions.
    ///
    /// ```
    /// use sdk_reference_server::{Assumption, ReferenceServer};
    ///
    /// let server = ReferenceServer::builder().contradict(Assumption::A07).in_memory();
    /// // … lists of people have a `data` field instead of `items` …
    /// ```
    pub fn contradict(mut self, assumption: Assumption) -> Builder {
        self.contradicted.insert(assumption);
        self
    }

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

    /// Returns the settings with parsed values, or an error that begins with the name of the invalid setting.
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
    /// If a port is not available, a setting is out of bounds or a contract can't be served.
    /// [`try_start`](Builder::try_start) returns these errors instead.
    pub async fn start(self) -> ReferenceServer {
        match self.try_start().await {
            Ok(server) => server,
            Err(error) => panic!("the reference server cannot start: {error}"),
        }
    }

    /// Starts the server, or returns the error that prevents it.
    pub async fn try_start(self) -> io::Result<ReferenceServer> {
        start::start(self).await
    }

    /// Builds a server without sockets, as [`ReferenceServer::in_memory`] does.
    /// [`control_port`](Builder::control_port) adds the control endpoint at `https://control.suite.test`, whatever the
    /// port. Settings for sockets have no effect.
    ///
    /// # Panics
    /// If the system has no randomness for the token signing key, a setting is out of bounds or a contract can't be
    /// served.
    #[must_use]
    pub fn in_memory(self) -> ReferenceServer {
        match start::in_memory(self) {
            Ok(server) => server,
            Err(error) => panic!("the reference server cannot start: {error}"),
        }
    }
}
