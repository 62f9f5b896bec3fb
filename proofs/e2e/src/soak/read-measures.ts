import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import { QUEUES } from '../queues.ts';
import type { StackProcess } from '../stacks.ts';
import { memoryOf } from '../usage.ts';
import type { Service } from '../service.ts';

const MIB = 1024 * 1024;

/** The audit trail is kept for seven days at least, so that its tables grow. */
const KEPT = /^state_transitions/;

/**
 * What is flat in a steady state. The noise of a measure is what the load, the garbage collector and
 * autovacuum move within a minute.
 * @param perMinute the pastes that are created in a minute
 */
export async function readMeasures(
  cluster: Cluster<StackProcess>,
  debuggers: readonly Debugger[],
  perMinute: number,
): Promise<Reading> {
  const measures = new Map<string, { value: number; noise: number }>();
  const add = (name: string, value: number, noise: number) => measures.set(name, { value, noise });
  const liveBytes = await Promise.all(debuggers.map((each) => each.liveBytes()));
  for (const [index, { name, pid }] of cluster.services.entries()) {
    add(`${name}: live heap, bytes`, liveBytes[index] ?? NaN, 2 * MIB);
    await addProcess(name, pid);
  }
  // The emulator's memory makes one step of 30 MB in the first minutes, and stays there afterwards.
  await addProcess('stack', cluster.stack.pid, 64 * MIB);
  add(
    'postgres: own memory of a process, bytes',
    await ownMemoryOf(await cluster.stack.postmasterPid()),
    4 * MIB,
  );
  await addTables();
  for (const queue of QUEUES) {
    const { visible, hidden } = await cluster.queues.counts(queue);
    add(`queue ${queue}: messages`, visible + hidden, perMinute / 4);
  }
  const sizes = [...(await cluster.bucket.sizes()).values()];
  add('S3: objects', sizes.length, perMinute / 4);
  add('S3: folder, bytes', await folderBytes(join(cluster.stack.dataDir, 'aws')), 8 * MIB);
  return { atMs: performance.now(), measures };

  async function addProcess(name: string, pid: number, noise = 24 * MIB): Promise<void> {
    add(`${name}: memory, bytes`, (await memoryOf(pid)).present, noise);
    add(`${name}: open files`, (await readdir(`/proc/${pid}/fd`)).length, 20);
  }

  async function addTables(): Promise<void> {
    const tables = await cluster.rows.query<{ name: string; bytes: number; dead: number; inserted: number }>(
      `SELECT relname AS name, pg_total_relation_size(relid)::float8 AS bytes, n_dead_tup::float8 AS dead,
         n_tup_ins::float8 AS inserted FROM pg_stat_user_tables`,
    );
    const kept = tables.filter(({ name }) => KEPT.test(name));
    const inserted = kept.reduce((sum, table) => sum + table.inserted, 0);
    add('audit trail: bytes a row', kept.reduce((sum, { bytes }) => sum + bytes, 0) / inserted, 20);
    const others = tables.filter(({ name }) => !KEPT.test(name));
    const counts = others.map(
      ({ name }) => `SELECT '${name}' AS name, count(*)::float8 AS count FROM ${name}`,
    );
    const rows = await cluster.rows.query<{ name: string; count: number }>(counts.join(' UNION ALL '));
    for (const { name, count } of rows) add(`${name}: rows`, count, perMinute / 2);
    for (const { name, bytes } of others) add(`${name}: size, bytes`, bytes, MIB);
    add(
      'all tables: dead rows',
      tables.reduce((sum, { dead }) => sum + dead, 0),
      perMinute * 10,
    );
  }
}

/** What a process of Postgres holds beside the memory that all share, on average: their number varies. */
async function ownMemoryOf(postmaster: number): Promise<number> {
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  const statuses = children
    .split(' ')
    .filter(Boolean)
    .map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));
  const kilobytes = (await Promise.all(statuses)).flatMap((status) => {
    const [, own] = /^RssAnon:\s*(\d+)/m.exec(status) ?? [];
    return own === undefined ? [] : Number(own);
  });
  return (kilobytes.reduce((sum, each) => sum + each, 0) * 1024) / kilobytes.length;
}

async function folderBytes(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    files.map((file) =>
      stat(join(folder, file)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** What was measured at one time: for each measure its value, and how much it may vary without a leak. */
export interface Reading {
  /** By a monotonic clock. */
  readonly atMs: number;
  readonly measures: ReadonlyMap<string, { readonly value: number; readonly noise: number }>;
}

export interface Trend {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** The growth in the observed time, by the median slope. */
  readonly growth: number;
  readonly allowed: number;
}

/** Nothing that is in a steady state grows by that much in an hour. */
const MAX_GROWTH_PER_HOUR = 0.02;

export function trendsOf(readings: readonly Reading[]): readonly Trend[] {
  const times = readings.map(({ atMs }) => atMs);
  const ms = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const names = [...new Set(readings.flatMap(({ measures }) => [...measures.keys()]))].toSorted();
  return names.map((name): Trend => {
    const values = readings.map(({ measures }) => measures.get(name)?.value ?? 0);
    const noise = Math.max(...readings.map(({ measures }) => measures.get(name)?.noise ?? 0));
    const [start, end] = [median(values.slice(0, FEW)), median(values.slice(-FEW))];
    const growth = medianSlope(times, values) * ms;
    return { name, start, end, growth, allowed: noise + (start * MAX_GROWTH_PER_HOUR * ms) / 3_600_000 };
  });
}

const FEW = 5;

/**
 * The median of the slopes of all pairs of points (Theil and Sen). Outliers do not move it: a quarter of the
 * values may be anything.
 */
function medianSlope(times: readonly number[], values: readonly number[]): number {
  const points = values.map((value, index) => ({ value, at: times[index] ?? NaN }));
  return median(
    points.flatMap((later, index) =>
      points.slice(0, index).map((before) => (later.value - before.value) / (later.at - before.at)),
    ),
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** The setting with which a process listens for a debugger, on a free port of this machine alone. */
export const LISTENING = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

interface Answer {
  readonly usedSize?: number;
  readonly backingStorageSize?: number;
  readonly exceptionDetails?: object;
}

/** A connection to the debugger in a service. */
export class Debugger {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #ended: Promise<never>;
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: Answer };
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
    this.#ended = new Promise((_, reject) => {
      socket.addEventListener('close', () => reject(new Error('the service has ended')));
    });
    this.#ended.catch(() => {}); // of no interest while nobody asks
  }

  static async connect(service: Service): Promise<Debugger> {
    const [, url] = /^Debugger listening on (ws:\S+)/m.exec(service.output.join('\n')) ?? [];
    if (url === undefined) throw new Error(`${service.name} listens for no debugger`);
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    return new Debugger(socket);
  }

  /** The bytes that are left after a full garbage collection, those of buffers included. */
  async liveBytes(): Promise<number> {
    await this.#ask('HeapProfiler.collectGarbage');
    const { usedSize = NaN, backingStorageSize = NaN } = await this.#ask('Runtime.getHeapUsage');
    return usedSize + backingStorageSize;
  }

  /** Runs a script in the service. */
  async run(expression: string): Promise<void> {
    const { exceptionDetails } = await this.#ask('Runtime.evaluate', { expression });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
  }

  close(): void {
    this.#socket.close();
  }

  async #ask(method: string, params: object = {}): Promise<Answer> {
    const id = (this.#asked += 1);
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    return await Promise.race([answer, this.#ended]);
  }
}
