WITH locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock('sdk_outbox_body'::regclass::oid::int, hashtext($3::text))
), new AS (
    INSERT INTO sdk_outbox (application, installation, lane, reference)
    SELECT $1::text, $2::text, $3::text, $4::text FROM locked RETURNING id
)
INSERT INTO sdk_outbox_body (id, command) SELECT id, $5::text FROM new RETURNING id
