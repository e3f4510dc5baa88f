//! The command line.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sdk_reference_server::{App, Builder, ReferenceServer, RequestLog, Signing, Transport};

pub(crate) const HELP: &str = "\
Serves the suite's CRM, Calendar, Accounting and Platform with demo data, as the contract documents them.

Usage: suite-reference-server [OPTIONS]

Where:
  --host HOST              address to listen on, or a name for it such as localhost   [127.0.0.1]
  --public-host NAME       host by which clients reach it, printed and accepted   [--host]
  --crm-url URL            base URL by which clients reach the CRM, printed and accepted: https://crm.test:8443/crm;
                           its path may be stripped by a proxy; also core, calendar, accounting
  --crm-audience TEXT      audience of the CRM's tokens; also core, calendar, accounting   [origin of its URL]
  --port-base PORT         Platform here, then CRM, Calendar, Accounting and control; 0: free ports   [4010]
  --crm-port PORT          port of the CRM; also core, calendar, accounting
  --tls-cert FILE          certificate chain in PEM, for all ports but control
  --tls-key FILE           its key
  --control-port PORT      port of the control endpoint
  --control-host ADDRESS   address of the control endpoint; anyone who can reach it controls the server   [127.0.0.1]
  --allow-host NAME        another host name to accept; may be repeated, or a list: a,b   [localhost and where it listens]
  --read-timeout SECS      time limit for a client to send a head, and again a body   [30]
  --workers N              worker threads                            [2]

