import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, startCluster } from './cluster.ts';
import { findViolations } from './find-violations.ts';
import { StackProcess } from './stacks.ts';
import {
  Debugger,
  LISTENING,
  type Reading,
  readMeasures,
  type Trend,
  trendsOf,
} from './soak/read-measures.ts';
import { EXPIRES_IN, SoakLoad } from './soak/soak-load.ts';

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
async function runSoak(
  {
    minutes,
    rate,
    leak,
  }: {
    readonly minutes: number;
    /** Pastes a second. */
    readonly rate: number;
    /** The name of a leak to plant, or `none`. */
    readonly leak: string;
  },
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

/** A leak that is planted to see that it is found: `npm run proof -- soak --leak memory`. */
interface Leak {
  /** The measures that grow. */
  readonly grows: RegExp;
  /** Added to the environment of every service. */
  readonly env?: Readonly<Record<string, string>>;
  /** May return what ends the leak. */
  readonly plant?: (cluster: Cluster<StackProcess>, api: Debugger) => Promise<(() => Promise<void>) | void>;
}

/** Runs a statement at each request that the api gets. */
const atEachRequest = (statement: string) => (_: unknown, api: Debugger) =>
  api.run(`{
    const { Server } = process.getBuiltinModule('http');
    const { emit } = Server.prototype;
    const kept = [];
    Server.prototype.emit = function (event, ...rest) {
      if (event === 'request') ${statement};
      return emit.call(this, event, ...rest);
    };
  }`);

const leaks: Readonly<Record<string, Leak>> = {
  memory: {
    grows: /^api: live heap/,
    plant: atEachRequest('kept.push([rest[0].headers, Buffer.alloc(4096)])'),
  },
  files: {
    grows: /^api: open files/,
    plant: atEachRequest(`if (kept.push(0) % 5 === 0) process.getBuiltinModule('fs').openSync('/dev/null')`),
  },
  rows: {
    grows: /^pastes: rows/,
    env: { SWEEP_INTERVALS: 'cleanup=1,jobs=2,erasures=2,expired-keys=2,reconcile=10' },
  },
  snapshot: { grows: /^all tables: dead rows/, plant: ({ rows }) => rows.holdSnapshot() },
};

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    rate: { type: 'string', default: '10' },
    leak: { type: 'string', default: 'none' },
  },
});
const { leak } = values;
if (leak !== 'none' && !(leak in leaks))
  throw new Error(`there is no leak ${leak}: ${Object.keys(leaks).join()}`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const problems = await runSoak({ minutes: Number(values.minutes), rate: Number(values.rate), leak }, print);
for (const problem of problems) print(problem);
if (problems.length === 0)
  print(leak === 'none' ? 'nothing grows and nothing was lost' : `the leak was found`);
process.exitCode = problems.length === 0 ? 0 : 1;
