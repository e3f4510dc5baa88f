//! From settings to open sockets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use crate::adapters::door::Door;
use crate::adapters::{Transport, hyper, wiremock};
use crate::app::App;
use crate::builder::Builder;
use crate::keys::Key;
use crate::server::{ReferenceServer, Serving};
use crate::suite::Suite;

/// Starts a server on all its ports, or says why it cannot.
pub(crate) async fn start(settings: Builder) -> io::Result<ReferenceServer> {
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

    let suite = Suite::new(settings, Key::random()?, origins, control_origin);
    let suite = Arc::new(suite);
    let mut doors = Vec::from_iter(control.map(|listener| (Door::Control, listener)));
    let mut mocks = Vec::new();
    for (app, listener) in listeners {
        match suite.settings.transport {
            Transport::Wiremock => {
                mocks.push(wiremock::start(listener, Arc::clone(&suite), app).await);
            }
            Transport::Hyper => doors.push((Door::App(app), listener)),
        }
    }
    let hyper = (!doors.is_empty()).then(|| hyper::start(doors, Arc::clone(&suite)));
    let serving = Serving {
        wiremock: wiremock::Running::new(mocks),
        hyper: hyper.transpose()?,
    };
    Ok(ReferenceServer::new(suite, serving))
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