Data:
  --seed N                 seed of the demo data                     [1]
  --people N               how many people there are                 [300]
  --organizations N        how many organizations                    [120]
  --opportunities N        how many opportunities                    [400]
  --tasks N                how many tasks                            [500]
  --intake-submissions N   how many intake submissions               [80]
  --contract APP=FILE      an OpenAPI document to serve in place of an application's: crm=openapi.yaml; may be repeated
  --data FILE              records of your own, as JSON: {\"people\": [{\"displayName\": \"Ada Lovelace\"}]}

Behaviour:
  --clock wall|INSTANT     time by the machine's clock, or from an instant on: 2026-01-15T09:00:00Z; data go by it   [wall]
  --frozen                 time stands still until it is moved
  --token-lifetime SECS    lifetime of tokens, at most 300           [300]
  --signing hs256|es256    signature of tokens; by es256, services can check them: /.well-known/jwks.json   [hs256]
  --faults FILE            initial faults, as JSON: {\"faults\": [{\"operation\": \"listPeople\",
                           \"when\": {\"times\": 2}, \"then\": {\"status\": 503}}]}
  --log text|json          a line on standard output for each request, without secrets
  --contradict IDS         assumptions of specs/ASSUMPTIONS.md that do not hold here, such as A07,A44; may be repeated
  --version                the version of the program
  --help                   this text

Each option is a variable, too: REFERENCE_CRM_URL is --crm-url. The command line wins.
It prints the environment variables for a client, then `# ready`, and stops on Ctrl-C or SIGTERM.
Each port has a page at / and, except for control, its contract at /openapi.yaml. Control has a probe at /-/ready.
";

/// What the command line asks for.
pub(crate) enum Wanted {
    Serve(Box<Args>),
    Help,
    Version,
}

/// The options; those that are not here are in the builder already.
pub(crate) struct Args {
    pub(crate) host: IpAddr,
    pub(crate) control_host: IpAddr,
    pub(crate) seed: u64,
    pub(crate) people: u64,
    pub(crate) contracts: Vec<(App, PathBuf)>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) faults: Option<PathBuf>,
    /// What names the files of TLS.
    pub(crate) tls: [Option<PathBuf>; 2],
    builder: Builder,
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
            contracts: Vec::new(),
            data: None,
            faults: None,
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
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut args = Args::default();
        let variables = std::env::vars_os();
        for (name, value) in variables.collect::<BTreeMap<_, _>>() {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            let Some(option) = name.strip_prefix("REFERENCE_").map(option) else {
                continue;
            };
            if !is_known(&option) {
                // No mistake: orchestrators make variables of the names of services.
                eprintln!("suite-reference-server: warning: {name} is no option");
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
        while let Some(name) = words.next() {
            if matches!(name.as_str(), "--help" | "-h") {
                return Ok(Wanted::Help);
            }
            if name == "--version" {
                return Ok(Wanted::Version);
            }
            let flag = (name == "--frozen").then(|| "true".to_owned());
            args.set(&name, flag.or_else(|| words.next()))?;
        }
        if args.port_base > u16::MAX - 4 {
            return Err("--port-base: five ports must fit above it".to_owned());
        }
        Ok(Wanted::Serve(Box::new(args)))
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
            "--tls-cert" => self.tls[0] = Some(parsed(name, value)?),
            "--tls-key" => self.tls[1] = Some(parsed(name, value)?),
            "--port-base" => self.port_base = parsed(name, value)?,
            "--control-port" => self.control_port = Some(parsed(name, value)?),
            "--control-host" => self.control_host = parsed(name, value)?,
            "--allow-host" => {
                let names: String = parsed(name, value)?;
                builder = names
                    .split(',')
                    .fold(builder, |builder, name| builder.allow_host(name.trim()));
            }
            "--read-timeout" => builder = builder.read_timeout(seconds(name, value)?),
            "--workers" => builder = builder.workers(parsed(name, value)?),
            "--seed" => self.seed = parsed(name, value)?,
            "--people" => self.people = parsed(name, value)?,
            "--organizations" => builder = builder.organizations(parsed(name, value)?),
            "--opportunities" => builder = builder.opportunities(parsed(name, value)?),
            "--tasks" => builder = builder.tasks(parsed(name, value)?),
            "--intake-submissions" => builder = builder.intake_submissions(parsed(name, value)?),
            "--token-lifetime" => builder = builder.token_lifetime(seconds(name, value)?),
            "--contradict" => {
                for id in parsed::<String>(name, value)?.split(',') {
                    let assumption = id.trim().parse();
                    builder =
                        builder.contradict(assumption.map_err(|error| format!("{name}: {error}"))?);
                }
            }
            "--log" => {
                builder = builder.request_log(match parsed::<String>(name, value)?.as_str() {
                    "text" => RequestLog::Text,
                    "json" => RequestLog::Json,
                    other => return Err(format!("{name}: {other:?} is neither text nor json")),
                });
            }
            "--contract" => {
                let given = parsed::<String>(name, value)?;
                let parts = given.split_once('=');
                let parts = parts.and_then(|(app, path)| Some((App::from_id(app)?, path.into())));
                let rule = "must be an application and a file, such as crm=openapi.yaml";
                self.contracts
                    .push(parts.ok_or(format!("{name}: {rule}: got {given:?}"))?);
            }
            "--data" => self.data = Some(parsed(name, value)?),
            "--faults" => self.faults = Some(parsed(name, value)?),
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

    /// The server that the options describe, unless a file cannot be read.
    pub(crate) fn builder(&self) -> Result<Builder, String> {
        let in_order: [App; App::ALL.len()] =
            [App::Platform, App::Crm, App::Calendar, App::Accounting];
        let after = in_order.len().try_into().unwrap_or(u16::MAX);
        let port = |place| match self.port_base {
            0 => 0,
            base => base + place,
        };
        let mut builder = self
            .builder
            .clone()
            .host(self.host)
            .control_host(self.control_host)
            .control_port(self.control_port.unwrap_or(port(after)))
            .seed(self.seed)
            .people(self.people);
        let places = (0..).zip(in_order).map(|(place, app)| (app, port(place)));
        // A later port of the same application wins.
        for (app, port) in places.chain(self.chosen_ports.iter().copied()) {
            builder = builder.port(app, port);
        }
        match &self.tls {
            [Some(certificate), Some(key)] => {
                builder = builder.tls(read("--tls-cert", certificate)?, read("--tls-key", key)?);
            }
            [None, None] => {}
            _ => return Err("--tls-cert and --tls-key belong together".to_owned()),
        }
        Ok(builder)
    }

    /// What kept the server from starting, in the words of the command line.
    pub(crate) fn explain(&self, problem: &str) -> String {
        let Some((setting, rest)) = problem.split_once(':') else {
            return problem.to_owned();
        };
        let option = option(setting);
        let [certificate, key] = &self.tls;
        match (option.as_str(), certificate, key) {
            ("--tls-cert", Some(file), _) | ("--tls-key", _, Some(file)) => {
                format!("{option} {}:{rest}", file.display())
            }
            _ if is_known(&option) => format!("{option}:{rest}"),
            _ => problem.to_owned(),
        }
    }
}

/// The option of a variable or of a setting.
fn option(name: &str) -> String {
    format!("--{}", name.to_ascii_lowercase().replace('_', "-"))
}

/// Whether there is such an option; those of the four applications are listed once.
fn is_known(option: &str) -> bool {
    let same = ["--core-", "--calendar-", "--accounting-"];
    let listed = same.iter().fold(option.to_owned(), |option, app| {
        option.replace(app, "--crm-")
    });
    HELP.contains(&format!("  {listed} "))
}

/// The address behind a name, of IPv4 if it has one.
fn address(name: &str, host: &str) -> Result<IpAddr, String> {
    let found = (host, 0).to_socket_addrs();
    let found = found.map_err(|error| format!("{name}: {host}: {error}"))?;
    let least = found.map(|address| address.ip()).min();
    least.ok_or_else(|| format!("{name}: {host} has no address"))
}

fn read(name: &str, file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| format!("{name} {}: {error}", file.display()))
}

fn seconds(name: &str, value: Option<String>) -> Result<Duration, String> {
    let seconds = parsed(name, value)?;
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("{name}: {error}"))
}

fn parsed<T: FromStr>(name: &str, value: Option<String>) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("{name} needs a value"))?;
    value
        .parse()
        .map_err(|_| format!("{name}: invalid value {value:?}"))
}
