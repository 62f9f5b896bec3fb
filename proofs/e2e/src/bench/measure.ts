import { setTimeout as sleep } from 'node:timers/promises';
import { measureCosts, type BenchCluster, type Costs } from './costs.ts';
import { createOf, makeLoad, randomContent, type LoadOptions, type LoadResult } from './load.ts';

interface Measured {
  readonly costs: Costs;
  readonly load: LoadResult;
}

/** From the first POST until every paste is PROCESSED. */
export async function measureCreates(
  cluster: BenchCluster,
  {
    count,
    requestOf = createOf(randomContent),
    ...options
  }: Partial<LoadOptions> & { readonly count: number },
): Promise<Measured> {
  const { costs, result } = await measureCosts(cluster, count, async () => {
    const load = await makeLoad(cluster.http().url, { count, requestOf, expected: 201, ...options });
    await untilSettled(cluster);
    return load;
  });
  return { costs, load: result };
}

export function shortCodesOf({ bodies }: LoadResult): string[] {
  return bodies.map((body) => (JSON.parse(body) as { short_code: string }).short_code);
}

/** Until every paste is PROCESSED. */
export async function untilSettled(cluster: BenchCluster): Promise<void> {
  await cluster.until(
    () => cluster.rows.query('SELECT FROM paste_payloads LIMIT 1'),
    ({ length }) => length === 0,
    { within: 300_000 },
  );
}

/** Reads of the content of these pastes in turn, or revalidations of what the client has. */
export async function measureReads(
  cluster: BenchCluster,
  shortCodes: readonly string[],
  { count, revalidate = false }: { readonly count: number; readonly revalidate?: boolean },
): Promise<Costs> {
  // Also warms up: a process compiles its hot code in its first requests.
  const read = (code: string) => cluster.http().read(code);
  const reads = Array.from({ length: 10 }, () => shortCodes).flat();
  const etags = new Map<string, string>();
  for (const code of reads) etags.set(code, (await read(code)).headers.get('etag') ?? '');
  const { costs } = await measureCosts(cluster, count, () =>
    makeLoad(cluster.http().url, {
      count,
      expected: revalidate ? 304 : 200,
      requestOf: (n) => {
        const code = shortCodes[n % shortCodes.length] ?? '';
        const headers = revalidate ? { 'if-none-match': etags.get(code) ?? '' } : {};
        return { method: 'GET', path: `/${code}`, headers };
      },
    }),
  );
  return costs;
}

/**
 * The pastes of a backlog that one worker settles in a second. The first and the last tenth don't count: the
 * worker is not at full speed there.
 */
export async function measureSettling(cluster: BenchCluster, count: number): Promise<number> {
  const signal = (name: NodeJS.Signals): void => cluster.workers.forEach((worker) => worker.signal(name));
  signal('SIGSTOP');
  const load = await makeLoad(cluster.http().url, {
    count,
    expected: 201,
    requestOf: createOf(randomContent),
  });
  signal('SIGCONT');
  await untilSettled(cluster);
  const [measured] = await cluster.rows.query<{ settled: number; seconds: number }>(
    `WITH ended AS (
       SELECT processed_at, percent_rank() OVER (ORDER BY processed_at) AS rank
       FROM pastes WHERE short_code = ANY ($1))
     SELECT count(*)::int AS settled, extract(epoch FROM max(processed_at) - min(processed_at))::float8 AS seconds
     FROM ended WHERE rank BETWEEN 0.1 AND 0.9`,
    [shortCodesOf(load)],
  );
  return (measured?.settled ?? NaN) / (measured?.seconds ?? NaN);
}

const FIRST_READS = 20;

/**
 * The median time in ms from the 201 to the content, for a client that reads at once and waits as Retry-After
 * says: `curl --retry`.
 */
export async function measureFirstRead(cluster: BenchCluster): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < FIRST_READS; n += 1) {
    const created = await cluster.http().post(randomContent());
    const { short_code: shortCode } = (await created.json()) as { short_code: string };
    const startedAt = performance.now();
    for (;;) {
      const { status, headers } = await cluster.http().read(shortCode);
      if (status === 200) break;
      await sleep(1000 * Number(headers.get('retry-after')));
    }
    times.push(performance.now() - startedAt);
  }
  return times.toSorted((a, b) => a - b)[FIRST_READS / 2] ?? NaN;
}
