import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type Cluster } from '../cluster.ts';
import { findViolations } from '../find-violations.ts';
import { StackProcess } from '../stacks.ts';
import { Debugger, LISTENING } from './debugger.ts';
import { leaks } from './leaks.ts';
import { readMeasures } from './read-measures.ts';
import { trendsOf, type Reading, type Trend } from './slope.ts';
import { EXPIRES_IN, SoakLoad } from './soak-load.ts';

export interface SoakOptions {
  readonly minutes: number;
  /** Pastes a second. */
  readonly rate: number;
  /** The name of a leak to plant, or `none`. */
  readonly leak: string;
}

/** So short that what is created in the first minute is gone before the first reading counts. */
const SHORT = {
  SWEEP_INTERVALS: 'cleanup=1,tombstones=2,jobs=2,erasures=2,expired-keys=2,reconcile=10',
  TOMBSTONE_RETENTION_SECONDS: '10',
  JOB_RETENTION_SECONDS: '10',
  IDEMPOTENCY_RETENTION_SECONDS: '10',
  RECONCILE_MIN_AGE_SECONDS: '20',
  CONTENT_CACHE_BYTES: '1000000',
};

const MAX_READINGS = 240;
const MIN_READINGS = 10;
const MIN_PAUSE_SECONDS = 3;
/** Until what was created first has expired and is removed; in a long run a tenth, in which the heaps settle. */
const warmUpSeconds = (minutes: number): number => Math.max(EXPIRES_IN + 30, minutes * 6);
const PATIENCE_MS = 600_000;
const QUIET_WITHIN_MS = 300_000;

/** @returns one sentence for each problem */
export async function runSoak(
  { minutes, rate, leak }: SoakOptions,
  report: (line: string) => void,
): Promise<readonly string[]> {
  const { env, plant } = leaks[leak] ?? {};
  const cluster = await startCluster({
    stack: await StackProcess.start(),
    keepRequests: false,
    env: { ...SHORT, ...LISTENING, ...env },
  });
  try {
    await vacuumOften(cluster);
    const debuggers = await Promise.all(cluster.services.map((service) => Debugger.connect(service)));
    const load = new SoakLoad(await cluster.user('soak'), rate);
    const warmUp = warmUpSeconds(minutes);
    report(`${rate} pastes a second for ${minutes} minutes, of which ${warmUp} s are not measured`);
    await sleep(warmUp * 1000);
    const endLeak = await plant?.(
      cluster,
      debuggers[cluster.services.findIndex(({ name }) => name === 'api')] as Debugger,
    );
    const readings = await takeReadings(cluster, debuggers, {
      seconds: minutes * 60 - warmUp,
      load,
      report,
    });
    await load.stop();
    await endLeak?.();
    for (const each of debuggers) each.close();
    const trends = trendsOf(readings);
    for (const trend of trends.filter(hasMoved)) report(lineOf(trend));
    report(
      `${readings.length} readings, ${load.done} pastes, and ${load.unanswered} that a busy machine did not answer`,
    );
    const few = readings.length < MIN_READINGS ? [`there are only ${readings.length} readings`] : [];
    return [...few, ...load.problems, ...growing(trends, leak), ...(await violationsOf(cluster))];
  } finally {
    await cluster.stop();
  }
}

/** Takes longer than `seconds` on a machine that is too busy for ten readings in this time. */
async function takeReadings(
  cluster: Cluster<StackProcess>,
  debuggers: readonly Debugger[],
  { seconds, load, report }: { seconds: number; load: SoakLoad; report: (line: string) => void },
): Promise<readonly Reading[]> {
  const pauseMs = Math.max(MIN_PAUSE_SECONDS, seconds / MAX_READINGS) * 1000;
  const endsAt = performance.now() + seconds * 1000;
  const readings: Reading[] = [];
  for (;;) {
    const isOver = performance.now() > endsAt && readings.length >= MIN_READINGS;
    if (isOver || performance.now() > endsAt + PATIENCE_MS) return readings;
    const reading = await readMeasures(cluster, debuggers, load.perMinute).catch((error: unknown) =>
      report(`no reading: ${String(error)}`),
    );
    if (reading !== undefined) readings.push(reading);
    await sleep(pauseMs);
  }
}

/** Otherwise autovacuum looks once a minute, which the short form sees too seldom. */
async function vacuumOften({ rows }: Cluster<StackProcess>): Promise<void> {
  await rows.query(`ALTER SYSTEM SET autovacuum_naptime = '5s'`);
  await rows.query('SELECT pg_reload_conf()');
}

/** Most tables are empty, and stay so. */
const hasMoved = ({ start, end, growth }: Trend): boolean => growth !== 0 || start !== end;
/** Also when there is no number. */
const hasGrown = ({ growth, allowed }: Trend): boolean => !(growth <= allowed);

function lineOf(trend: Trend): string {
  const { name, ...numbers } = trend;
  const columns = [numbers.start, numbers.end, numbers.growth, numbers.allowed];
  const texts = columns.map((column) => Math.round(column).toLocaleString('en').padStart(13));
  return `${name.padEnd(40)}${texts.join('')}  ${hasGrown(trend) ? 'GROWS' : 'flat'}`;
}

function growing(trends: readonly Trend[], leak: string): readonly string[] {
  const grown = trends.filter(hasGrown).map(({ name }) => name);
  const { grows } = leaks[leak] ?? {};
  if (grows === undefined) return grown.map((name) => `${name} does not stay as it is`);
  return grown.some((name) => grows.test(name)) ? [] : [`the planted leak was not found: ${grows.source}`];
}

/** What is lost or left behind when the work has ended. */
async function violationsOf(cluster: Cluster<StackProcess>): Promise<readonly string[]> {
  let violations: readonly string[] = [];
  const look = async () => (violations = await findViolations(cluster));
  await cluster.until(look, (found) => found.length === 0, { within: QUIET_WITHIN_MS }).catch(() => {});
  return violations;
}
