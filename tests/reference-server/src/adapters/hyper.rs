//! Serves through hyper on its own thread and runtime, so a test may pause its clock or shut down its runtime.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::sync::watch;

use super::Acceptor;
use super::body::ReplyBody;
use super::door::{Door, deliver, receive};
use crate::suite::Suite;

/// The beginning of a connection that speaks HTTP/2. Looked for here, since hyper would wait for all of it without a limit.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long an HTTP/2 connection may be silent before it is pinged, and then be silent on that.
const LONGEST_SILENCE: Duration = Duration::from_secs(3_600);

/// How long open requests may take to finish on a graceful stop.
const GRACE: Duration = Duration::from_secs(3);

/// How long a drop waits for the ports to close, in case all threads are busy.
const LONGEST_DROP: Duration = Duration::from_secs(1);

/// A running server.
pub(crate) struct Running {
    stop: watch::Sender<Stop>,
    thread: Option<JoinHandle<()>>,
    /// Ends when all ports are closed.
    open: Mutex<mpsc::Receiver<Infallible>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    No,
    Gently,
    Now,
}

/// Starts serving.
pub(crate) fn start(
    listeners: Vec<(Door, TcpListener)>,
    tls: Option<Acceptor>,
    suite: Arc<Suite>,
) -> io::Result<Running> {
    let workers = suite.settings.workers;
    let (stop, stopped) = watch::channel(Stop::No);
    let (port, open) = mpsc::channel();
    let mut builder = if workers > 1 {
        runtime::Builder::new_multi_thread()
    } else {
        runtime::Builder::new_current_thread()
    };
    let runtime = builder.worker_threads(workers).enable_all().build()?;
    let thread = std::thread::Builder::new()
        .name("reference-server".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                let accepting = listeners
                    .into_iter()
                    .map(|(door, listener)| {
                        // Control stays plain: it is on loopback, for tools that wait and check.
                        let tls = tls.clone().filter(|_| door != Door::Control);
                        let (suite, stopped) = (Arc::clone(&suite), stopped.clone());
                        tokio::spawn(accept(door, listener, tls, port.clone(), suite, stopped))
                    })
                    .collect::<Vec<_>>();
                drop(port);
                for task in accepting {
                    let _ = task.await;
                }
            });
        })?;
    Ok(Running {
        stop,
        thread: Some(thread),
        open: Mutex::new(open),
    })
}

impl Running {
    /// Stops accepting, lets open requests finish, and returns when everything is closed.
    pub(crate) fn stop_gently(mut self) {
        self.stop.send_replace(Stop::Gently);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    /// Waits for the server's own thread, but not forever.
    fn drop(&mut self) {
        self.stop.send_replace(Stop::Now);
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = open.recv_timeout(LONGEST_DROP);
    }
}

async fn accept(
    door: Door,
    listener: TcpListener,
    tls: Option<Acceptor>,
    open: mpsc::Sender<Infallible>,
    suite: Arc<Suite>,
    mut stopped: watch::Receiver<Stop>,
) {
    let Ok(listener) = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener))
    else {
        return;
    };
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    connections.spawn(connection(door, stream, tls.clone(), Arc::clone(&suite), stopped.clone()));
                }
                // Most likely out of file descriptors: wait for some to close.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            Some(_) = connections.join_next() => {}
            _ = stopped.changed() => break,
        }
    }
    drop(listener);
    drop(open);
    if *stopped.borrow() == Stop::Gently {
        let ending = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(GRACE, ending).await;
    }
}

async fn connection(
    door: Door,
    stream: TcpStream,
    tls: Option<Acceptor>,
    suite: Arc<Suite>,
    mut stopped: watch::Receiver<Stop>,
) {
    let limit = suite.settings.read_timeout;
    let begun = match tls {
        #[cfg(feature = "tls")]
        Some(acceptor) => {
            let agreed = super::tls::accept(&acceptor, stream);
            if let Some((stream, is_http2)) = within(limit, &mut stopped, agreed).await {
                speak(door, stream, is_http2, suite, stopped).await;
            }
            return;
        }
        _ => within(limit, &mut stopped, speaks_http2(&stream)).await,
    };
    if let Some(is_http2) = begun {
        speak(door, stream, is_http2, suite, stopped).await;
    }
}

/// What the beginning of a connection gives, unless it takes too long or the server stops.
async fn within<T>(
    limit: Duration,
    stopped: &mut watch::Receiver<Stop>,
    beginning: impl Future<Output = io::Result<T>>,
) -> Option<T> {
    tokio::select! {
        begun = tokio::time::timeout(limit, beginning) => begun.ok()?.ok(),
        _ = stopped.changed() => None,
    }
}

async fn speak(
    door: Door,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    is_http2: bool,
    suite: Arc<Suite>,
    mut stopped: watch::Receiver<Stop>,
) {
    let read_timeout = suite.settings.read_timeout;
    let service = service_fn(move |incoming| {
        let suite = Arc::clone(&suite);
        async move { serve(door, &suite, incoming).await }
    });
    let mut http = auto::Builder::new(TokioExecutor::new());
    if is_http2 {
        let patience = read_timeout.min(LONGEST_SILENCE);
        http = http.http2_only();
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(patience)
            .keep_alive_timeout(patience);
    } else {
        http = http.http1_only();
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(read_timeout);
    }
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Waits until the first bytes say which protocol it is, and leaves them to be read.
async fn speaks_http2(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0; PREFACE.len()];
    loop {
        let come = stream.peek(&mut first).await?;
        if come == 0 || come == first.len() || !PREFACE.starts_with(&first[..come]) {
            return Ok(first == PREFACE);
        }
        // What has come is there at once whenever one looks.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Serves one request; an error closes the connection.
async fn serve(
    door: Door,
    suite: &Suite,
    incoming: hyper::Request<Incoming>,
) -> Result<hyper::Response<ReplyBody>, io::Error> {
    let method = incoming.method().clone();
    let reply = match receive(suite, incoming).await {
        Ok(request) => door.answer(suite, &request),
        Err(problem) => door.unread(&problem),
    };
    deliver(suite, reply, &method).await
}
