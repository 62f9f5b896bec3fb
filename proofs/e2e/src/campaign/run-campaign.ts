import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, startCluster } from '../cluster.ts';
import { findViolations } from '../find-violations.ts';
import { type Fault, faults, killService } from './faults.ts';
import { faultsBeforeAnswers, faultsInReveals } from './faults-in-requests.ts';
import { Contention } from './contention.ts';
import { Deposits } from './deposits.ts';
import { History } from './history.ts';
import { recordLastOperations } from './last-operations.ts';
import { CampaignLoad } from './load.ts';
import { actAll } from './pace.ts';
import { Random } from './plan.ts';
import { User } from './user.ts';
import { findBrokenPromises, findBrokenSecrets, summaryOf } from './verify.ts';
import { Webhooks } from './webhooks.ts';
import type { Rows } from '../rows.ts';

export interface CampaignOptions {
  readonly pastes: number;
  /** For secrets. A request has 14 depositors on average. */
  readonly requests: number;
  readonly kills: number;
  readonly seed: number;
  /** The file in which every operation is recorded. */
  readonly historyFile: string;
  /** How long after the last fault the work may take. */
  readonly quietWithinSeconds: number;
  /** The names of the faults besides the kills. Default: all. */
  readonly faults?: readonly string[] | undefined;
}

interface Act {
  readonly name: string;
  readonly fault: Fault;
}

/**
 * The kills and, for every two of them, another fault; each fault at least once. The order depends on the
 * seed alone.
 */
function planActs({ kills, seed, faults: chosen }: CampaignOptions, load: CampaignLoad): readonly Act[] {
  const random = new Random(seed);
  const known: Readonly<Record<string, Fault>> = {
    ...faults,
    ...faultsInReveals(load),
    ...faultsBeforeAnswers(load),
  };
  const others = (chosen ?? Object.keys(known)).map((name) => {
    const fault = known[name];
    if (fault === undefined) throw new Error(`The campaign has no fault "${name}".`);
    return { name, fault };
  });
  const rounds = Math.max(1, Math.ceil(kills / 2 / others.length));
  const decks = Array.from({ length: rounds }, () => others).flat();
  const killing = Array.from({ length: kills }, () => ({ name: 'a process is killed', fault: killService }));
  return random.shuffle([...killing, ...decks]);
}

/** @returns one sentence for each violation */
export async function runCampaign(
  options: CampaignOptions,
  report: (line: string) => void,
): Promise<readonly string[]> {
  const webhooks = await Webhooks.start(options.seed);
  const cluster = await startCluster({
    apis: 2,
    workers: 2,
    janitors: 2,
    keepRequests: false,
    env: {
      SWEEP_INTERVALS: 'cleanup=1,tombstones=2,deletion-watchdog=5',
      ANONYMOUS_PASTES: 'allow',
      MAX_STORED_BYTES: '1000000000000', // counts, and refuses nothing
      ...webhooks.env,
    },
  });
  const history = new History(options.historyFile);
  try {
    const { userId, token } = await cluster.user('campaign');
    await webhooks.listen(cluster, { userId, token });
    const user = new User(cluster, history, { token, seed: options.seed });
    await user.create(FIRST_OF_ALL); // makes the counters of the user, for which all other creations wait
    const watch = new Watch(cluster.rows);
    const contention = new Contention(cluster, user, history, options.seed);
    const deposits = new Deposits(cluster, history, { token, seed: options.seed });
    const load = new CampaignLoad(cluster, user, { contention, deposits, history, ...options });
    const acts = planActs(options, load);
    const pace = { pastes: options.pastes, patienceMs: options.quietWithinSeconds * 1000 };
    await actAll(acts, load, pace, async ({ name, fault }, index) => {
      report(`${index + 1} of ${acts.length} faults, ${load.created} of ${options.pastes} pastes: ${name}`);
      await fault(cluster, new Random(options.seed + index));
    });
    load.allowed = options.pastes;
    load.faultsEndedAt = performance.now();
    const secrets = await load.done;
    report('all pastes are created and all faults are over; waiting for the work to end');
    await endClaims(cluster);
    const violations = await untilQuiet(cluster, options);
    const seen = await watch.stop();
    const broken = await findBrokenPromises(cluster, user, load, options.seed);
    broken.push(...(await findBrokenSecrets(cluster, user, secrets, options.seed)));
    broken.push(...(await deposits.findProblems()));
    if (options.faults === undefined && load.lostAnswers === 0)
      broken.push('no fault came between the claim of a reveal and its answer');
    await recordLastOperations(cluster, history, { contention, deposits, load }, options.seed);
    report(deposits.summary);
    report(summaryOf(secrets, load.lostAnswers));
    report('the work has ended; creating pastes without faults');
    const inCalm = await findLossesInCalm(cluster, user);
    const lost = await findLostMessages(cluster, user);
    await endClaims(cluster);
    const violationsInCalm = await untilQuiet(cluster, options);
    const untold = await webhooks.findProblems();
    report(webhooks.summary);
    return [...violations, ...seen, ...broken, ...inCalm, ...lost, ...violationsInCalm, ...untold];
  } finally {
    await webhooks.stop();
    await cluster.stop();
    history.close();
  }
}

/**
 * As if the time of each claim were over: the five minutes of a reader, and the two hours after which the
 * watchdog releases what a killed janitor has claimed. The next cleanup then deletes these pastes.
 */
async function endClaims(cluster: Cluster): Promise<void> {
  await cluster.rows.query(
    `UPDATE pastes SET deletion_initiated_at = now() - make_interval(secs => CASE WHEN burned_at IS NULL THEN 7201 ELSE 361 END)
     WHERE deletion_status = 'DELETION_IN_PROGRESS'`,
  );
}

