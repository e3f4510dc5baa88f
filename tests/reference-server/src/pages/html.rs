//! The frame of a page, and escaping.

use std::fmt::{self, Write as _};

use http::{HeaderName, header};

use crate::message::Reply;

const STYLE: &str = include_str!("style.css");

/// Text, with everything escaped that would be markup.
pub(super) struct Text<T>(pub(super) T);

impl<T: fmt::Display> fmt::Display for Text<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.to_string().chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                plain => f.write_char(plain)?,
            }
        }
        Ok(())
    }
}

/// A table of a head and rows, both markup.
pub(super) fn table(head: &str, rows: &str) -> String {
    format!(
        "<div class=\"wide\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

/// A whole page; it loads nothing and runs nothing.
pub(super) fn page(title: &str, body: &str) -> Reply {
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        Text(title)
    );
    Reply::text(200, "text/html; charset=utf-8", html)
        .with(
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
        )
        .with(HeaderName::from_static("x-content-type-options"), "nosniff")
        .with(header::CACHE_CONTROL, "no-store")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_text() {
        let shown = Text("<script>alert('&\"')</script>").to_string();
        assert_eq!(
            shown,
            "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"
        );
    }
}
