import { startCluster, type Cluster } from '../cluster.ts';
import { findViolations } from '../find-violations.ts';
import { findLossesInCalm } from './calm.ts';
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
}

/**
 * After the last fault: a paste of a killed worker waits up to a minute, and a busy machine needs longer for
 * a backlog.
 */
const QUIET_WITHIN_MS = 600_000;

interface Act {
  readonly name: string;
  readonly fault: Fault;
}

/**
 * The kills and, for every two of them, another fault; each fault at least once. The order depends on the
 * seed alone.
 */
function planActs({ kills, seed }: CampaignOptions, load: CampaignLoad): readonly Act[] {
  const random = new Random(seed);
  const others = Object.entries({
    ...faults,
    ...faultsInReveals(load),
    'connections are cut before answers are stored': cutBeforeAnswers(load),
  }).map(([name, fault]) => ({ name, fault }));
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
      CLEANUP_INTERVAL_SECONDS: '1',
      TOMBSTONES_INTERVAL_SECONDS: '2',
      DELETION_WATCHDOG_INTERVAL_SECONDS: '5',
      ANONYMOUS_PASTES: 'allow',
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
    const violations = await untilQuiet(cluster);
    const seen = await watch.stop();
    const broken = await findBrokenPromises(cluster, user, load, options.seed);
    broken.push(...(await findBrokenSecrets(cluster, user, secrets, options.seed)));
    if (load.lostAnswers === 0) broken.push('no fault came between the claim of a reveal and its answer');
    await recordLastOperations(cluster, contention, history, load, options.seed);
    report(summaryOf(secrets, load.lostAnswers));
    report('the work has ended; creating pastes without faults');
    const inCalm = await findLossesInCalm(cluster, user);
    return [...violations, ...seen, ...broken, ...inCalm];
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

async function untilQuiet(cluster: Cluster): Promise<readonly string[]> {
  let violations: readonly string[] = [];
  const look = async () => (violations = await findViolations(cluster));
  await cluster.until(look, (found) => found.length === 0, { within: QUIET_WITHIN_MS }).catch(() => {});
  return violations;
}
