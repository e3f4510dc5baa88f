//! Cursors that loop.

/// Repeats the first few cursors over and over.
#[derive(Debug)]
pub(super) struct Rounds {
    length: usize,
    seen: Vec<String>,
    next: usize,
}

impl Rounds {
    pub(super) fn new(length: usize) -> Rounds {
        Rounds {
            length: length.max(1),
            seen: Vec::new(),
            next: 0,
        }
    }

    /// Returns the cursor that replaces the true cursor of a page.
    pub(super) fn turn(&mut self, cursor: Option<&str>) -> Option<String> {
        match cursor {
            Some(cursor) if self.seen.len() < self.length => {
                self.seen.push(cursor.to_owned());
                Some(cursor.to_owned())
            }
            _ if self.seen.is_empty() => None,
            _ => {
                let again = self.seen[self.next % self.seen.len()].clone();
                self.next += 1;
                Some(again)
            }
        }
    }
}
