import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Cluster } from '../cluster.ts';
import type { Service } from '../service.ts';
import { type Fault, kill, killPostgres, START_WITHIN_MS } from './faults.ts';
import type { CampaignLoad } from './load.ts';

/** Fewer than the connections of one api, so that each claim of a burst has one. */
const CLAIMS_AT_ONCE = 5;
/** Some of them are in the middle of their claims when Postgres is killed. */
const SECRETS_OF_BURST = 30;

/**
 * Faults between the commit of a claim and its answer: the reader must get the content when it repeats the
 * request.
 */
export function faultsInReveals(load: CampaignLoad): Readonly<Record<string, Fault>> {
  return {
    'the answers of claims are lost': (cluster) =>
      betweenClaimAndAnswer(cluster, load, {
        begin: () => cluster.postgres.down(),
        end: () => cluster.postgres.up(),
      }),
    'an api is killed after claims': (cluster) =>
      betweenClaimAndAnswer(cluster, load, {
        begin: () => kill(firstApiOf(cluster)),
        end: () => firstApiOf(cluster).start({ within: START_WITHIN_MS }),
      }),
    'Postgres is killed in reveals': async (cluster, random) => {
      for (const secret of await load.createSecrets(SECRETS_OF_BURST)) load.readSecret(secret, 1);
      await sleep(random.between(0, 100));
      await killPostgres(cluster, random);
    },
  };
}

/** To which the first requests of the readers go. */
function firstApiOf({ apis: [first] }: Cluster): Service {
  if (first === undefined) throw new Error('the cluster has no api');
  return first;
}

/**
 * The claims of some readers wait for locks while the fault begins. Then the locks are released: Postgres
 * goes on with the statements of a process that is gone, and commits them.
 */
async function betweenClaimAndAnswer(
  cluster: Cluster,
  load: CampaignLoad,
  { begin, end }: { readonly begin: () => Promise<void>; readonly end: () => Promise<unknown> },
): Promise<void> {
  const secrets = await load.createSecrets(CLAIMS_AT_ONCE);
  const codes = secrets.map(({ code }) => code);
  const locking = new Client({ connectionString: cluster.stack.databaseUrl });
  await locking.connect();
  try {
    await locking.query('BEGIN');
    await locking.query('SELECT FROM pastes WHERE short_code = ANY ($1) ORDER BY id FOR UPDATE', [codes]);
    for (const secret of secrets) load.readSecret(secret, 1);
    const waiting = await cluster.until(
      () =>
        cluster.rows.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE '%reveal_paste(%' AND wait_event_type = 'Lock'`,
        ),
      ({ length }) => length > 0,
    );
    await begin();
    await locking.query('ROLLBACK');
    await cluster.until(
      () =>
        cluster.rows.query('SELECT FROM pastes WHERE short_code = ANY ($1) AND burned_at IS NOT NULL', [
          codes,
        ]),
      (claimed) => claimed.length >= waiting.length,
    );
    load.lostAnswers += waiting.length;
  } finally {
    await locking.end();
    await end();
  }
}

/** Each of two apis then has a group of them. */
const CREATIONS = 10;
/** Fewer than the connections of one api: all but one wait for the first. */
const DEPOSITORS = 5;
const SLEEPING = `pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
const IS_DEPOSIT = `EXISTS (SELECT FROM pg_locks WHERE relation = 'deposits'::regclass AND pid = pg_backend_pid())`;

/** The clients whose requests are cut repeat them with the same keys: of each key there must be one paste. */
export function faultsBeforeAnswers(load: CampaignLoad): Readonly<Record<string, Fault>> {
  return {
    'connections are cut before answers are stored': (cluster) =>
      cutBeforeAnswers(cluster, { begin: () => load.createBeside(CREATIONS), of: 'true' }),
    'connections are cut before deposits are answered': async (cluster) => {
      const deposit = await load.ask();
      await cutBeforeAnswers(cluster, { begin: () => deposit(DEPOSITORS), of: IS_DEPOSIT });
    },
  };
}

/**
 * Cuts the connections of requests that have inserted their pastes, and are about to store their answers.
 * @param requests of which those are cut for which `of` holds. Others must not sleep, since the first one would have the
 * lock for which the rest waits.
 */
async function cutBeforeAnswers(
  cluster: Cluster,
  requests: { readonly begin: () => void; readonly of: string },
): Promise<void> {
  const { rows } = cluster;
  await rows.query(
    `CREATE OR REPLACE FUNCTION campaign_answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF ${requests.of} THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END $$`,
  );
  await rows.query(
    `CREATE TRIGGER campaign_answer BEFORE UPDATE OF answer ON idempotency_keys FOR EACH ROW
       WHEN (OLD.answer IS NULL AND NEW.answer IS NOT NULL) EXECUTE FUNCTION campaign_answer()`,
  );
  requests.begin();
  await cluster.until(
    () => rows.query(`SELECT FROM ${SLEEPING}`),
    ({ length }) => length > 0,
  );
  let isOver = false;
  const over = rows
    .query('DROP TRIGGER campaign_answer ON idempotency_keys') // waits for those that sleep
    .finally(() => (isOver = true));
  while (!isOver) {
    await rows.query(`SELECT pg_terminate_backend(pid) FROM ${SLEEPING}`);
    await sleep(50);
  }
  await over;
}
