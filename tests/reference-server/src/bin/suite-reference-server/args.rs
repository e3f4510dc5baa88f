//! The command line.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sdk_reference_server::{App, Builder, ReferenceServer, RequestLog, Transport};

pub(crate) const HELP: &str = "\
Serves the suite's CRM, Calendar, Accounting and Platform with demo data, as the contract documents them.

Usage: suite-reference-server [OPTIONS]

Where:
  --host ADDRESS           address to listen on                      [127.0.0.1]
  --port-base PORT         Platform here, then CRM, Calendar, Accounting and control; 0: free ports   [4010]
  --core-port PORT         port of the Platform
  --crm-port PORT          port of the CRM
  --calendar-port PORT     port of the Calendar
  --accounting-port PORT   port of Accounting
  --control-port PORT      port of the control endpoint
  --control-host ADDRESS   address of the control endpoint; anyone who can reach it controls the server   [127.0.0.1]
  --allow-host NAME        another host name to accept; may be repeated   [localhost and where it listens]
  --read-timeout SECS      time limit for a client to send a head, and again a body   [30]
  --workers N              worker threads                            [2]

Data:
  --seed N                 seed of the demo data                     [1]
  --people N               how many people there are                 [300]
  --organizations N        how many organizations                    [120]
  --opportunities N        how many opportunities                    [400]
  --tasks N                how many tasks                            [500]
  --intake-submissions N   how many intake submissions               [80]
  --data FILE              records of your own, as JSON: {\"people\": [{\"displayName\": \"Ada Lovelace\"}]}

Behaviour:
  --token-lifetime SECS    lifetime of tokens, at most 300           [300]
  --faults FILE            initial faults, as JSON: {\"faults\": [{\"operation\": \"listPeople\",
                           \"when\": {\"times\": 2}, \"then\": {\"status\": 503}}]}
  --log text|json          a line on standard output for each request, without secrets
  --contradict IDS         assumptions of specs/ASSUMPTIONS.md that do not hold here, such as A07,A44; may be repeated
  --version                the version of the program
  --help                   this text

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
    pub(crate) data: Option<PathBuf>,
    pub(crate) faults: Option<PathBuf>,
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
            data: None,
            faults: None,
            builder: ReferenceServer::builder()
                .transport(Transport::Hyper)
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
            args.set(&name, words.next())?;
        }
        if args.port_base > u16::MAX - 4 {
            return Err("--port-base: five ports must fit above it".to_owned());
        }
        Ok(Wanted::Serve(Box::new(args)))
    }

    fn set(&mut self, name: &str, value: Option<String>) -> Result<(), String> {
        let mut builder = std::mem::take(&mut self.builder);
        match name {
            "--host" => self.host = parsed(name, value)?,
            "--port-base" => self.port_base = parsed(name, value)?,
            "--core-port" => self.choose(App::Platform, parsed(name, value)?),
            "--crm-port" => self.choose(App::Crm, parsed(name, value)?),
            "--calendar-port" => self.choose(App::Calendar, parsed(name, value)?),
            "--accounting-port" => self.choose(App::Accounting, parsed(name, value)?),
            "--control-port" => self.control_port = Some(parsed(name, value)?),
            "--control-host" => self.control_host = parsed(name, value)?,
            "--allow-host" => builder = builder.allow_host(parsed::<String>(name, value)?),
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
            "--data" => self.data = Some(parsed(name, value)?),
            "--faults" => self.faults = Some(parsed(name, value)?),
            _ => return Err(format!("unknown option {name}")),
        }
        self.builder = builder;
        Ok(())
    }

    fn choose(&mut self, app: App, port: u16) {
        self.chosen_ports.push((app, port));
    }

    /// The server that the options describe.
    pub(crate) fn builder(&self) -> Builder {
        let in_order: [App; App::ALL.len()] =
            [App::Platform, App::Crm, App::Calendar, App::Accounting];
        let port = |place| match self.port_base {
            0 => 0,
            base => base + place,
        };
        let mut builder = self
            .builder
            .clone()
            .host(self.host)
            .control_host(self.control_host)
            .control_port(self.control_port.unwrap_or(port(4)))
            .seed(self.seed)
            .people(self.people);
        let places = (0..).zip(in_order).map(|(place, app)| (app, port(place)));
        // A later port of the same application wins.
        for (app, port) in places.chain(self.chosen_ports.iter().copied()) {
            builder = builder.port(app, port);
        }
        builder
    }
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
