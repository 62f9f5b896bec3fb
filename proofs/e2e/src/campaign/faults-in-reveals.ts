import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Cluster } from '../cluster.ts';
import type { Service } from '../service.ts';
import { kill, killPostgres, START_WITHIN_MS, type Fault } from './faults.ts';
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
