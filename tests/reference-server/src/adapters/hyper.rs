//! Serves through hyper on its own thread and runtime, so a test can pause its clock or shut down its runtime.

use std::convert::Infallible;
use std::io;
use std::iter;
use std::net;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};

use super::Acceptor;
use super::body::ResponseBody;
use super::door::{Door, deliver, receive};
use crate::message::Request;
use crate::suite::Suite;

/// The connection preface of HTTP/2. The server looks for it itself, because hyper would wait for all of it without a
/// time limit.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long an HTTP/2 connection may be silent before a ping, and again before the ping's answer.
const LONGEST_SILENCE: Duration = Duration::from_secs(3_600);

/// How long open requests may take to finish during a graceful stop.
const GRACE: Duration = Duration::from_secs(3);

/// How long a stopping server waits for a request on an open connection. A client that has just received a response
/// sends its next request before it can notice that the server stops.
const LAST_CALL: Duration = Duration::from_millis(200);

/// How long a drop waits for the server to end, in case all threads are busy.
const LONGEST_DROP: Duration = Duration::from_secs(1);

/// How long the server keeps reading after it has rejected a body as too long. A client that is still writing doesn't
/// see the response, and loses it if the connection closes.
const LINGER: Duration = Duration::from_secs(1);

pub(crate) struct Running {
    /// Sends the time that open requests have to finish. If it is dropped, they have none.
    stop: Option<oneshot::Sender<Duration>>,
    /// Closes when all connections are closed.
    open: Mutex<mpsc::Receiver<Infallible>>,
}

pub(crate) fn start(
    listeners: Vec<(Door, net::TcpListener)>,
    tls: Option<&Acceptor>,
    suite: &Arc<Suite>,
) -> io::Result<Running> {
    let workers = suite.settings.workers;
    let mut builder = if workers > 1 {
        runtime::Builder::new_multi_thread()
    } else {
        runtime::Builder::new_current_thread()
    };
    let runtime = builder.worker_threads(workers).enable_all().build()?;
    let (stop, stopped) = oneshot::channel();
    let (alive, open) = mpsc::channel();
    let stopping = watch::Sender::new(false);
    for (door, listener) in listeners {
        // The control endpoint stays plain HTTP, because it is on loopback for health checks and simple tools.
        let tls = tls.filter(|_| door != Door::Control).cloned();
        listener.set_nonblocking(true)?;
        let _context = runtime.enter();
        let listener = TcpListener::from_std(listener)?;
        let (suite, stopping) = (Arc::clone(suite), stopping.subscribe());
        runtime.spawn(accept(door, listener, tls, suite, stopping));
    }
    let serve = async move {
        let grace = stopped.await.unwrap_or_default();
        stopping.send_replace(true);
        let _ = timeout(grace, stopping.closed()).await;
    };
    std::thread::Builder::new()
        .name("reference-server".to_owned())
        .spawn(move || {
            runtime.block_on(serve);
            drop(runtime);
            drop::<mpsc::Sender<_>>(alive);
        })?;
    Ok(Running {
        stop: Some(stop),
        open: Mutex::new(open),
    })
}

impl Running {
    /// Stops accepting connections, lets open requests finish, and returns when all connections are closed.
    pub(crate) fn stop_gently(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(GRACE);
        }
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = open.recv();
    }
}

impl Drop for Running {
    /// Waits for the server's thread, up to a time limit.
    fn drop(&mut self) {
        drop(self.stop.take());
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = open.recv_timeout(LONGEST_DROP);
    }
}

