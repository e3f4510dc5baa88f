-- Once, by whoever may: `outbox_fleet schema`. Everything else needs no more than the rights to read and write.
-- name: schema
CREATE TABLE IF NOT EXISTS outbox (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stored_at   timestamptz NOT NULL DEFAULT now(),
    lane        text CHECK (octet_length(lane) <= 500), -- sent one after another within it; NULL: in no order
    place       bigint,                     -- its place in the lane, given at the admission
    state       smallint NOT NULL,          -- 0 new, 1 ready, 2 waiting, 3 leased, 4 parked, 5 done, 6 dropped
    due_at      timestamptz NOT NULL DEFAULT now(),
    token       uuid,                       -- of the worker that has it
    lease_until timestamptz,                -- in the past while ready: its lease ran out
    attempts    integer NOT NULL DEFAULT 0, -- spent at the claim
    first_sent  timestamptz,
    approved_at timestamptz,                -- a person said: send it
    reason      text,
    note        text,
    late        text                        -- a reply that came when somebody else had it already
);
-- Only inserted into, and purged: the rows that change stay small.
CREATE TABLE IF NOT EXISTS outbox_body (
    id      bigint PRIMARY KEY REFERENCES outbox ON DELETE CASCADE,
    command text NOT NULL
);
CREATE TABLE IF NOT EXISTS outbox_receipt (
    id       bigint PRIMARY KEY,
    status   integer NOT NULL,
    replayed boolean,
    result   text NOT NULL
);
CREATE INDEX IF NOT EXISTS outbox_new   ON outbox (id)          WHERE state = 0;
CREATE INDEX IF NOT EXISTS outbox_ready ON outbox (due_at, id)  WHERE state = 1;
CREATE INDEX IF NOT EXISTS outbox_lease ON outbox (lease_until) WHERE state = 3;
CREATE INDEX IF NOT EXISTS outbox_lane  ON outbox (lane, place) WHERE state = 2;
-- Not unique: under an old snapshot each new entry would be compared with all dead ones of its lane.
CREATE INDEX IF NOT EXISTS outbox_head  ON outbox (lane, place) WHERE lane IS NOT NULL AND state IN (1, 3, 4);
CREATE SEQUENCE IF NOT EXISTS outbox_place;

-- Of every connection: statements that follow each other must see what others committed in between, whatever the default
-- of the database is, and nobody waits for somebody who stands still.
-- name: session
SET default_transaction_isolation = 'read committed';
SET idle_in_transaction_session_timeout = '5s';
SET lock_timeout = '10s';

-- Enqueue: in the transaction of the business row. The lock, taken first, keeps a lane in the order of the commits. Lock
-- several lanes in their order.
-- name: lock_lane
SELECT pg_advisory_xact_lock(hashtext('outbox lane'), hashtext($1::text));
-- name: enqueue
WITH new AS (
    INSERT INTO outbox (lane, state) VALUES ($1::text, CASE WHEN $1::text IS NULL THEN 1 ELSE 0 END) RETURNING id
)
INSERT INTO outbox_body SELECT id, $2::text FROM new;

-- Admit new commands to their lanes: one worker at a time, one transaction, in this order.
-- name: admit_alone
SELECT pg_try_advisory_xact_lock(hashtext('outbox admit'));
-- name: admit_new
SELECT id, lane FROM outbox WHERE state = 0 ORDER BY id LIMIT 500;
-- The lanes whose head nobody is finishing: who does would not see the new commands. The others wait for the next time.
-- name: admit_lanes
SELECT lane FROM (SELECT DISTINCT unnest($1::text[]) AS lane) AS lanes
WHERE pg_try_advisory_xact_lock(hashtext('outbox head'), hashtext(lane));
-- name: admit_wait
WITH new AS MATERIALIZED (SELECT id, nextval('outbox_place') AS place FROM unnest($1::bigint[]) AS id)
UPDATE outbox SET state = 2, place = new.place FROM new WHERE outbox.id = new.id AND state = 0 AND lane = ANY ($2::text[]);
-- name: admit_ready
UPDATE outbox SET state = 1 WHERE id IN (
    SELECT DISTINCT ON (lane) id FROM outbox AS new WHERE id = ANY ($1::bigint[]) AND state = 2 AND NOT EXISTS (
        SELECT FROM outbox AS head WHERE head.lane = new.lane AND head.lane IS NOT NULL AND head.state IN (1, 3, 4)
    ) ORDER BY lane, place
);

