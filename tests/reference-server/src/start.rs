//! From settings to a server: with open sockets, or in memory.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use crate::adapters::door::Door;
use crate::adapters::{Transport, hyper, wiremock};
use crate::app::App;
use crate::builder::Builder;
use crate::server::{ReferenceServer, Serving};
use crate::suite::Suite;
use crate::token::key::TokenKey;

/// Starts a server on all its ports, or says why it cannot.
pub(crate) async fn start(settings: Builder) -> io::Result<ReferenceServer> {
    if settings.transport == Transport::InMemory {
        return in_memory(settings);
    }
    let settings = settings.checked().map_err(invalid)?;
    let mut listeners = Vec::new();
    let mut origins: [String; App::ALL.len()] = Default::default();
    for app in App::ALL {
        let port = settings.ports.get(&app).copied().unwrap_or_default();
        let listener = listen(app.id(), SocketAddr::new(settings.host, port))?;
        origins[app.index()] = origin(&listener)?;
        listeners.push((app, listener));
    }
    let control = settings
        .control_port
        .map(|port| listen("control", SocketAddr::new(settings.control_host, port)))
        .transpose()?;
    let control_origin = control.as_ref().map(origin).transpose()?;

    let key = TokenKey::new(&settings, false)?;
    let suite = Suite::new(settings, key, origins, control_origin)?;
    let suite = Arc::new(suite);
    let mut doors = Vec::from_iter(control.map(|listener| (Door::Control, listener)));
    let mut mocks = Vec::new();
    for (app, listener) in listeners {
        if suite.settings.transport == Transport::Wiremock {
            mocks.push(wiremock::start(listener, Arc::clone(&suite), app).await);
        } else {
            doors.push((Door::App(app), listener));
        }
    }
    let hyper = (!doors.is_empty()).then(|| hyper::start(doors, Arc::clone(&suite)));
    let serving = Serving::new(wiremock::Running::new(mocks), hyper.transpose()?);
    Ok(ReferenceServer::new(suite, serving))
}

/// A server without sockets, or why its key cannot be made.
pub(crate) fn in_memory(settings: Builder) -> io::Result<ReferenceServer> {
    let mut settings = settings.checked().map_err(invalid)?;
    settings.transport = Transport::InMemory;
    let names = App::ALL.map(|app| match app {
        // As in the name of the variable for its address.
        App::Platform => "core".to_owned(),
        app => app.id().to_owned(),
    });
    let mut origin = |name: &str| {
        let host = format!("{name}.suite.test");
        let origin = format!("https://{host}");
        settings.allowed_hosts.push(host);
        origin
    };
    let origins = names.map(|name| origin(&name));
    let control = settings.control_port.map(|_| origin("control"));
    let key = TokenKey::new(&settings, settings.seeded_tokens)?;
    let suite = Suite::new(settings, key, origins, control)?;
    let serving = Serving::new(wiremock::Running::new(Vec::new()), None);
    Ok(ReferenceServer::new(Arc::new(suite), serving))
}

/// What is wrong with a setting or a contract.
pub(crate) fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

fn listen(name: &str, address: SocketAddr) -> io::Result<TcpListener> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{name} at {address}: {error}"));
    TcpListener::bind(address).map_err(named)
}

/// The origin of a listener, for clients on this machine.
fn origin(listener: &TcpListener) -> io::Result<String> {
    let mut address = listener.local_addr()?;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    Ok(format!("http://{address}"))
}
