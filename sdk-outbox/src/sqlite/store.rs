//! Implements the store on SQLite.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::ValueRef;
use rusqlite::{Row, Transaction, params};

use super::{OnReceipt, Sqlite};
use crate::entry::{Body, Count, State, Status, StoredCommand};
use crate::error::Error;
use crate::steps::reached;
use crate::store::{Claim, Decision, Settlement, Store, Wanted, sealed};
use crate::time::Lease;

/// Makes the next command of a lane ready, once the command ?1 no longer blocks the lane.
const PROMOTE: &str = "
    UPDATE sdk_outbox SET state = 1 WHERE id = (
        SELECT min(id) FROM sdk_outbox WHERE state = 2 AND lane = (SELECT lane FROM sdk_outbox WHERE id = ?1)
    )";

/// The columns that [`stored`] reads.
const COLUMNS: &str = "id, state, application, installation, lane, reference, stored_at, attempts, first_sent, reason, note, late, command";

impl sealed::Sealed for Sqlite {}

impl Store for Sqlite {
    async fn maintain(&self) -> Result<bool, Error> {
        let has_more = self.transact(admit).await?;
        self.transact(|work, now| {
            let reclaim = "UPDATE sdk_outbox SET state = 1, token = NULL, lease_until = NULL, lease_expired = 1
                WHERE state = 3 AND lease_until < ?1";
            work.execute(reclaim, [now])?;
            reached("leases ended, not committed");
            Ok(())
        })
        .await?;
        Ok(has_more)
    }

    async fn claim(&self, wanted: &[Wanted], lease: Duration) -> Result<Vec<Claim>, Error> {
        let (wanted, held) = (wanted.to_vec(), Lease::begin(lease));
        self.transact(move |work, now| {
            let claims = claim(work, &wanted, now, held, lease);
            reached("claimed, not committed");
            claims
        })
        .await
    }

    async fn settle(&self, claim: &Claim, to: &Settlement) -> Result<bool, Error> {
        let (claim, to, record) = (claim.clone(), to.clone(), self.on_receipt.clone());
        self.transact(move |work, now| settle(work, &claim, &to, now, record.as_deref()))
            .await
    }

    async fn status(&self) -> Result<Status, Error> {
        self.read(|work, now| {
            let counts = "SELECT state, CASE WHEN state = 4 THEN reason END AS reason, count(*) FROM sdk_outbox GROUP BY 1, 2 ORDER BY 1, 2";
            let mut counts = work.prepare(counts)?;
            let counts = counts.query_map([], |row| {
                Ok(Count {
                    state: State::numbered(row.get(0)?),
                    reason: text(row, 1)?,
                    commands: row.get::<_, i64>(2)?.unsigned_abs(),
                })
            })?;
            let oldest = format!("SELECT {COLUMNS} FROM sdk_outbox WHERE state < 4 ORDER BY id LIMIT 1");
            let mut oldest = work.prepare(&oldest)?;
            let mut oldest = oldest.query_map([], |row| stored(row, now))?;
            Ok(Status {
                counts: counts.collect::<Result<_, _>>()?,
                oldest: oldest.next().transpose()?,
            })
        })
        .await
    }

