//! Builds a server from its settings, with open sockets or in memory.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use crate::adapters::door::Door;
use crate::adapters::{Transport, hyper, wiremock};
use crate::app::App;
use crate::base::Base;
use crate::builder::Builder;
use crate::server::ReferenceServer;
use crate::suite::Suite;
use crate::token::key::TokenKey;

pub(crate) async fn start(settings: Builder) -> io::Result<ReferenceServer> {
    if settings.transport == Transport::InMemory {
        return in_memory(settings);
    }
    let settings = settings.checked().map_err(invalid)?;
    let mut listeners = Vec::new();
    let tls = settings.acceptor().map_err(invalid)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut bases: [Base; App::ALL.len()] = Default::default();
    let mut addresses = [None; App::ALL.len()];
    for app in App::all() {
        let port = settings.ports.get(&app).copied().unwrap_or_default();
        let listener = listen(app.id(), SocketAddr::new(settings.host, port))?;
        let address = listener.local_addr()?;
        addresses[app.index()] = Some(address);
        bases[app.index()] = public(&settings, app, |name| {
            Base::listening(scheme, name, address)
        })?;
        listeners.push((app, listener));
    }
    let control = settings
        .control_port
        .map(|port| listen("control", SocketAddr::new(settings.control_host, port)))
        .transpose()?;
    let control_base = control
        .as_ref()
        .map(|listener| {
            let name = settings.public_host.as_deref();
            Base::listening("http", name, listener.local_addr()?).map_err(invalid)
        })
        .transpose()?;

    let key = TokenKey::new(&settings, false)?;
    let suite = Suite::new(settings, key, bases, control_base)?;
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
    let hyper = (!doors.is_empty()).then(|| hyper::start(doors, tls.as_ref(), &suite));
    let mocks = wiremock::Running(mocks);
    Ok(ReferenceServer::new(
        suite,
        addresses,
        mocks,
        hyper.transpose()?,
    ))
}

pub(crate) fn in_memory(settings: Builder) -> io::Result<ReferenceServer> {
    let mut settings = settings.checked().map_err(invalid)?;
    settings.transport = Transport::InMemory;
    let named = |name: &str| Base::read("in memory", &format!("https://{name}.suite.test"));
    let mut bases: [Base; App::ALL.len()] = Default::default();
    for app in App::all() {
        bases[app.index()] = public(&settings, app, |_| named(app.short()))?;
    }
    let control = settings.control_port.map(|_| named("control"));
    let control = control.transpose().map_err(invalid)?;
    let key = TokenKey::new(&settings, settings.seeded_tokens)?;
    let suite = Arc::new(Suite::new(settings, key, bases, control)?);
    let mocks = wiremock::Running(Vec::new());
    Ok(ReferenceServer::new(suite, Default::default(), mocks, None))
}

pub(crate) fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

fn listen(name: &str, address: SocketAddr) -> io::Result<TcpListener> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{name} at {address}: {error}"));
    TcpListener::bind(address).map_err(named)
}

/// Returns the base URL by which clients reach an application: its `public_url`, or the address that it listens on.
fn public(
    settings: &Builder,
    app: App,
    own: impl FnOnce(Option<&str>) -> Result<Base, String>,
) -> io::Result<Base> {
    let setting = || format!("{}_url", app.short());
    let chosen = settings.public_urls.get(&app);
    let chosen = chosen.map(|url| Base::read(&setting(), url));
    let base = chosen.unwrap_or_else(|| own(settings.public_host.as_deref()));
    base.map_err(invalid)
}