async fn accept(
    door: Door,
    listener: TcpListener,
    tls: Option<Acceptor>,
    suite: Arc<Suite>,
    mut stopping: watch::Receiver<bool>,
) {
    let stops = stopping.clone();
    let open = |stream: TcpStream| {
        let _ = stream.set_nodelay(true);
        let (suite, stopping) = (Arc::clone(&suite), stops.clone());
        tokio::spawn(connection(door, stream, tls.clone(), suite, stopping));
    };
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => open(stream),
                // The process is most likely out of file descriptors, so wait until some are closed.
                Err(_) => sleep(Duration::from_millis(20)).await,
            },
            () = stopped(&mut stopping) => break,
        }
    }
    // Clients have already sent requests on the connections in the backlog, and closing the listener would reset them.
    let waiting = listener.into_std().into_iter();
    for (stream, _) in waiting.flat_map(|listener| iter::from_fn(move || listener.accept().ok())) {
        if stream.set_nonblocking(true).is_ok() {
            let _ = TcpStream::from_std(stream).map(open);
        }
    }
}

/// Returns when the server stops and no further request is expected on a connection.
async fn last_call(stopping: &mut watch::Receiver<bool>) {
    stopped(stopping).await;
    sleep(LAST_CALL).await;
}

async fn stopped(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stops| *stops).await;
}

async fn connection(
    door: Door,
    stream: TcpStream,
    tls: Option<Acceptor>,
    suite: Arc<Suite>,
    mut stopping: watch::Receiver<bool>,
) {
    let limit = suite.settings.read_timeout;
    let begun = match tls {
        #[cfg(feature = "tls")]
        Some(acceptor) => {
            let agreed = super::tls::accept(&acceptor, stream);
            if let Some((stream, is_http2)) = within(limit, &mut stopping, agreed).await {
                speak(door, stream, is_http2, suite, stopping).await;
            }
            return;
        }
        _ => within(limit, &mut stopping, speaks_http2(&stream)).await,
    };
    if let Some(is_http2) = begun {
        speak(door, stream, is_http2, suite, stopping).await;
    }
}

/// Completes the start of a connection, unless it takes too long or the server stops.
async fn within<T>(
    limit: Duration,
    stopping: &mut watch::Receiver<bool>,
    beginning: impl Future<Output = io::Result<T>>,
) -> Option<T> {
    tokio::select! {
        begun = timeout(limit, beginning) => begun.ok()?.ok(),
        () = last_call(stopping) => None,
    }
}

async fn speak(
    door: Door,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    is_http2: bool,
    suite: Arc<Suite>,
    mut stopping: watch::Receiver<bool>,
) {
    let read_timeout = suite.settings.read_timeout;
    let stops = stopping.clone();
    let service = service_fn(move |incoming| {
        let (suite, stops) = (Arc::clone(&suite), stops.clone());
        async move {
            let mut response = serve(door, &suite, incoming).await?;
            if *stops.borrow() && !is_http2 {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, io::Error>(response)
        }
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
        () = last_call(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Waits until the first bytes show the protocol, without consuming them.
async fn speaks_http2(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0; PREFACE.len()];
    loop {
        let come = stream.peek(&mut first).await?;
        if come == 0 || come == first.len() || !PREFACE.starts_with(&first[..come]) {
            return Ok(first == PREFACE);
        }
        // `peek` returns immediately while bytes wait, so poll for more with a pause.
        sleep(Duration::from_millis(5)).await;
    }
}

/// Serves one request. An error closes the connection.
async fn serve(
    door: Door,
    suite: &Suite,
    incoming: hyper::Request<Incoming>,
) -> Result<hyper::Response<ResponseBody>, io::Error> {
    let (head, mut body) = incoming.into_parts();
    let method = head.method.clone();
    let received = receive(
        suite,
        door.longest_body(suite),
        &head.headers,
        Pin::new(&mut body),
    );
    let reply = match received.await {
        Ok(body) => door.answer(suite, &Request::new(head, body)),
        Err(problem) => {
            if problem.kind() == io::ErrorKind::FileTooLarge {
                tokio::spawn(timeout(LINGER, async move {
                    while let Some(Ok(_)) = body.frame().await {}
                }));
            }
            door.unread(suite, &head.headers, &problem)
        }
    };
    deliver(suite, reply, &method).await
}
