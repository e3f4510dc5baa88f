//! What becomes of a request: drawn when it is sent, from the world's own chance.

use std::time::Duration;

use fastrand::Rng;

/// What strikes a request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Refuse,
    Unreached,
    Cut,
    Swallow,
    Lose,
    Stall,
    Drip,
    Truncate,
    Break,
    /// The page names itself as the next one.
    Loop,
    /// This status before anybody read the request, and how many seconds to wait.
    Gateway(u16, Option<u32>),
    /// This status in place of the true reply.
    Replace(u16),
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    /// How long it takes until a connection takes it.
    pub(super) connect: Duration,
    /// How long it is on its way.
    pub(super) out: Duration,
    /// How long the reply is on its way.
    pub(super) back: Duration,
    pub(super) fault: Option<Fault>,
}

impl Fate {
    /// That nothing happens to it.
    pub(super) fn calm() -> Self {
        let way = Duration::from_millis(1);
        Self {
            connect: Duration::ZERO,
            out: way,
            back: way,
            fault: None,
        }
    }
}

impl Fault {
    /// What it is counted as.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Refuse => "fault: connection refused",
            Self::Unreached => "fault: connection never made",
            Self::Cut => "fault: cut before arrival",
            Self::Swallow => "fault: never arrived, never told",
            Self::Lose => "fault: reply lost",
            Self::Stall => "fault: never answered",
            Self::Drip => "fault: dripping body",
            Self::Truncate => "fault: truncated body",
            Self::Break => "fault: broken body",
            Self::Loop => "fault: page that names itself as the next, if it is one",
            Self::Gateway(429, _) => "fault: 429",
            Self::Gateway(401, _) => "fault: 4xx of a token endpoint",
            Self::Gateway(..) => "fault: 5xx before arrival",
            Self::Replace(_) => "fault: 5xx after arrival",
        }
    }

    fn gateway(rng: &mut Rng) -> Self {
        let status = [503, 503, 503, 500, 502, 504, 429][rng.usize(..7)];
        let wait = rng.bool().then(|| [0, 1, 2, 5, 30, 3_600][rng.usize(..6)]);
        Self::Gateway(status, wait)
    }

    fn draw(rng: &mut Rng) -> Self {
        match rng.u8(..12) {
            0 => Self::Refuse,
            1 => Self::Unreached,
            2 => Self::Cut,
            3 => Self::Swallow,
            4 => Self::Lose,
            5 => Self::Stall,
            6 => Self::Drip,
            7 => Self::Truncate,
            8 => Self::Break,
            9 => Self::Loop,
            10 => Self::Replace([500, 502, 503][rng.usize(..3)]),
            _ => Self::gateway(rng),
        }
    }
}

/// How rough a world is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    /// How often a call is struck.
    calls: f64,
    /// How often an exchange is struck.
    exchanges: f64,
    /// The longest usual way, in milliseconds.
    way: u64,
    /// How often a way takes much longer.
    slow: f64,
}

impl Weather {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        Self {
            calls: [0.0, 0.02, 0.1, 0.3][rng.usize(..4)],
            exchanges: [0.0, 0.05, 0.2, 0.5][rng.usize(..4)],
            way: [2, 20, 200][rng.usize(..3)],
            slow: [0.0, 0.01, 0.05][rng.usize(..3)],
        }
    }

    /// What becomes of the next request. Where an application is down, everything is struck.
    pub(super) fn fate(&self, rng: &mut Rng, is_exchange: bool, down: Option<u8>) -> Fate {
        let way = |rng: &mut Rng| {
            let slow = rng.f64() < self.slow;
            let most = if slow { 8_000 } else { self.way };
            Duration::from_micros(rng.u64(..=most * 1_000))
        };
        let mut fate = Fate {
            connect: way(rng) / 4,
            out: way(rng),
            back: way(rng),
            fault: None,
        };
        let often = if is_exchange {
            self.exchanges
        } else {
            self.calls
        };
        let struck = rng.f64() < often;
        fate.fault = match down {
            Some(0) => Some(Fault::Refuse),
            Some(1) => Some(Fault::Swallow),
            Some(_) => Some(Fault::gateway(rng)),
            None if struck && is_exchange && rng.u8(..12) == 0 => Some(Fault::Gateway(401, None)),
            None => struck.then(|| Fault::draw(rng)),
        };
        fate
    }
}
