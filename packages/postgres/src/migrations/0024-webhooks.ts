import { sql, type Kysely } from 'kysely';

/**
 * Webhooks. The index on task_executions reads the table once, during which claims and settlements wait: about a second
 * for a million executions.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- user_id NULL: an endpoint of the operators. url: a secret; NULL once the endpoint is removed. generation: of the
    -- secret, which is derived from a key and is in no row. failing_since: of the first failure after the last success.
    -- switched_off_for: gone (the endpoint answered 410), failing (for three days), operator.
    CREATE TABLE webhook_endpoints (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      user_id uuid REFERENCES users (id),
      url text CHECK (url <> '' AND length(url) <= 2000),
      events text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 20),
      generation integer NOT NULL DEFAULT 1 CHECK (generation >= 1),
      rotated_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      failing_since timestamptz,
      switched_off_at timestamptz,
      switched_off_for text CHECK (switched_off_for IN ('gone', 'failing', 'operator')),
      removed_at timestamptz,
      CONSTRAINT webhook_endpoints_removed CHECK ((removed_at IS NULL) = (url IS NOT NULL)),
      CONSTRAINT webhook_endpoints_switched_off CHECK (num_nulls(switched_off_at, switched_off_for) IN (0, 2))
    );
    CREATE INDEX webhook_endpoints_owner ON webhook_endpoints (user_id, created_at, id);
    CREATE INDEX webhook_endpoints_removed ON webhook_endpoints (removed_at) WHERE removed_at IS NOT NULL;
    -- Whether anybody is to be told anything.
    CREATE INDEX webhook_endpoints_on ON webhook_endpoints (user_id) WHERE switched_off_at IS NULL AND removed_at IS NULL;

    -- event_id: the same for all endpoints, and for a delivery that is sent again. about: the short code, the job id or
    -- the id of the request. occurrence: what has happened, once for an endpoint and a type. No foreign keys: what
    -- happens must not wait for somebody who has locked an endpoint.
    CREATE TABLE webhook_deliveries (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      endpoint_id uuid NOT NULL,
      user_id uuid,
      event_id uuid NOT NULL,
      type text COLLATE "C" NOT NULL CHECK (type <> ''),
      about text COLLATE "C" NOT NULL,
      occurrence text COLLATE "C" NOT NULL,
      happened_at timestamptz NOT NULL DEFAULT now(),
      status varchar(20) NOT NULL DEFAULT 'WAITING',
      created_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz,
      answered smallint,
      failure_reason text,
      retry_of uuid,
      CONSTRAINT webhook_deliveries_ended_has_time CHECK ((status = 'WAITING') = (ended_at IS NULL)),
      CONSTRAINT webhook_deliveries_failed_has_reason CHECK ((status = 'FAILED') = (failure_reason IS NOT NULL))
    );
    CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (endpoint_id, type, occurrence) WHERE retry_of IS NULL;
    CREATE UNIQUE INDEX webhook_deliveries_one_open ON webhook_deliveries (endpoint_id, event_id) WHERE ended_at IS NULL;
    CREATE INDEX webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint_id, created_at, id);
    CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (id) WHERE ended_at IS NULL;
    CREATE INDEX webhook_deliveries_old ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;

    -- NOT VALID: the CHECK before was narrower, so that no row needs to be read.
    ALTER TABLE task_executions DROP CONSTRAINT task_executions_kind_check, ADD COLUMN endpoint_id uuid,
      ADD CONSTRAINT task_executions_kind_check CHECK (kind IN ('upload', 'job', 'webhook')) NOT VALID,
      ADD CONSTRAINT task_executions_endpoint CHECK ((kind = 'webhook') = (endpoint_id IS NOT NULL)) NOT VALID;
    -- The turns of the users, and of each endpoint of the operators.
    CREATE INDEX task_executions_deliveries ON task_executions (coalesce(user_id, endpoint_id), endpoint_id, run_at)
      WHERE kind = 'webhook' AND status = 'PENDING';

    CREATE FUNCTION remove_executions_of_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM task_executions WHERE kind = 'webhook' AND subject_id IN (SELECT id FROM old_rows);
      RETURN NULL;
    END $$;
    CREATE TRIGGER remove_executions_of_deliveries AFTER DELETE ON webhook_deliveries REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT EXECUTE FUNCTION remove_executions_of_deliveries();

    INSERT INTO work_kinds (kind) VALUES ('webhooks');

    -- Locks up to wanted due deliveries, behind the place (after_user, after_endpoint) in the order of users and
    -- endpoints. busy_users and busy_endpoints: of each delivery that the caller is sending already. The last row has
    -- no execution: it is the place where the search has ended; NULL: at the end of the order. When few are due, it looks at
    -- their endpoints alone. Otherwise it reads one row of the index for each endpoint that has a waiting delivery, of 256
    -- at most.
    CREATE FUNCTION next_deliveries(after_user uuid, after_endpoint uuid, busy_users uuid[], busy_endpoints uuid[],
        for_user integer, for_endpoint integer, wanted integer)
      RETURNS TABLE (execution uuid, of_user uuid, of_endpoint uuid) LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
    DECLARE
      due uuid;
      due_at timestamptz;
      due_users uuid[];
      due_endpoints uuid[];
      room integer;
    BEGIN
      of_user := after_user;
      of_endpoint := after_endpoint;
      -- None has a message, so that they are in the order of their times.
      SELECT array_agg(turn_of), array_agg(endpoint_id) INTO due_users, due_endpoints FROM (
        SELECT coalesce(e.user_id, e.endpoint_id) AS turn_of, e.endpoint_id FROM task_executions e
        WHERE e.kind = 'webhook' AND e.status = 'PENDING' AND e.dispatched_at IS NULL AND e.run_at <= now()
        ORDER BY e.dispatched_at NULLS FIRST, e.run_at LIMIT 257) AS first_due;
      FOR i IN 1..256 LOOP
        EXIT WHEN wanted <= 0;
        IF cardinality(due_users) > 256 THEN
          SELECT coalesce(e.user_id, e.endpoint_id), e.endpoint_id, e.run_at INTO of_user, of_endpoint, due_at FROM task_executions e
            WHERE e.kind = 'webhook' AND e.status = 'PENDING' AND (coalesce(e.user_id, e.endpoint_id), e.endpoint_id) > (of_user, of_endpoint)
            ORDER BY coalesce(e.user_id, e.endpoint_id), e.endpoint_id, e.run_at LIMIT 1;
        ELSE
          SELECT d.turn_of, d.endpoint_id INTO of_user, of_endpoint FROM unnest(due_users, due_endpoints) AS d (turn_of, endpoint_id)
            WHERE (d.turn_of, d.endpoint_id) > (of_user, of_endpoint) ORDER BY d.turn_of, d.endpoint_id LIMIT 1;
        END IF;
        EXIT WHEN of_user IS NULL;
        CONTINUE WHEN due_at > now();
        room := least(wanted, for_user - cardinality(array_positions(busy_users, of_user)),
          for_endpoint - cardinality(array_positions(busy_endpoints, of_endpoint)));
        CONTINUE WHEN room <= 0;
        FOR due IN
          SELECT e.id FROM task_executions e
          WHERE e.kind = 'webhook' AND e.status = 'PENDING' AND coalesce(e.user_id, e.endpoint_id) = of_user
            AND e.endpoint_id = of_endpoint AND e.run_at <= now()
          ORDER BY e.run_at LIMIT room FOR UPDATE SKIP LOCKED
        LOOP
          execution := due;
          busy_users := busy_users || of_user;
          wanted := wanted - 1;
          RETURN NEXT;
        END LOOP;
      END LOOP;
      execution := NULL;
      RETURN NEXT;
    END $$;
  `.execute(db);
}
