//! The command line.

use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;
use std::time::Duration;

use sdk_reference_server::App;

pub(crate) const HELP: &str = "\
Serves the suite's CRM, Calendar, Accounting and Platform with demo data, as the contract documents them.

Usage: suite-reference-server [OPTIONS]

  --host ADDRESS          address to listen at                     [127.0.0.1]
  --port-base PORT        Platform here, CRM, Calendar and Accounting at the next three; 0: free ports   [4010]
  --core-port PORT        port of the Platform
  --crm-port PORT         port of the CRM
  --calendar-port PORT    port of the Calendar
  --accounting-port PORT  port of Accounting
  --seed N                seed of the demo data                    [1]
  --people N              how many people there are                [300]
  --token-lifetime SECS   lifetime of tokens, at most 300          [300]
  --workers N             threads that answer                      [2]
  --help                  this text

It prints the environment variables that point a client at it, then `# ready`, and stops at Ctrl-C or SIGTERM.
";

/// What the command line asks for.
pub(crate) enum Wanted {
    Serve(Args),
    Help,
}

/// The options, with their defaults.
pub(crate) struct Args {
    pub(crate) host: IpAddr,
    pub(crate) seed: u64,
    pub(crate) people: u64,
    pub(crate) token_lifetime: Duration,
    pub(crate) workers: usize,
    port_base: u16,
    chosen_ports: Vec<(App, u16)>,
}

impl Args {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Wanted, String> {
        let mut args = Args {
            host: Ipv4Addr::LOCALHOST.into(),
            seed: 1,
            people: 300,
            token_lifetime: Duration::from_secs(300),
            workers: 2,
            port_base: 4010,
            chosen_ports: Vec::new(),
        };
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
            let value = words.next();
            match name.as_str() {
                "--host" => args.host = parsed(&name, value)?,
                "--port-base" => args.port_base = parsed(&name, value)?,
                "--core-port" => args
                    .chosen_ports
                    .push((App::Platform, parsed(&name, value)?)),
                "--crm-port" => args.chosen_ports.push((App::Crm, parsed(&name, value)?)),
                "--calendar-port" => args
                    .chosen_ports
                    .push((App::Calendar, parsed(&name, value)?)),
                "--accounting-port" => args
                    .chosen_ports
                    .push((App::Accounting, parsed(&name, value)?)),
                "--seed" => args.seed = parsed(&name, value)?,
                "--people" => args.people = parsed(&name, value)?,
                "--token-lifetime" => {
                    args.token_lifetime = Duration::from_secs(parsed(&name, value)?);
                }
                "--workers" => args.workers = parsed(&name, value)?,
                _ => return Err(format!("{name} is no option")),
            }
        }
        if args.port_base > u16::MAX - 3 {
            return Err("--port-base: four ports must fit".to_owned());
        }
        Ok(Wanted::Serve(args))
    }

    /// The port of each application.
    pub(crate) fn ports(&self) -> Vec<(App, u16)> {
        let in_order = [App::Platform, App::Crm, App::Calendar, App::Accounting];
        let mut ports: Vec<(App, u16)> = (0_u16..)
            .zip(in_order)
            .map(|(offset, app)| {
                (
                    app,
                    if self.port_base == 0 {
                        0
                    } else {
                        self.port_base + offset
                    },
                )
            })
            .collect();
        // A later entry for the same application wins.
        ports.extend(&self.chosen_ports);
        ports
    }
}

fn parsed<T: FromStr>(name: &str, value: Option<String>) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("{name} needs a value"))?;
    value
        .parse()
        .map_err(|_| format!("{name}: {value:?} will not do"))
}