    async fn list(&self, state: State) -> Result<Vec<StoredCommand>, Error> {
        // The state is a literal, because SQLite uses a partial index only for values that it knows when it plans.
        let list = format!(
            "SELECT {COLUMNS} FROM sdk_outbox WHERE state = {} ORDER BY id LIMIT 1000",
            state as i64
        );
        self.read(move |work, now| {
            let mut list = work.prepare(&list)?;
            let list = list.query_map([], |row| stored(row, now))?;
            Ok(list.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn find(&self, id: i64) -> Result<Option<StoredCommand>, Error> {
        self.read(move |work, now| {
            let find = format!("SELECT {COLUMNS} FROM sdk_outbox WHERE id = ?1");
            let mut find = work.prepare(&find)?;
            let mut found = find.query_map([id], |row| stored(row, now))?;
            Ok(found.next().transpose()?)
        })
        .await
    }

    async fn decide(&self, id: i64, by: &str, decision: &Decision) -> Result<bool, Error> {
        let (by, decision) = (by.to_owned(), decision.clone());
        self.transact(move |work, now| match decision {
            Decision::Retry => {
                let retry = "UPDATE sdk_outbox SET state = 1, due_at = ?2, attempts = 0, first_sent = NULL, approved_at = ?2,
                    decided_by = ?3, reason = NULL, note = NULL, late = NULL, lease_expired = 0 WHERE id = ?1 AND state = 4";
                Ok(work.execute(retry, params![id, now, by])? == 1)
            }
            Decision::Drop(why) => {
                let drop = "UPDATE sdk_outbox SET state = 6, due_at = ?2, decided_by = ?3, note = ?4 WHERE id = ?1 AND state = 4";
                let dropped = work.execute(drop, params![id, now, by, why])? == 1;
                if dropped {
                    work.execute(PROMOTE, [id])?;
                }
                Ok(dropped)
            }
        })
        .await
    }

    async fn purge(&self, older: Duration) -> Result<u64, Error> {
        let (older, mut purged) = (length(older), 0);
        loop {
            let deleted = self.transact(move |work, now| {
                let delete = "DELETE FROM sdk_outbox WHERE id IN
                    (SELECT id FROM sdk_outbox WHERE state IN (5, 6) AND due_at < ?1 ORDER BY id LIMIT ?2)";
                Ok(work.execute(delete, [now.saturating_sub(older), BATCH.into()])?)
            });
            let deleted = deleted.await?;
            purged += deleted as u64;
            if deleted < BATCH as usize {
                return Ok(purged);
            }
        }
    }
}

const BATCH: u32 = 500;

/// Makes new commands ready, or lets them wait for earlier commands of their lane. Returns whether there may be more.
fn admit(work: &Transaction<'_>, now: i64) -> Result<bool, Error> {
    let new = "SELECT id, lane FROM sdk_outbox WHERE state = 0 ORDER BY id LIMIT ?1";
    let mut new = work.prepare(new)?;
    let new: Vec<(i64, bool)> = new
        .query_map([BATCH], |row| {
            Ok((row.get(0)?, row.get_ref(1)? == ValueRef::Null))
        })?
        .collect::<Result<_, _>>()?;
    // A command is due at the time when it was stored, so that new commands queue behind earlier commands.
    let mut admit = work
        .prepare("UPDATE sdk_outbox SET state = ?2, due_at = min(stored_at, ?3) WHERE id = ?1")?;
    let mut head = work.prepare(
        "UPDATE sdk_outbox SET state = 1 WHERE id = (
            SELECT min(id) FROM sdk_outbox WHERE state = 2 AND lane = (SELECT lane FROM sdk_outbox WHERE id = ?1)
        ) AND NOT EXISTS (
            SELECT 1 FROM sdk_outbox AS head WHERE head.lane = sdk_outbox.lane AND head.lane IS NOT NULL AND head.state IN (1, 3, 4)
        )",
    )?;
    for (id, is_free) in &new {
        admit.execute(params![id, if *is_free { 1 } else { 2 }, now])?;
        if !is_free {
            head.execute([id])?;
        }
    }
    reached("admitted, not committed");
    Ok(new.len() == BATCH as usize)
}

fn claim(
    work: &Transaction<'_>,
    wanted: &[Wanted],
    now: i64,
    held: Lease,
    lease: Duration,
) -> Result<Vec<Claim>, Error> {
    let due = format!(
        "SELECT {COLUMNS}, approved_at, lease_expired, lower(hex(randomblob(16))), due_at FROM sdk_outbox
         WHERE state = 1 AND application = ?1 AND installation = ?2 AND due_at <= ?3 ORDER BY due_at, id LIMIT ?4"
    );
    let mut due = work.prepare(&due)?;
    let mut take = work.prepare(
        "UPDATE sdk_outbox SET state = 3, token = ?2, lease_until = ?3, attempts = min(max(attempts, 0), 2147483646) + 1,
            first_sent = coalesce(first_sent, ?4) WHERE id = ?1",
    )?;
    let (until, mut claims) = (now.saturating_add(length(lease)), Vec::new());
    for wanted in wanted {
        let free = i64::try_from(wanted.free).unwrap_or(i64::MAX);
        let values = params![wanted.application, wanted.installation, now, free];
        let own = due.query_map(values, |row| {
            Ok(Claim {
                index: wanted.index,
                command: stored(row, now)?,
                approved_at: row.get::<_, Option<i64>>(13)?.map(time),
                lease_expired: row.get(14)?,
                token: row.get(15)?,
                due_at: time(row.get(16)?),
                at: time(now),
                lease: held,
            })
        })?;
        claims.extend(own.collect::<Result<Vec<_>, _>>()?);
    }
    for claim in &claims {
        take.execute(params![claim.command.id, claim.token, until, now])?;
    }
    Ok(claims)
}

fn settle(
    work: &Transaction<'_>,
    claim: &Claim,
    to: &Settlement,
    now: i64,
    record: Option<&OnReceipt>,
) -> Result<bool, Error> {
    let (id, token) = (claim.command.id, &claim.token);
    // The claim ID must match, so that a worker whose lease expired changes nothing.
    let settle = "UPDATE sdk_outbox SET state = ?3, due_at = ?4, attempts = ?5, first_sent = ?6, reason = ?7, note = ?8,
        http_status = ?9, replayed = ?10, result = ?11, lease_expired = ?12, token = NULL, lease_until = NULL
        WHERE id = ?1 AND token = ?2";
    let receipt = to.receipt.as_ref();
    let settled = work.execute(
        settle,
        params![
            id,
            token,
            to.state as i64,
            to.due.map_or(now, millis),
            to.attempts,
            to.first_sent.map(millis),
            to.reason,
            to.note,
            receipt.map(|it| i64::from(it.http_status)),
            receipt.and_then(|it| it.replayed),
            receipt.map(|it| &it.body),
            to.lease_expired,
        ],
    )?;
    if let Some(receipt) = receipt {
        if settled == 0 {
            let late = "UPDATE sdk_outbox SET late = ?2 WHERE id = ?1 AND state <> 5";
            work.execute(late, params![id, receipt.late()])?;
        } else {
            if let Some(record) = record {
                // Retrying wouldn't help, because this transaction has no concurrent writers.
                record(work, &claim.command, receipt)
                    .map_err(|error| Error::database(&error.to_string(), false))?;
            }
            reached("receipt stored, lane blocked");
            work.execute(PROMOTE, [id])?;
            reached("lane continued, not committed");
        }
    }
    reached("settled, not committed");
    Ok(settled == 1)
}

fn stored(row: &Row<'_>, now: i64) -> rusqlite::Result<StoredCommand> {
    let required = |at| text(row, at).map(Option::unwrap_or_default);
    let age = now.saturating_sub(row.get(6)?).max(0).unsigned_abs();
    Ok(StoredCommand {
        id: row.get(0)?,
        state: State::numbered(row.get(1)?),
        application: required(2)?,
        installation: required(3)?,
        lane: text(row, 4)?,
        reference: text(row, 5)?,
        age: Duration::from_millis(age),
        attempts: row.get::<_, i64>(7)?.try_into().unwrap_or_default(),
        first_sent: row.get::<_, Option<i64>>(8)?.map(time),
        reason: text(row, 9)?,
        note: text(row, 10)?,
        late: text(row, 11)?,
        command: Body(text(row, 12)?),
    })
}

/// Reads a string, or `None` for a value of another type, because another program may have written the column.
fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    })
}

fn time(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.max(0).unsigned_abs())
}

pub(super) fn millis(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, length)
}

fn length(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
