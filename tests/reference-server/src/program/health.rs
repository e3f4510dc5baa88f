//! `--health`: asks a running server whether it is ready, because an image without a shell has no other program.

use std::io::{BufRead, BufReader, Error, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// The path of the control endpoint that returns 200 when the server is ready.
const PATH: &str = "/-/health";

/// The time limit for the connection, and again for the response.
const LIMIT: Duration = Duration::from_secs(2);

/// Returns an error unless a server with its control endpoint at this address is ready.
pub(crate) fn check(host: IpAddr, port: u16) -> Result<(), String> {
    // If the server listens on all addresses, ask it on loopback.
    let host = match host {
        IpAddr::V4(host) if host.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(host) if host.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        host => host,
    };
    let at = SocketAddr::new(host, port);
    let problem = |problem: &str| format!("http://{at}{PATH}: {problem}");
    let line = status_line(at).map_err(|error| problem(&error.to_string()))?;
    if line.split(' ').nth(1) == Some("200") {
        Ok(())
    } else {
        Err(problem(&format!("answered {:?}", line.trim_end())))
    }
}

fn status_line(at: SocketAddr) -> Result<String, Error> {
    let mut stream = TcpStream::connect_timeout(&at, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    write!(
        stream,
        "GET {PATH} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n"
    )?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(line)
}
