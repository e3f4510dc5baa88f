//! When a fault strikes: whose requests, for what, and skip, every, times, probability among those.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::data::noise::{Noise, Stream};
use crate::message::Request;
use crate::schema::Served;

/// What a fault may look at of a request, and what the log says of it.
pub(crate) struct Arrival<'a> {
    pub(crate) operation: &'a Served,
    pub(crate) now: Timestamp,
    /// Empty if it is not sent.
    pub(crate) request_id: &'a str,
    /// The values in its path.
    pub(crate) params: &'a [String],
    /// The rest; nothing of a request that is not sent.
    pub(crate) request: Option<&'a Request>,
    /// The client that it names.
    pub(crate) client: &'a dyn Fn() -> Option<String>,
}

/// A header, of any value if it has none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: Option<String>,
}

/// A member of the JSON body, of any value if it has none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    /// A JSON pointer (RFC 6901).
    pub(super) pointer: String,
    #[serde(
        default,
        deserialize_with = "given_value",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) value: Option<Value>,
}

/// A value that is there, null too.
fn given_value<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A fault's schedule. By default it strikes every request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Schedule {
    pub(super) skip: u64,
    pub(super) every: Option<u64>,
    pub(super) times: Option<u64>,
    pub(super) probability: Option<f64>,
    pub(super) seed: u64,
    /// Only requests with this value in their path.
    pub(super) path: Option<String>,
    /// Only requests of this client.
    pub(super) client: Option<String>,
    pub(super) header: Option<Header>,
    pub(super) member: Option<Member>,
    #[serde(skip)]
    seen: u64,
    #[serde(skip)]
    struck: u64,
}

impl Schedule {
    pub(super) const fn struck(&self) -> u64 {
        self.struck
    }

    /// Whether it looks at what comes after the head's first line.
    pub(super) fn looks_inside(&self) -> bool {
        self.client.is_some() || self.header.is_some() || self.member.is_some()
    }

    /// Whether a request is one of those that it counts.
    pub(super) fn concerns(&self, arrival: &Arrival<'_>) -> bool {
        let has = |header: &Header| {
            let values = arrival.request.map(|one| one.headers.get_all(&header.name));
            let mut values = values.into_iter().flatten();
            values.any(|value| {
                let wanted = header.value.as_deref();
                wanted.is_none_or(|wanted| wanted.as_bytes() == value.as_bytes())
            })
        };
        let holds = |member: &Member| {
            let read = |one: &Request| serde_json::from_slice::<Value>(&one.body).ok();
            let body = arrival.request.and_then(read);
            let found = body.as_ref().and_then(|body| body.pointer(&member.pointer));
            found.is_some_and(|found| member.value.as_ref().is_none_or(|value| value == found))
        };
        let named = |path: &String| arrival.params.contains(path);
        self.path.as_ref().is_none_or(named)
            && (self.client.is_none() || self.client == (arrival.client)())
            && self.header.as_ref().is_none_or(has)
            && self.member.as_ref().is_none_or(holds)
    }

    /// Whether it has struck as often as it may.
    pub(super) fn is_spent(&self) -> bool {
        self.times.is_some_and(|times| self.struck >= times)
    }

    /// Whether the fault strikes this request; counts it either way.
    pub(super) fn due(&mut self) -> bool {
        self.seen += 1;
        if self.seen <= self.skip || self.is_spent() {
            return false;
        }
        let turn = self.seen - self.skip - 1;
        if self.every.is_some_and(|every| !turn.is_multiple_of(every)) {
            return false;
        }
        if self
            .probability
            .is_some_and(|probability| !self.chance(probability))
        {
            return false;
        }
        self.struck += 1;
        true
    }

    fn chance(&self, probability: f64) -> bool {
        // Between 0 and 2^32, which every step of this conversion represents exactly enough.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let threshold = (probability * 4_294_967_296.0) as u64;
        Noise::new(self.seed, Stream::Faults, self.seen).below(1 << 32) < threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_is_repeatable() {
        let run = |seed| {
            let mut schedule = Schedule {
                probability: Some(0.3),
                seed,
                ..Schedule::default()
            };
            (0..1_000).filter(|_| schedule.due()).count()
        };
        assert_eq!(run(5), run(5));
        assert!((200..400).contains(&run(5)));
    }
}
