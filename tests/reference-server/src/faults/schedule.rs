//! The schedule of a fault: filters, then `skip`, `every`, `times` and `probability` among the matching requests.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::data::noise::{Noise, Stream};
use crate::message::Request;
use crate::schema::Served;

/// The parts of a request that a fault can match and the log names.
pub(crate) struct Arrival<'a> {
    pub(crate) operation: &'a Served,
    pub(crate) now: Timestamp,
    /// Empty if the connection is refused.
    pub(crate) request_id: &'a str,
    /// The values of the path parameters.
    pub(crate) params: &'a [String],
    /// The full request; `None` if the connection is refused.
    pub(crate) request: Option<&'a Request>,
    /// Returns the ID of the client, from the request's token or credentials.
    pub(crate) client: &'a dyn Fn() -> Option<String>,
}

/// A header to match. Without a value, any value matches.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: Option<String>,
}

/// A field of the JSON body to match. Without a value, any value matches.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Member {
    /// A JSON pointer (RFC 6901).
    pub(super) pointer: String,
    #[serde(
        default,
        deserialize_with = "present_value",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) value: Option<Value>,
}

/// Reads a value that is present, even if it is null.
fn present_value<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A fault's schedule. By default, it strikes every request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Schedule {
    pub(super) skip: u64,
    pub(super) every: Option<u64>,
    pub(super) times: Option<u64>,
    pub(super) probability: Option<f64>,
    pub(super) seed: u64,
    pub(super) path: Option<String>,
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

    /// Whether it needs more of the request than its method and path.
    pub(super) fn looks_inside(&self) -> bool {
        self.client.is_some() || self.header.is_some() || self.member.is_some()
    }

    /// Whether the schedule counts a request.
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

    pub(super) fn is_spent(&self) -> bool {
        self.times.is_some_and(|times| self.struck >= times)
    }

    /// Counts the request, and returns whether the fault strikes it.
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
        // The product is between 0 and 2^32, where the conversion is exact enough.
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
