//! The random fate of each request, drawn when it is sent.

use std::time::Duration;

use fastrand::Rng;

/// A fault of a request in transit.
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
    /// The page points to itself as the next page.
    Loop,
    /// This status before a server read the request, and the seconds in `Retry-After`.
    Gateway(u16, Option<u32>),
    /// This status instead of the real response.
    Replace(u16),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    /// The time until a connection accepts the request.
    pub(super) connect: Duration,
    /// The time from the suite to the server.
    pub(super) out: Duration,
    /// The time from the server to the suite.
    pub(super) back: Duration,
    pub(super) fault: Option<Fault>,
}

impl Fate {
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
    /// Returns the name under which the fault is counted.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Refuse => "fault: connection refused",
            Self::Unreached => "fault: connection never made",
            Self::Cut => "fault: cut before arrival",
            Self::Swallow => "fault: never arrived, no error",
            Self::Lose => "fault: response lost",
            Self::Stall => "fault: never answered",
            Self::Drip => "fault: slow body",
            Self::Truncate => "fault: truncated body",
            Self::Break => "fault: interrupted body",
            Self::Loop => "fault: page that points to itself, if the response is a page",
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

/// How often faults and delays occur.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    /// The share of calls with a fault.
    calls: f64,
    /// The share of token exchanges with a fault.
    exchanges: f64,
    /// The longest usual delay in one direction, in milliseconds.
    way: u64,
    /// The share of much longer delays.
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

    /// Draws the fate of the next request. If the application is down, every request gets a fault.
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
