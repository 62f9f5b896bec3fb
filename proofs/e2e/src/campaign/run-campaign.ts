import { startCluster, type Cluster } from '../cluster.ts';
import { findViolations } from '../find-violations.ts';
import { findLossesInCalm, findLostMessages } from './calm.ts';
import { faults, killService, type Fault } from './faults.ts';
import { cutBeforeAnswers } from './fault-in-creations.ts';
import { faultsInReveals } from './faults-in-reveals.ts';
import { Contention } from './contention.ts';
import { History } from './history.ts';
import { recordLastOperations } from './last-operations.ts';
import { CampaignLoad } from './load.ts';
import { Random } from './random.ts';
import { User } from './user.ts';
import { findBrokenPromises } from './verify.ts';
import { findBrokenSecrets, summaryOf } from './verify-secrets.ts';
import { Watch } from './watch.ts';

export interface CampaignOptions {
  readonly pastes: number;
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
    'connections are cut before answers are stored': cutBeforeAnswers(load),
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
  const cluster = await startCluster({
    apis: 2,
    workers: 2,
    janitors: 2,
    keepRequests: false,
    env: {
      SWEEP_INTERVALS: 'cleanup=1,tombstones=2,deletion-watchdog=5',
      ANONYMOUS_PASTES: 'allow',
      MAX_STORED_BYTES: '1000000000000', // counts, and refuses nothing
    },
  });
  const history = new History(options.historyFile);
  try {
    const { token } = await cluster.user('campaign');
    const user = new User(cluster, history, { token, seed: options.seed });
    const watch = new Watch(cluster.rows);
    const contention = new Contention(cluster, user, history, options.seed);
    const load = new CampaignLoad(cluster, user, { contention, history, ...options });
    await actAll(cluster, load, options, report);
    load.allowed = options.pastes;
    const secrets = await load.done;
    report('all pastes are created and all faults are over; waiting for the work to end');
    await endClaims(cluster);
    const violations = await untilQuiet(cluster, options);
    const seen = await watch.stop();
    const broken = await findBrokenPromises(cluster, user, load, options.seed);
    broken.push(...(await findBrokenSecrets(cluster, user, secrets, options.seed)));
    if (options.faults === undefined && load.lostAnswers === 0)
      broken.push('no fault came between the claim of a reveal and its answer');
    await recordLastOperations(cluster, contention, history, load, options.seed);
    report(summaryOf(secrets, load.lostAnswers));
    report('the work has ended; creating pastes without faults');
    const inCalm = await findLossesInCalm(cluster, user);
    const lost = await findLostMessages(cluster, user);
    await endClaims(cluster);
    const violationsInCalm = await untilQuiet(cluster, options);
    return [...violations, ...seen, ...broken, ...inCalm, ...lost, ...violationsInCalm];
  } finally {
    await cluster.stop();
    history.close();
  }
}

/** The pastes are spread over the acts, so that there is load during each of them. */
async function actAll(
  cluster: Cluster,
  load: CampaignLoad,
  options: CampaignOptions,
  report: (line: string) => void,
): Promise<void> {
  const acts = planActs(options, load);
  for (const [index, { name, fault }] of acts.entries()) {
    load.allowed = Math.ceil((options.pastes * (index + 1)) / acts.length);
    report(`${index + 1} of ${acts.length} faults, ${load.created} of ${options.pastes} pastes: ${name}`);
    await fault(cluster, new Random(options.seed + index));
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
