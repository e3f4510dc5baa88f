//! No more attempts are under way at once than their suite allows.

use std::collections::BTreeMap;

use crate::event::{Event, History, Sent};
use crate::laws::Found;

pub(crate) fn hold(history: &History, found: &mut Found) {
    let (mut limits, mut places) = (BTreeMap::new(), BTreeMap::new());
    let mut taken: BTreeMap<(u32, &str), usize> = BTreeMap::new();
    for (at, event) in history.events() {
        match event {
            Event::Opened { suite, most, .. } => {
                limits.extend(most.map(|most| (*suite, most)));
            }
            Event::Departed {
                request,
                suite,
                sent: Sent::Attempt { audience, .. },
                ..
            } => {
                let Some(most) = limits.get(suite) else {
                    continue;
                };
                let place = (*suite, audience.as_str());
                places.insert(*request, place);
                let taken = taken.entry(place).or_default();
                *taken += 1;
                let (law, kept) = ("no more attempts at once than allowed", *taken <= *most);
                found.hold(law, at, kept, || {
                    format!("request {request}: {taken} of {most} of suite {suite}")
                });
            }
            Event::Delivered { request }
            | Event::Broke { request }
            | Event::Abandoned { request } => {
                if let Some(place) = places.remove(request) {
                    *taken.entry(place).or_default() -= 1;
                }
            }
            _ => {}
        }
    }
}
