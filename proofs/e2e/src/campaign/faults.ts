import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { FaultProxy } from '@pasteflow/dev-stack/testing';
import type { Cluster } from '../cluster.ts';
import type { Service } from '../service.ts';
import type { Random } from './plan.ts';

/** Does something to the cluster and repairs it. Resolves when the fault is over. */
export type Fault = (cluster: Cluster, random: Random) => Promise<void>;

/** A service on the busy machine of a campaign starts slowly. */
export const START_WITHIN_MS = 120_000;
const SKEW_MS = 10 * 60_000;

/** Ends a process with SIGKILL and starts it again. */
export const killService: Fault = async (cluster, random) => {
  const service = oneOf(cluster, random);
  await kill(service);
  await sleep(random.between(0, 500));
  await service.start({ within: START_WITHIN_MS });
};

export async function kill(service: Service): Promise<void> {
  service.signal('SIGKILL');
  const { signal, code } = await service.exited;
  if (signal !== 'SIGKILL')
    throw new Error(`${service.name} had ended with code ${code}\n${service.tail(40)}`);
}

function oneOf({ services }: Cluster, random: Random): Service {
  const service = services[random.between(0, services.length - 1)];
  if (service === undefined) throw new Error('the cluster has no services');
  return service;
}

/** Longer than a lease in half of the cases: the frozen worker then wakes up as a zombie. */
const freezeService: Fault = async (cluster, random) => {
  const service = oneOf(cluster, random);
  service.signal('SIGSTOP');
  await sleep(random.between(1000, 12_000));
  service.signal('SIGCONT');
};

/** One service runs with a clock that is ten minutes off, until a fault kills it. */
const skewClock: Fault = async (cluster, random) => {
  const service = oneOf(cluster, random);
  const skewMs = random.next() < 0.5 ? SKEW_MS : -SKEW_MS;
  const source = `const now = Date.now; const D = Date; Date.now = () => now() + ${skewMs};
    globalThis.Date = class extends D { constructor(...a) { super(...(a.length ? a : [Date.now()])); } };`;
  await kill(service);
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
  await service.start({ env, within: START_WITHIN_MS });
};

const restartPostgres: Fault = (cluster, random) =>
  cluster.stack.restartPostgres(() => sleep(random.between(0, 3000)));

export const killPostgres: Fault = async (cluster) => {
  process.kill(cluster.stack.postgresPid, 'SIGKILL');
  await sleep(1000); // the backends notice that the postmaster has ended
  await cluster.stack.restartPostgres();
};

const cutBackends: Fault = async (cluster) => {
  await cluster.rows.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND application_name <> ''`,
  );
};

const partitionPostgres: Fault = async (cluster, random) => {
  await cluster.postgres.down();
  await sleep(random.between(500, 5000));
  await cluster.postgres.up();
};

/** Takes all connections that Postgres has left. */
const exhaustConnections: Fault = async (cluster, random) => {
  const clients = Array.from(
    { length: 120 },
    () => new Client({ connectionString: cluster.stack.databaseUrl }),
  );
  for (const client of clients) client.on('error', () => {});
  await Promise.allSettled(clients.map((client) => client.connect()));
  await sleep(random.between(1000, 4000));
  await Promise.allSettled(clients.map((client) => client.end()));
};

/** A trigger by its table, with what it runs on. */
type Triggers = Readonly<Record<string, string>>;

const UPDATES: Triggers = {
  task_executions: 'TRIGGER campaign_fault BEFORE UPDATE ON task_executions',
  idempotency_keys: 'TRIGGER campaign_fault BEFORE UPDATE ON idempotency_keys',
};
const COMMITS: Triggers = {
  pastes: 'CONSTRAINT TRIGGER campaign_fault AFTER INSERT ON pastes DEFERRABLE INITIALLY DEFERRED',
};

/**
 * For `ms`, these triggers run this code. Each statement locks one table: a statement that waited for a second
 * one could deadlock with a service.
 */
async function during(
  cluster: Cluster,
  triggers: Triggers,
  { code, ms }: { readonly code: string; readonly ms: number },
): Promise<void> {
  await cluster.rows.query(
    `CREATE OR REPLACE FUNCTION campaign_fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${code}; RETURN NEW; END $$`,
  );
  for (const trigger of Object.values(triggers))
    await cluster.rows.query(`CREATE ${trigger} FOR EACH ROW EXECUTE FUNCTION campaign_fault()`);
  await sleep(ms);
  for (const table of Object.keys(triggers))
    await cluster.rows.query(`DROP TRIGGER campaign_fault ON ${table}`);
}

const slowPostgres: Fault = (cluster, random) =>
  during(cluster, UPDATES, { code: 'PERFORM pg_sleep(0.4)', ms: random.between(2000, 8000) });

const DISK_FULL = `RAISE EXCEPTION 'disk full' USING ERRCODE = '53100'`;

const fullDisk: Fault = (cluster, random) =>
  during(cluster, UPDATES, { code: DISK_FULL, ms: random.between(1000, 5000) });

const refusedCommits: Fault = (cluster, random) =>
  during(cluster, COMMITS, { code: DISK_FULL, ms: random.between(1000, 3000) });

/** Locks one open paste, as a person with psql can do. */
const lockRow: Fault = async (cluster, random) => {
  const client = new Client({ connectionString: cluster.stack.databaseUrl });
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN');
  await client.query(`SELECT FROM pastes WHERE status = 'IN_PROGRESS' LIMIT 1 FOR UPDATE SKIP LOCKED`);
  await sleep(random.between(1000, 10_000));
  await client.end();
};

function rules(proxy: (cluster: Cluster) => FaultProxy, rule: Parameters<FaultProxy['rule']>[1]): Fault {
  return async (cluster, random) => {
    const remove = proxy(cluster).rule({}, rule);
    await sleep(random.between(500, 6000));
    remove();
  };
}

function down(proxy: (cluster: Cluster) => FaultProxy): Fault {
  return async (cluster, random) => {
    await proxy(cluster).down();
    await sleep(random.between(500, 6000));
    await proxy(cluster).up();
  };
}

const s3 = (cluster: Cluster): FaultProxy => cluster.s3;
const sqs = (cluster: Cluster): FaultProxy => cluster.sqs;

/** Every fault besides the kills, by the name that the progress output shows. */
export const faults: Readonly<Record<string, Fault>> = {
  'a process is frozen': freezeService,
  'a clock is ten minutes off': skewClock,
  'Postgres restarts': restartPostgres,
  'Postgres is killed': killPostgres,
  'connections are cut': cutBackends,
  'Postgres is unreachable': partitionPostgres,
  'connections are exhausted': exhaustConnections,
  'Postgres is slow': slowPostgres,
  'the disk of Postgres is full': fullDisk,
  'Postgres refuses commits': refusedCommits,
  'a row is locked': lockRow,
  'S3 is down': down(s3),
  'S3 fails': rules(s3, { kind: 'fail', status: 500 }),
  'S3 is full': rules(s3, { kind: 'fail', status: 507 }),
  'S3 is slow': rules(s3, { kind: 'delay', ms: 2000 }),
  'S3 loses its answers': rules(s3, { kind: 'lose' }),
  'SQS is down': down(sqs),
  'SQS fails': rules(sqs, { kind: 'fail', status: 503 }),
  'SQS is slow': rules(sqs, { kind: 'delay', ms: 2000 }),
  'SQS loses its answers': rules(sqs, { kind: 'lose' }),
};