async function untilQuiet(
  cluster: Cluster,
  { quietWithinSeconds }: CampaignOptions,
): Promise<readonly string[]> {
  let violations: readonly string[] = [];
  const look = async () => (violations = await findViolations(cluster));
  await cluster
    .until(look, (found) => found.length === 0, { within: quietWithinSeconds * 1000 })
    .catch(() => {});
  return violations;
}

/** A defect that drops one settlement in fifty drops four of these. */
const PASTES = 200;
const LANES = 6;
/** Beyond the numbers of all other pastes. */
const FIRST_BATCH = 200_000_000;
const SECOND_BATCH = 300_000_000;
const REFUSED_BATCH = 600_000_000;
const FIRST_OF_ALL = 800_000_000;
const REFUSED = 20;

/**
 * After the faults, nothing fails: each upload takes one execution. Otherwise something loses work that a
 * retry then repairs, which no other check sees. A busy machine may stop a process for longer than its lease,
 * so only what happens twice is a violation.
 * @returns one sentence for each violation
 */
async function findLossesInCalm(cluster: Cluster, user: User): Promise<string[]> {
  const losses = await lossesOfBatch(cluster, user, FIRST_BATCH);
  return losses.length === 0 ? [] : await lossesOfBatch(cluster, user, SECOND_BATCH);
}

async function lossesOfBatch(cluster: Cluster, user: User, first: number): Promise<string[]> {
  const codes: string[] = [];
  let next = first;
  const lane = async (): Promise<void> => {
    while (next < first + PASTES) codes.push(await user.create(next++, { wait: true }));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const rows = await cluster.rows.query<{ code: string; executions: string }>(
    `SELECT short_code AS code, string_agg(e.status || coalesce(' (' || e.error || ')', ''), ', ' ORDER BY e.created_at) AS executions
     FROM pastes p JOIN task_executions e ON e.subject_id = p.id
     WHERE short_code = ANY ($1) GROUP BY short_code HAVING count(*) > 1`,
    [codes],
  );
  return rows.map(({ code, executions }) => `without any fault, paste ${code} took ${executions}`);
}

/**
 * S3 refuses some puts, and nothing else fails: the message of a failed attempt returns to its queue. The relay
 * sends no second one, as it does half a minute later when a message is lost.
 * @returns one sentence for each violation
 */
async function findLostMessages(cluster: Cluster, user: User): Promise<string[]> {
  cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 }, REFUSED);
  const creations = Array.from({ length: REFUSED }, (_, n) => user.create(REFUSED_BATCH + n));
  const codes = await Promise.all(creations);
  await Promise.all(codes.map((code) => cluster.untilStatus(code, 'PROCESSED', { within: 300_000 })));
  const lost = await cluster.rows.query<{ code: string; attempt: number }>(
    `SELECT short_code AS code, attempt FROM pastes p JOIN task_executions e ON e.subject_id = p.id
     WHERE short_code = ANY ($1) AND attempt > 1 AND dispatched_at > e.created_at + interval '10 s'`,
    [codes],
  );
  return lost.map(({ code, attempt }) => `the message of attempt ${attempt} of paste ${code} was lost`);
}

/**
 * What is true in every snapshot, also during a fault: the content of open work is in Postgres, and some
 * process will go on with the work.
 */
const ALWAYS = `
  SELECT 'paste ' || short_code || ' was IN_PROGRESS without a payload' AS problem FROM pastes p
  WHERE status = 'IN_PROGRESS' AND NOT EXISTS (SELECT FROM paste_payloads y WHERE y.paste_id = p.id)
  UNION ALL
  SELECT 'paste ' || short_code || ' was IN_PROGRESS without an open execution' FROM pastes p
  WHERE status = 'IN_PROGRESS' AND NOT EXISTS (
    SELECT FROM task_executions e WHERE e.subject_id = p.id AND e.kind = 'upload' AND e.status IN ('PENDING', 'RUNNING'))
  UNION ALL
  SELECT 'job ' || id || ' was ' || status || ' without an open execution' FROM jobs j
  WHERE completed_at IS NULL AND NOT EXISTS (
    SELECT FROM task_executions e WHERE e.subject_id = j.id AND e.kind = 'job' AND e.status IN ('PENDING', 'RUNNING'))
  UNION ALL
  SELECT 'delivery ' || id || ' was ' || status || ' without an open execution' FROM webhook_deliveries d
  WHERE ended_at IS NULL AND NOT EXISTS (
    SELECT FROM task_executions e WHERE e.subject_id = d.id AND e.kind = 'webhook' AND e.status IN ('PENDING', 'RUNNING'))
  LIMIT 20`;

/** A scan of 100,000 pastes takes some tens of ms. */
const INTERVAL_MS = 250;

/**
 * Looks at the tables again and again while the campaign runs. At its end everything may look right, because
 * retries repair what went wrong.
 */
class Watch {
  readonly #problems = new Set<string>();
  readonly #running: Promise<void>;
  #isOver = false;
  #looks = 0;

  constructor(rows: Rows) {
    this.#running = this.#lookRepeatedly(rows);
  }

  /** @returns one sentence for each violation that was seen */
  async stop(): Promise<string[]> {
    this.#isOver = true;
    await this.#running;
    return this.#looks === 0 ? ['nobody has seen the tables while the faults lasted'] : [...this.#problems];
  }

  async #lookRepeatedly(rows: Rows): Promise<void> {
    while (!this.#isOver) {
      const found = await rows.query<{ problem: string }>(ALWAYS).catch(() => null); // Postgres is down by intention
      if (found !== null) this.#looks += 1;
      for (const { problem } of found ?? []) this.#problems.add(problem);
      await sleep(INTERVAL_MS);
    }
  }
}
