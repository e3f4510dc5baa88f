//! The command-line options.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use crate::{App, Builder, ReferenceServer, RequestLog, Signing, Transport};

/// The number of application ports. The control endpoint uses the port after them.
#[expect(clippy::cast_possible_truncation, reason = "there are few")]
const APPS: u16 = App::ALL.len() as u16;

pub(crate) const HELP: &str = "\
Serves the suite's CRM, Calendar, Accounting and Platform with demo data, as the contract documents them.

Usage: {name} [OPTIONS]

Addresses:
  --host HOST              address to listen on, or a name for it such as localhost   [127.0.0.1]
  --public-host NAME       host name by which clients reach the applications, printed and accepted   [--host]
  --port-base PORT         port of the Platform, at most 65531; CRM, Calendar, Accounting and control use the
                           ports after it; 0 uses free ports   [4010]
  --allow-host NAMES       more host names to accept: a,b; may be repeated   [localhost and its own addresses]
  --cors ORIGINS           origins whose pages may call the applications from a browser: http://localhost:5173,
                           or * for all; a list, may be repeated   [none]
  --control-port PORT      port of the control endpoint   [--port-base + 4]
  --control-host ADDRESS   address of the control endpoint; anyone who can reach it controls the server   [127.0.0.1]
  --tls-cert FILE          certificate chain in PEM, for all ports but control   [plain HTTP]
  --tls-key FILE           private key of the certificate in PEM
  --read-timeout SECONDS   time limit for a request's head, and again for its body; more than 0, at most 86400   [30]
  --data-limit BYTES       longest body that the control endpoint accepts; 1 to 1073741824   [1048576]
  --workers N              threads that answer requests, 1 to 64   [2]

Each application (crm, calendar, accounting, and core for the Platform; here crm):
  --crm-port PORT          port of the CRM   [see --port-base]
  --crm-url URL            base URL by which clients reach the CRM, printed and accepted: https://crm.test:8443/crm;
                           a proxy may strip its path   [address it listens on]
  --crm-audience AUDIENCE  audience of the CRM's tokens   [origin of its URL]