-- Claim: after a cursor, so that it never walks over what was claimed before. Start again from the beginning every
-- second, and when nothing comes.
-- name: claim
WITH next AS (
    SELECT id, first_sent, lease_until FROM outbox
    WHERE state = 1 AND due_at <= now() AND (due_at, id) > ($1::timestamptz, $2::bigint)
    ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE outbox SET state = 3, token = gen_random_uuid(), lease_until = now() + make_interval(secs => $3::float8),
    attempts = attempts + 1, first_sent = coalesce(outbox.first_sent, now())
FROM next LEFT JOIN outbox_body USING (id) WHERE outbox.id = next.id
RETURNING outbox.id, lane, place, command, token::text, attempts - 1 AS attempts, next.first_sent, approved_at,
    next.lease_until IS NOT NULL AS lease_expired, due_at, now() AS claimed_at;
-- name: reclaim
UPDATE outbox SET state = 1, token = NULL WHERE id IN (
    SELECT id FROM outbox WHERE state = 3 AND lease_until < now() ORDER BY lease_until LIMIT 100 FOR UPDATE SKIP LOCKED
);

-- Settle: one transaction. By id and token only; if no row is changed, the lease ran out: roll back.
-- name: done
UPDATE outbox SET state = 5, due_at = now(), token = NULL, lease_until = NULL, note = NULL
WHERE id = $1 AND token = $2::text::uuid;
-- name: receipt
INSERT INTO outbox_receipt (id, status, replayed, result) VALUES ($1, $2, $3, $4);
-- Then, in a lane, the next in it.
-- name: lock_head
SELECT pg_advisory_xact_lock(hashtext('outbox head'), hashtext($1::text));
-- name: promote
UPDATE outbox SET state = 1 WHERE id = (
    SELECT id FROM outbox WHERE lane = $1 AND place > $2 AND state = 2 ORDER BY place LIMIT 1
);
-- Or without a receipt: later, or a person.
-- name: later
UPDATE outbox SET state = 1, due_at = $3, first_sent = $4, note = $5, token = NULL, lease_until = NULL
WHERE id = $1 AND token = $2::text::uuid;
-- name: park
UPDATE outbox SET state = 4, reason = $3, note = $4, token = NULL, lease_until = NULL
WHERE id = $1 AND token = $2::text::uuid;
-- A reply that came too late tells the person that it happened.
-- name: late
UPDATE outbox SET late = $2 WHERE id = $1 AND state <> 5;

-- For a person. What is dropped lets its lane go on: lock_head, promote.
-- name: parked
SELECT id, concat_ws(': ', reason, note, late) AS why, coalesce(command, '') AS command
FROM outbox LEFT JOIN outbox_body USING (id) WHERE state = 4 ORDER BY id;
-- name: retry
UPDATE outbox SET state = 1, due_at = now(), attempts = 0, first_sent = NULL, approved_at = now(), reason = NULL, note = NULL,
    late = NULL WHERE id = $1 AND state = 4;
-- name: drop
UPDATE outbox SET state = 6, due_at = now() WHERE id = $1 AND state = 4 RETURNING lane, place;
-- name: status
SELECT state, count(*), (extract(epoch FROM max(now() - stored_at)))::float8 AS oldest, max(attempts) AS attempts
FROM outbox GROUP BY state ORDER BY state;
-- In batches, until it deletes nothing.
-- name: purge
DELETE FROM outbox WHERE id IN (
    SELECT id FROM outbox WHERE state IN (5, 6) AND due_at < now() - make_interval(secs => $1::float8) ORDER BY id LIMIT 1000
);
