//! Enumerations of integers.

use sdk_core::Members;
use sdk_core::codegen::{Check, ListStyle};

use super::notes::{LIST, query_of};
use crate::support::assert_says;

sdk_core::open_integer_enum! { closed
    /// How soon.
    pub enum Priority {
        /// Soon.
        High = -1,
        /// Some time.
        Low = 3,
    }
}

sdk_core::open_integer_enum! { open
    /// How it stands.
    pub enum State {
        /// Done.
        Done = 0,
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    priority: Priority,
    state: Option<State>,
    extra: Members,
}

sdk_core::json_object!(Task { priority: required "priority", state: optional "state" });

#[test]
fn an_unknown_integer_is_kept_and_a_known_one_recognised() {
    for (number, priority) in [
        (-1, Priority::High),
        (3, Priority::Low),
        (2, Priority::Unknown(2)),
    ] {
        let text = format!(r#"{{"priority":{number},"state":{number}}}"#);
        let task: Task = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (task.priority, task.state),
            (priority, Some(State::Unknown(number)))
        );
        assert_eq!(serde_json::to_string(&task).unwrap(), text);
        assert_eq!(
            (priority.as_i64(), priority.to_string()),
            (number, number.to_string())
        );
        assert_eq!(Priority::from(number), priority);
    }
    let whole: Task = serde_json::from_str(r#"{"priority":3.0,"state":0e1}"#).unwrap();
    assert_eq!(
        (whole.priority, whole.state),
        (Priority::Low, Some(State::Done))
    );
    assert_eq!((Priority::KNOWN, State::KNOWN), (&[-1, 3][..], &[0][..]));
    for other in [r#""3""#, "3.5", "true", "9223372036854775808", "null"] {
        let task = format!(r#"{{"priority":{other}}}"#);
        assert!(serde_json::from_str::<Task>(&task).is_err(), "{other}");
    }
}

#[tokio::test]
async fn only_a_closed_set_refuses_what_it_does_not_know() {
    let check = Check::new(&LIST);
    let error = check
        .known("priority", Some(&Priority::from(2)))
        .unwrap_err();
    assert_says(&error, &["`priority` must be one of -1, 3: got 2"]);
    check.known("priority", Some(&Priority::Low)).unwrap();
    check.known("priority", None::<&Priority>).unwrap();
    check.known("state", Some(&State::from(2))).unwrap();
    let both = [Priority::Low, Priority::High];
    let query = query_of(|draft| Ok(draft.list("p", Some(&both), ListStyle::Comma))).await;
    assert_eq!(query, "p=3,-1");
}
