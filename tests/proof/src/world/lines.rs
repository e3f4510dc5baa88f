//! All that the SDK logs, at every level, as lines of the history.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, dispatcher};

use super::stage::Stage;

/// Keeps what this thread logs until the guard is dropped.
pub(super) fn keep(stage: &Arc<Stage>) -> DefaultGuard {
    // While there is only one subscriber, one thread decides for all whether an event is wanted.
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| dispatch(io::sink));
    let stage = Arc::clone(stage);
    dispatcher::set_default(&dispatch(move || Lines(Arc::clone(&stage))))
}

fn dispatch<W: Write>(writer: impl Fn() -> W + Send + Sync + 'static) -> Dispatch {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .without_time()
        .with_writer(writer);
    Dispatch::new(subscriber.finish())
}

/// Takes one event at a time, whole.
struct Lines(Arc<Stage>);

impl Write for Lines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.log(&String::from_utf8_lossy(text));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