Data:
  --seed N                 seed of the demo data   [1]
  --people N               number of people   [300]
  --organizations N        number of organizations   [120]
  --opportunities N        number of opportunities   [400]
  --tasks N                number of tasks   [500]
  --intake-submissions N   number of intake submissions   [80]
  --contract APP=FILE      OpenAPI document to serve instead of an application's: crm=openapi.yaml; may be repeated
  --data FILE              your own records, as JSON: {\"people\": [{\"displayName\": \"Ada Lovelace\"}]}

Behavior:
  --clock wall|INSTANT     the machine's clock, or a start time: 2026-01-15T09:00:00Z; data dates follow it   [wall]
  --frozen                 stop the clock until it is moved
  --token-lifetime SECONDS lifetime of tokens, more than 0, at most 300   [300]
  --signing hs256|es256    signature of tokens; services can check es256 with /.well-known/jwks.json   [hs256]
  --faults FILE            initial faults, as JSON: {\"faults\": [{\"operation\": \"listPeople\",
                           \"when\": {\"times\": 2}, \"then\": {\"status\": 503}}]}
  --recorded-requests N    number of recent requests that the control port's /-/requests lists, at most 100000   [256]
  --log text|json          a line on standard output for each request, without secrets; with json, standard output
                           has nothing else, and the variables below go to standard error   [no log]
  --contradict IDS         assumptions of the SDK to contradict: A07,A44; may be repeated; see the guide's section
                           \"Contradict an assumption\"; an unknown ID prints all known IDs
  --health                 ask a server that runs with these options whether it is ready, then exit with status 0,
                           or with 1 and the reason
  --version                print the version, also -V
  --help                   print this help, also -h

Each option is also an environment variable: REFERENCE_CRM_URL is --crm-url. The command line wins.
The server prints the environment variables for a client, then `# ready`. It stops on Ctrl-C or SIGTERM.
Each application serves a page at / and its contract at /openapi.yaml. The control port serves a page at /,
its contract at /-/openapi.yaml and a health probe at /-/health.
";

/// Each recorded request takes up to 16 KiB, and more with long headers.
const MOST_RECORDED_REQUESTS: usize = 100_000;

/// The action that the command line requests.
pub(crate) enum Wanted {
    Serve(Box<Args>),
    Health(Box<Args>),
    Help,
    Version,
}

/// The options that are not yet set in the builder.
pub(crate) struct Args {
    pub(crate) host: IpAddr,
    pub(crate) control_host: IpAddr,
    pub(crate) seed: u64,
    pub(crate) people: u64,
    pub(crate) log: Option<RequestLog>,
    builder: Builder,
    /// The files that options name, for errors about their content.
    files: BTreeMap<String, String>,
    /// The certificate and its key.
    tls: [Option<Vec<u8>>; 2],
    port_base: u16,
    control_port: Option<u16>,
    chosen_ports: Vec<(App, u16)>,
}

impl Default for Args {
    fn default() -> Args {
        Args {
            host: Ipv4Addr::LOCALHOST.into(),
            control_host: Ipv4Addr::LOCALHOST.into(),
            seed: 1,
            people: 300,
            log: None,
            files: BTreeMap::new(),
            tls: [None, None],
            builder: ReferenceServer::builder()
                .transport(Transport::Hyper)
                .wall_clock()
                .workers(2)
                .recorded_requests(256),
            port_base: 4010,
            control_port: None,
            chosen_ports: Vec::new(),
        }
    }
}

impl Args {
    pub(crate) fn parse(
        program: &str,
        words: impl Iterator<Item = String>,
    ) -> Result<Wanted, String> {
        let mut args = Args::default();
        let variables = std::env::vars_os();
        for (name, value) in variables.collect::<BTreeMap<_, _>>() {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            let Some(option) = name.strip_prefix("REFERENCE_").map(option) else {
                continue;
            };
            if !is_known(&option) {
                // This is a warning, because orchestrators create variables from the names of services.
                eprintln!("{program}: warning: {name} is not an option");
            } else if !value.is_empty() {
                let problem = |problem| format!("{name}: {problem}");
                args.set(&option, Some(value.into_owned()))
                    .map_err(problem)?;
            }
        }
        let mut words = words.flat_map(|word| match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => {
                vec![name.to_owned(), value.to_owned()]
            }
            _ => vec![word],
        });
        let mut wanted: fn(Box<Args>) -> Wanted = Wanted::Serve;
        while let Some(name) = words.next() {
            if matches!(name.as_str(), "--help" | "-h") {
                return Ok(Wanted::Help);
            }
            if matches!(name.as_str(), "--version" | "-V") {
                return Ok(Wanted::Version);
            }
            if name == "--health" {
                wanted = Wanted::Health;
                continue;
            }
            let flag = (name == "--frozen").then(|| "true".to_owned());
            args.set(&name, flag.or_else(|| words.next()))?;
        }
        if args.port_base > u16::MAX - APPS {
            let (most, ports) = (u16::MAX - APPS, APPS + 1);
            let rule = format!("must be at most {most}, for {ports} ports");
            return Err(format!("--port-base: {rule}: got {}", args.port_base));
        }
        Ok(wanted(Box::new(args)))
    }

    fn set(&mut self, name: &str, value: Option<String>) -> Result<(), String> {
        let mut builder = std::mem::take(&mut self.builder);
        match name {
            "--host" => {
                let host: String = parsed(name, value)?;
                if host.parse::<IpAddr>().is_err() {
                    builder = builder.public_host(&host);
                }
                self.host = address(name, &host)?;
            }
            "--public-host" => builder = builder.public_host(parsed::<String>(name, value)?),
            "--clock" => {
                builder = match parsed::<String>(name, value)?.as_str() {
                    "wall" => builder.wall_clock(),
                    instant => builder.start_at(parsed(name, Some(instant.to_owned()))?),
                }
            }
            "--frozen" if parsed(name, value.clone())? => builder = builder.frozen_clock(),
            "--frozen" => {}
            "--signing" => {
                let signing = match parsed::<String>(name, value)?.as_str() {
                    "hs256" => Signing::Hs256,
                    "es256" => Signing::Es256,
                    other => return Err(format!("{name}: must be hs256 or es256: got {other:?}")),
                };
                builder = builder.signing(signing);
            }
            "--tls-cert" => self.tls[0] = Some(self.read(name, value)?),
            "--tls-key" => self.tls[1] = Some(self.read(name, value)?),
            "--port-base" => self.port_base = parsed(name, value)?,
            "--control-port" => self.control_port = Some(parsed(name, value)?),
            "--control-host" => self.control_host = parsed(name, value)?,
            "--allow-host" => {
                builder = list(name, value)?.fold(builder, Builder::allow_host);
            }
            "--cors" => builder = list(name, value)?.fold(builder, Builder::cors),
            "--read-timeout" => builder = builder.read_timeout(seconds(name, value)?),
            "--data-limit" => builder = builder.data_limit(parsed(name, value)?),
            "--recorded-requests" => {
                let count = parsed(name, value)?;
                if count > MOST_RECORDED_REQUESTS {
                    let rule = format!("must be at most {MOST_RECORDED_REQUESTS}");
                    return Err(format!("{name}: {rule}: got {count}"));
                }
                builder = builder.recorded_requests(count);
            }
            "--workers" => builder = builder.workers(parsed(name, value)?),
            "--seed" => self.seed = parsed(name, value)?,
            "--people" => self.people = parsed(name, value)?,
            "--organizations" => builder = builder.organizations(parsed(name, value)?),
            "--opportunities" => builder = builder.opportunities(parsed(name, value)?),
            "--tasks" => builder = builder.tasks(parsed(name, value)?),
            "--intake-submissions" => builder = builder.intake_submissions(parsed(name, value)?),
            "--token-lifetime" => builder = builder.token_lifetime(seconds(name, value)?),
            "--contradict" => {
                for id in list(name, value)? {
                    let assumption = id.parse().map_err(|error| format!("{name}: {error}"))?;
                    builder = builder.contradict(assumption);
                }
            }
            "--log" => {
                self.log = Some(match parsed::<String>(name, value)?.as_str() {
                    "text" => RequestLog::Text,
                    "json" => RequestLog::Json,
                    other => return Err(format!("{name}: must be text or json: got {other:?}")),
                });
            }
            "--contract" => {
                let given = parsed::<String>(name, value)?;
                let parts = given.split_once('=');
                let parts = parts.and_then(|(app, file)| Some((App::from_id(app)?, file)));
                let rule = "must be an application and a file, such as crm=openapi.yaml";
                let (app, file) = parts.ok_or(format!("{name}: {rule}: got {given:?}"))?;
                let text: String = self.read(name, Some(file.to_owned()))?;
                builder = builder.contract(app, text);
            }
            "--data" => builder = builder.data(self.read::<String>(name, value)?),
            "--faults" => builder = builder.faults(self.read::<String>(name, value)?),
            _ => {
                let unknown = || format!("unknown option {name}");
                let parts = name.trim_start_matches('-').rsplit_once('-');
                let (short, what) = parts.ok_or_else(unknown)?;
                let app = match short {
                    "core" => App::Platform,
                    _ => App::from_id(short)
                        .filter(|app| *app != App::Platform)
                        .ok_or_else(unknown)?,
                };
                match what {
                    "port" => self.chosen_ports.push((app, parsed(name, value)?)),
                    "url" => builder = builder.public_url(app, parsed::<String>(name, value)?),
                    "audience" => builder = builder.audience(app, parsed::<String>(name, value)?),
                    _ => return Err(unknown()),
                }
            }
        }
        self.builder = builder;
        Ok(())
    }

    /// Returns the port of the control endpoint, which follows the ports of the applications.
    pub(crate) fn control_port(&self) -> u16 {
        self.control_port.unwrap_or_else(|| self.port(APPS))
    }

    fn port(&self, place: u16) -> u16 {
        match self.port_base {
            0 => 0,
            base => base + place,
        }
    }

    pub(crate) fn builder(&self) -> Result<Builder, String> {
        let port = |place| self.port(place);
        let mut builder = self
            .builder
            .clone()
            .host(self.host)
            .control_host(self.control_host)
            .control_port(self.control_port())
            .seed(self.seed)
            .people(self.people);
        let places = (0..).zip(App::platform_first());
        let places = places.map(|(place, app)| (app, port(place)));
        // The last port of an application wins.
        for (app, port) in places.chain(self.chosen_ports.iter().copied()) {
            builder = builder.port(app, port);
        }
        if let Some(log) = self.log {
            builder = builder.request_log(log);
        }
        match &self.tls {
            [Some(certificate), Some(key)] => {
                builder = builder.tls(certificate.as_slice(), key.as_slice());
            }
            [None, None] => {}
            _ => return Err("--tls-cert and --tls-key must be set together".to_owned()),
        }
        Ok(builder)
    }

    /// Translates an error of the builder into the terms of the command line.
    pub(crate) fn explain(&self, problem: &str) -> String {
        let Some((setting, rest)) = problem.split_once(':') else {
            return problem.to_owned();
        };
        let option = option(setting.trim_start_matches("the "));
        match self.files.get(&option) {
            Some(file) => format!("{option} {file}:{rest}"),
            None if is_known(&option) => format!("{option}:{rest}"),
            None => problem.to_owned(),
        }
    }

    fn read<T>(&mut self, name: &str, value: Option<String>) -> Result<T, String>
    where
        T: TryFrom<Vec<u8>, Error: Display>,
    {
        let file: String = parsed(name, value)?;
        let problem = |error: &dyn Display| format!("{name} {file}: {error}");
        let bytes = std::fs::read(&file).map_err(|error| problem(&error))?;
        let content = T::try_from(bytes).map_err(|error| problem(&error))?;
        self.files.insert(name.to_owned(), file);
        Ok(content)
    }
}

/// Returns the option for a variable or a setting.
fn option(name: &str) -> String {
    format!("--{}", name.to_ascii_lowercase().replace('_', "-"))
}

/// Whether the option exists. The help lists the options of the four applications once.
fn is_known(option: &str) -> bool {
    let same = ["--core-", "--calendar-", "--accounting-"];
    let listed = same.iter().fold(option.to_owned(), |option, app| {
        option.replace(app, "--crm-")
    });
    HELP.contains(&format!("  {listed} "))
}

/// Resolves a host name to an address, preferring IPv4.
fn address(name: &str, host: &str) -> Result<IpAddr, String> {
    let found = (host, 0).to_socket_addrs();
    let found = found.map_err(|error| format!("{name}: {host}: {error}"))?;
    let least = found.map(|address| address.ip()).min();
    least.ok_or_else(|| format!("{name}: {host} has no address"))
}

fn list(name: &str, value: Option<String>) -> Result<impl Iterator<Item = String>, String> {
    let parts: String = parsed(name, value)?;
    let parts: Vec<_> = parts
        .split(',')
        .map(|part| part.trim().to_owned())
        .collect();
    Ok(parts.into_iter())
}

fn seconds(name: &str, value: Option<String>) -> Result<Duration, String> {
    let seconds = parsed(name, value)?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("{name}: {error}"))
}

fn parsed<T: FromStr<Err: Display>>(name: &str, value: Option<String>) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("{name} needs a value"))?;
    let problem = |error| format!("{name}: {error}: got {value:?}");
    value.parse().map_err(problem)
}
