//! What a run must have kept: compares the log of the server with the tables.

use super::super::committed;
use super::arena::Arena;
use super::run::{Run, Stored, operation};

impl<S: Arena> Run<S> {
    /// Compares what the server committed with the table.
    pub(super) async fn check(&self, ended: bool) {
        let table = format!(
            "SELECT reference, state, approved_at IS NULL, {}, installation, lane, token, attempts, due_at, lease_until, reason, note, late
                FROM sdk_outbox ORDER BY id",
            S::FIRST_SENT
        );
        let table = self.rows(&table).await;
        if !ended {
            self.tally.borrow_mut().count("stuck", 1);
            self.broken("stuck");
        }
        let (stored, titles) = (self.stored.take(), committed(&self.server));
        if table.len() != stored.len() {
            self.broken("the outbox does not hold what was stored");
        }
        let once = |it: &Stored| titles.iter().filter(|title| **title == it.title).count();
        let lost = stored.iter().filter(|it| once(it) == 0).count();
        let commits = [true, false].map(|it| self.server.commits(operation(it)));
        let commits = usize::try_from(commits[0] + commits[1]).unwrap();
        let duplicated = (commits + lost).saturating_sub(stored.len());
        let at = |it: &Stored| titles.iter().position(|title| *title == it.title);
        let mut disordered = 0;
        for later in &stored {
            disordered += usize::from(stored.iter().any(|it| {
                let is_before = it.lane == later.lane && it.commit[1] < later.commit[0];
                is_before && it.lane.is_some() && at(it) > at(later)
            }));
        }
        for (what, number) in [
            ("commands", stored.len()),
            ("lost", lost),
            ("duplicated", duplicated),
            ("out of order", disordered),
        ] {
            self.tally.borrow_mut().count(what, number);
        }
        if [lost, duplicated, disordered] != [0; 3] {
            self.broken(&format!("{lost} lost, {duplicated} duplicated, {disordered} out of order; the server committed {titles:?}"));
        }
        self.check_first_sent(&table);
        // Only a worker that waited past its deadline receives that response.
        let slow = format!("c{}", self.slow.get());
        let is_late = |row: &Vec<String>| row[0] == slow && !row[12].is_empty();
        if !self.was_stopped.get() && table.iter().any(is_late) {
            self.broken("a worker waited for a response for longer than its lease");
        }
        self.check_changes().await;
        if !self.tally.borrow().broken.is_empty() {
            let rows = table.iter().map(|row| row.join("|"));
            let rows = rows.collect::<Vec<_>>().join("\n  ");
            self.tally.borrow_mut().broken.push(format!("  {rows}"));
        }
    }

    /// The first sending was not after the first commit, unless an operator had it sent again.
    fn check_first_sent(&self, table: &[Vec<String>]) {
        let requests = self.server.requests();
        for row in table.iter().filter(|row| ["t", "1"].contains(&&*row[2])) {
            let first_sent: i64 = row[3].parse().unwrap_or(i64::MAX);
            let first = requests.iter().find(|it| {
                let body = String::from_utf8_lossy(it.body());
                it.status.is_none_or(|it| it < 300) && body.contains(&format!("\"{}\"", row[0]))
            });
            // SQLite's times are whole milliseconds.
            let tolerance = 1;
            if first.is_some_and(|it| it.at.as_millisecond() + tolerance < first_sent) {
                self.broken(&format!("the first sending of {} is forgotten", row[0]));
            }
        }
    }

    /// Every change that the database saw is one that a worker or an operator makes.
    async fn check_changes(&self) {
        let broken = [
            ("a command that was settled or parked was changed", "SELECT id, was, became FROM changes
                WHERE was * 10 + became NOT IN (1, 2, 21, 13, 31, 34, 35, 41, 46)"),
            ("a claim forgot the first sending", "SELECT id FROM changes WHERE forgot"),
            ("a lane had two heads", "SELECT lane, seq FROM (SELECT lane, seq, sum(CASE WHEN became IN (1, 3, 4) THEN 1 ELSE 0 END
                - CASE WHEN was IN (1, 3, 4) THEN 1 ELSE 0 END) OVER (PARTITION BY lane ORDER BY seq) AS heads
                FROM changes WHERE lane IS NOT NULL) AS it WHERE heads > 1"),
            ("receipts and done commands differ", "SELECT sdk_outbox.id, state, count(receipts.id) FROM sdk_outbox
                LEFT JOIN receipts ON receipts.id = sdk_outbox.id GROUP BY 1, 2
                HAVING count(receipts.id) <> CASE state WHEN 5 THEN 1 ELSE 0 END"),
        ];
        for (what, sql) in broken {
            let rows = self.rows(sql).await;
            if !rows.is_empty() {
                self.broken(&format!("{what}: {rows:?}"));
            }
        }
    }
}
