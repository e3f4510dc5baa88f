//! Serving through hyper, on a thread and a runtime of its own: a test may pause its clock, or end its runtime.

use std::io;
use std::net::TcpListener;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime;
use tokio::sync::watch;

use crate::app::App;
use crate::message::{Ending, Reply, Request};
use crate::suite::{LONGEST_BODY, Suite};

/// How long open requests may take to end when the server stops gently.
const GRACE: Duration = Duration::from_secs(3);

/// A running server.
pub(crate) struct Running {
    stop: watch::Sender<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    No,
    Gently,
    Now,
}

/// Starts serving all applications.
pub(crate) fn start(
    listeners: Vec<(App, TcpListener)>,
    suite: Arc<Suite>,
    workers: usize,
) -> io::Result<Running> {
    let (stop, stopped) = watch::channel(Stop::No);
    let mut builder = if workers > 1 {
        runtime::Builder::new_multi_thread()
    } else {
        runtime::Builder::new_current_thread()
    };
    let runtime = builder
        .worker_threads(workers.max(1))
        .enable_all()
        .build()?;
    let thread = std::thread::Builder::new()
        .name("reference-server".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                let accepting = listeners
                    .into_iter()
                    .map(|(app, listener)| {
                        tokio::spawn(accept(app, listener, Arc::clone(&suite), stopped.clone()))
                    })
                    .collect::<Vec<_>>();
                for task in accepting {
                    let _ = task.await;
                }
            });
        })?;
    Ok(Running {
        stop,
        thread: Some(thread),
    })
}

impl Running {
    /// Accepts no more, lets open requests end, and returns when all is closed.
    pub(crate) fn stop_gently(mut self) {
        self.stop.send_replace(Stop::Gently);
        self.join();
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.send_replace(Stop::Now);
        self.join();
    }
}

async fn accept(
    app: App,
    listener: TcpListener,
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
                    connections.spawn(connection(app, stream, Arc::clone(&suite), stopped.clone()));
                }
                // Out of file descriptors, most likely: let some close.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            Some(_) = connections.join_next() => {}
            _ = stopped.changed() => break,
        }
    }
    drop(listener);
    if *stopped.borrow() == Stop::Gently {
        let ending = async { while connections.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(GRACE, ending).await;
    }
}

async fn connection(
    app: App,
    stream: tokio::net::TcpStream,
    suite: Arc<Suite>,
    mut stopped: watch::Receiver<Stop>,
) {
    let service = service_fn(move |incoming| {
        let suite = Arc::clone(&suite);
        async move { serve(app, &suite, incoming).await }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Serves one request; an error closes the connection.
async fn serve(
    app: App,
    suite: &Suite,
    incoming: hyper::Request<Incoming>,
) -> Result<hyper::Response<ReplyBody>, io::Error> {
    let (parts, body) = incoming.into_parts();
    let body = match Limited::new(body, LONGEST_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        // One byte too long says enough.
        Err(error) if error.is::<LengthLimitError>() => Bytes::from(vec![0; LONGEST_BODY + 1]),
        Err(error) => return Err(io::Error::other(error)),
    };
    let request = Request {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body,
    };
    let reply = suite.handle(app, &request);
    if !reply.fate.delay.is_zero() {
        tokio::time::sleep(reply.fate.delay).await;
    }
    if reply.fate.ending == Ending::Closed {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(response(reply))
}

fn response(reply: Reply) -> hyper::Response<ReplyBody> {
    let broken = reply.fate.ending == Ending::Broken;
    let length = reply.body.len();
    let mut body = reply.body;
    if broken {
        body.truncate(length / 2);
    }
    let mut response = hyper::Response::new(ReplyBody {
        left: (!body.is_empty()).then_some(body),
        announced: length as u64,
        broken,
        flushed: false,
    });
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}

/// A body that may end early.
struct ReplyBody {
    left: Option<Bytes>,
    announced: u64,
    broken: bool,
    flushed: bool,
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(bytes) = self.left.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if self.broken && !std::mem::replace(&mut self.flushed, true) {
            // hyper writes out what it has when a body makes it wait.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if std::mem::take(&mut self.broken) {
            return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_none() && !self.broken
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.announced)
    }
}
