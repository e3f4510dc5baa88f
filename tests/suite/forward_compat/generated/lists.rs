//! Lists as query parameters.

use sdk_core::codegen::{Check, ListStyle};
use sdk_core::{Date, Effect, ErrorKind};

use super::notes::{LIST, query_of};
use crate::support::{assert_failed, assert_says};

const STYLES: [ListStyle; 2] = [ListStyle::Repeated, ListStyle::Comma];

async fn query(values: Option<&[&str]>, style: ListStyle) -> String {
    query_of(|draft| Ok(draft.query("q", Some("x")).list("tag s", values, style))).await
}

#[tokio::test]
async fn each_style_writes_its_items_escaped() {
    let items = ["a", "b&c=ü", "1+1"];
    let escaped = ["a", "b%26c%3D%C3%BC", "1%2B1"];
    let separators = ["&tag+s=", ","];
    for (style, separator) in STYLES.into_iter().zip(separators) {
        let expected = format!("q=x&tag+s={}", escaped.join(separator));
        assert_eq!(query(Some(&items), style).await, expected);
        assert_eq!(query(Some(&["one"]), style).await, "q=x&tag+s=one");
        // Nothing is not an empty item.
        assert_eq!(query(Some(&[]), style).await, "q=x");
        assert_eq!(query(None, style).await, "q=x");
        assert_eq!(query(Some(&[""]), style).await, "q=x&tag+s=");
    }
    let days = [Date::from("2026-01-02"), Date::from("2026-01-03")];
    let query = query_of(|draft| Ok(draft.list("on", Some(&days), ListStyle::Comma))).await;
    assert_eq!(query, "on=2026-01-02,2026-01-03");
}

#[test]
fn a_list_has_its_number_of_items_and_none_that_splits() {
    let check = |values: &[&str], style| Check::new(&LIST).list("tags", Some(values), style, 1, 2);
    check(&["a", "a.b c|d"], ListStyle::Comma).unwrap();
    for bad in [&["a", "a,b"][..], &[""], &["", ""], &["a", ""]] {
        let error = check(bad, ListStyle::Comma).unwrap_err();
        assert_failed(&error, ErrorKind::InvalidInput, Effect::NotSent);
        let found = format!("got {:?}", bad[bad.len() - 1]);
        let rule = "within an item, and no empty one";
        assert_says(&error, &["`tags` must have no", rule, &found]);
    }
    for style in STYLES {
        let none: Option<&[&str]> = None;
        Check::new(&LIST).list("tags", none, style, 1, 2).unwrap();
    }
    check(&["a,b", "a b|c"], ListStyle::Repeated).unwrap();
    check(&["", "a"], ListStyle::Repeated).unwrap();
    let check_open = |least| Check::new(&LIST).items("tags", 0, least, usize::MAX);
    for (least, rule) in [(1, "at least 1 item:"), (2, "at least 2 items:")] {
        assert_says(
            &check_open(least).unwrap_err(),
            &["`tags` must have", rule, "got 0 items"],
        );
    }
    for count in [0, 3] {
        let error = check(&vec!["a"; count], ListStyle::Repeated).unwrap_err();
        assert_says(
            &error,
            &["`tags` must have 1 to 2 items", &count.to_string()],
        );
    }
}
