//! Nothing secret is in any line.

use crate::event::{Event, History};
use crate::laws::Found;

pub(crate) fn hold(history: &History, found: &mut Found) {
    let secrets: Vec<&str> = history
        .events()
        .filter_map(|(_, event)| match event {
            Event::Secret { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    for (at, event) in history.events() {
        let Event::Logged { line } = event else {
            continue;
        };
        let shows = secrets.iter().position(|secret| line.contains(secret));
        found.hold("no line shows a secret", at, shows.is_none(), || {
            // The line itself would show it.
            let start: String = line.chars().take(40).collect();
            format!("secret {shows:?} in a line that begins with {start:?}")
        });
    }
}
