import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { scrape, type MetricSample } from '@pasteflow/dev-stack/testing';
import { startCluster, type Cluster, type User } from '../src/index.ts';

let cluster: Cluster;
let alice: User;
beforeAll(async () => {
  cluster = await startCluster({
    env: {
      EXECUTION_LEASE_SECONDS: '2',
      UPLOAD_RETRY_DELAYS_MS: '20,20,20,20,20',
      SWEEP_INTERVALS: 'cleanup=0.5,measure=0.2,state-metrics=0.2',
    },
  });
  alice = await cluster.user('alice');
  await runWithFaults();
});
afterAll(() => cluster.stop());

/**
 * Causes a kill during a put, failing puts, one paste that always fails, a poison message, a partial job, and
 * deletions.
 */
async function runWithFaults(): Promise<void> {
  const holding = cluster.s3.hold({ method: 'PUT', path: /\/pastes\// });
  await alice.pastes.create('put by a second worker');
  const held = await holding;
  await cluster.workers[0]!.kill();
  held.drop();
  cluster.s3.rule({ method: 'PUT', path: /\/pastes\// }, { kind: 'fail', status: 500 }, 7);
  await cluster.queues.send('uploads', 'not an upload');
  const pastes = [];
  for (let n = 0; n < 12; n++) pastes.push(await cluster.client().pastes.create(`paste ${n}`));
  cluster.s3.rule(
    { method: 'PUT', path: cluster.objectPath(pastes[0]!.short_code) },
    { kind: 'fail', status: 500 },
  );
  await cluster.add('upload-worker');
  const job = await alice.jobs.create({
    job_type: 'import',
    parameters: { items: [{ content: 'good' }, { content: '' }] },
  });
  await alice.jobs.wait(job.job_id);
  for (const { short_code, delete_token: deleteToken } of pastes.slice(1, 4)) {
    await cluster.untilStatus(short_code, 'PROCESSED');
    await cluster.client().pastes.delete(short_code, { deleteToken });
  }
  const deleted = () =>
    cluster.rows.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pastes WHERE deletion_status = 'DELETED'`,
    );
  await cluster.until(deleted, ([row]) => row?.count === 3);
  await cluster.untilStatus(pastes[0]!.short_code, 'FAILED');
  const open = () => cluster.rows.query(`SELECT FROM task_executions WHERE status IN ('PENDING', 'RUNNING')`);
  await cluster.until(open, (rows) => rows.length === 0);
}

const last = <T>(items: readonly T[]): T => items.at(-1)!;
const janitor = () => scrape(cluster.janitors[0]!);

/** `{'label,label': value}` of one metric without zeros, which SQL does not return as rows. */
function figuresOf(
  samples: readonly MetricSample[],
  name: string,
  ...labels: string[]
): Record<string, number> {
  return Object.fromEntries(
    samples
      .filter((each) => each.name === name && each.value !== 0)
      .map(({ labels: all, value }) => [labels.map((label) => all[label]).join(), value]),
  );
}

const inOrder = (figures: Record<string, number>): string =>
  Object.entries(figures)
    .map(([key, value]) => `${key} ${value}`)
    .toSorted()
    .join('\n');

async function bySql(query: string): Promise<Record<string, number>> {
  const rows = await cluster.rows.query<{ key: string; value: number }>(query);
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

/**
 * How long each entity was in the state that it left: since the previous transition, or since its creation.
 * The recorders take the time of a claim from its column, which has the start of the statement; `drift` is
 * the difference of that time from the transition's.
 */
const durations = `
  SELECT machine, "from", extract(epoch FROM at - coalesce(earlier, created_at))::float8 AS seconds,
    coalesce(abs(extract(epoch FROM earlier - claimed_at))::float8, 0) AS drift
  FROM (
    SELECT *, lag(at) OVER (PARTITION BY machine, entity ORDER BY id) AS earlier,
      (SELECT created_at FROM pastes WHERE id = entity UNION ALL SELECT created_at FROM jobs WHERE id = entity
       UNION ALL SELECT created_at FROM task_executions WHERE id = entity) AS created_at,
      CASE machine WHEN 'task_execution' THEN (SELECT started_at FROM task_executions WHERE id = entity)
        WHEN 'paste_deletion' THEN (SELECT deletion_initiated_at FROM pastes WHERE id = entity) END AS claimed_at
    FROM state_transitions) AS transition`;

it('the janitor counts exactly the transitions that SQL counts, after a run with faults', async () => {
  const inSql = await bySql(
    `SELECT machine || ',' || "from" || ',' || "to" AS key, count(*)::integer AS value FROM state_transitions GROUP BY 1`,
  );
  expect(inSql).toMatchObject({
    'paste_upload,IN_PROGRESS,PROCESSED': 13, // 11 of the 12, the one of the killed worker, and the imported one
    'paste_upload,IN_PROGRESS,FAILED': 1,
    'paste_deletion,DELETION_IN_PROGRESS,DELETED': 3,
    'job,processing,partial': 1,
  });
  await cluster.until(
    async () => figuresOf(await janitor(), 'pasteflow_transitions_total', 'machine', 'from', 'to'),
    (figures) =>
      Object.values(figures).reduce((a, b) => a + b, 0) >= Object.values(inSql).reduce((a, b) => a + b, 0),
  );
  const samples = await janitor();
  expect(figuresOf(samples, 'pasteflow_transitions_total', 'machine', 'from', 'to')).toEqual(inSql);

  const left = `machine || ',' || "from"`;
  expect(figuresOf(samples, 'pasteflow_state_duration_seconds_count', 'machine', 'state')).toEqual(
    await bySql(`SELECT ${left} AS key, count(*)::integer AS value FROM (${durations}) AS d GROUP BY 1`),
  );
  const sums = await bySql(
    `SELECT ${left} AS key, sum(seconds) AS value FROM (${durations}) AS d GROUP BY 1`,
  );
  const shown = figuresOf(samples, 'pasteflow_state_duration_seconds_sum', 'machine', 'state');
  expect(Object.keys(shown).toSorted()).toEqual(Object.keys(sums).toSorted());
  const drifts = await bySql(
    `SELECT ${left} AS key, sum(drift) AS value FROM (${durations}) AS d GROUP BY 1`,
  );
  for (const [key, sum] of Object.entries(sums))
    expect([key, Math.abs(shown[key]! - sum) <= drifts[key]! + 0.001]).toEqual([key, true]);
});

it('the counters of the api and of the worker agree with the tables', async () => {
  const [made] = await cluster.rows.query<{ count: number; bytes: number }>(`
    SELECT count(*)::integer AS count, sum(size_bytes)::integer AS bytes FROM pastes p
    WHERE NOT EXISTS (SELECT FROM assets a WHERE a.asset_type = 'paste' AND a.url LIKE '%' || p.short_code || '%')`);
  expect(made?.count).toBe(13);
  const api = await scrape(cluster.apis[0]!);
  expect(figuresOf(api, 'pastes_created_total', 'form')).toEqual({ json: made?.count });
  expect(figuresOf(api, 'pastes_created_bytes_total')).toEqual({ '': made?.bytes });
  // The first worker was killed in its only attempt, which the janitor counts.
  const attempts = await bySql(`
    SELECT CASE status WHEN 'SUCCEEDED' THEN 'succeeded' ELSE 'failed' END AS key, count(*)::integer AS value FROM task_executions
    WHERE kind = 'upload' AND coalesce(error, '') NOT LIKE 'worker lost%' GROUP BY 1`);
  const worker = await scrape(last(cluster.workers));
  const counted: Record<string, number> = {};
  for (const { name, labels, value } of worker)
    if (name === 'upload_attempts_total') counted[labels.outcome!] = (counted[labels.outcome!] ?? 0) + value;
  expect(counted).toEqual(attempts);
  expect(attempts.failed).toBeGreaterThanOrEqual(7);
});

it('the gauges of open work agree with the tables while no worker runs', async () => {
  await last(cluster.workers).kill();
  for (let n = 0; n < 3; n++) await cluster.client().pastes.create('waits');
  await alice.jobs.create({ job_type: 'export', parameters: {} });
  const open = await bySql(`
    SELECT 'paste_upload,' || status AS key, count(*)::integer AS value FROM pastes WHERE status = 'IN_PROGRESS' GROUP BY 1
    UNION ALL SELECT 'job,' || status, count(*)::integer FROM jobs WHERE completed_at IS NULL GROUP BY 1
    UNION ALL SELECT 'task_execution,' || status, count(*)::integer FROM task_executions WHERE finished_at IS NULL GROUP BY 1`);
  expect(open).toEqual({ 'paste_upload,IN_PROGRESS': 3, 'job,queued': 1, 'task_execution,PENDING': 4 });
  await cluster.until(
    async () => {
      const { 'paste_deletion,NOT_EXPIRED': _, ...exact } = figuresOf(
        await janitor(),
        'pasteflow_state_entities',
        'machine',
        'state',
      );
      return inOrder(exact);
    },
    (figures) => figures === inOrder(open),
  );
  // The messages of the killed worker become visible at some time, and are counted too.
  await cluster.until(
    async () => {
      const figures = figuresOf(await janitor(), 'pasteflow_queue_messages', 'queue', 'state');
      const { visible } = await cluster.queues.counts('uploads');
      return { uploads: figures['uploads,visible'], jobs: figures['jobs,visible'], visible };
    },
    ({ uploads, jobs, visible }) => visible >= 3 && uploads === visible && jobs === 1,
  );
});

/**
 * Values that clients choose, such as codes, ids and paths, must not become labels, because each value would
 * add a series.
 */
it('no label has a value that a client chooses, and further requests add no series', async () => {
  await cluster.add('upload-worker');
  const clientValues: string[] = [];
  const round = async () => {
    const http = cluster.http();
    const word = `x${randomUUID()}`;
    const { short_code } = await alice.pastes.create(`content of ${word}`, { title: word, wait: true });
    const { job_id } = await alice.jobs.create({ job_type: 'export', parameters: {} });
    await alice.jobs.wait(job_id);
    clientValues.push(word, short_code, job_id);
    const headers = { authorization: `Bearer ${alice.token}` };
    for (const path of [
      short_code,
      `v1/pastes/${short_code}`,
      `v1/pastes/${word}`,
      `v1/jobs/${job_id}`,
      `v1/jobs/${word}`,
    ])
      await http.request(`/${path}?q=${word}`, { headers: { ...headers, 'x-request-id': word } });
    for (const path of [word, `${word}/${word}`, `v1/${word}`]) await http.request(`/${path}`);
    for (const method of ['PROPFIND', 'MKCOL', 'PURGE', 'PATCH'])
      await http.request(`/v1/pastes/${short_code}`, { method });
    await http.request('/v1/jobs', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ job_type: word, parameters: {} }),
    });
  };
  const series = async (): Promise<Set<string>> => {
    const all = await Promise.all(
      [cluster.apis[0]!, last(cluster.workers), cluster.janitors[0]!].map(scrape),
    );
    return new Set(all.flat().map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`));
  };
  await round();
  await round();
  // A janitor on a busy machine doesn't read the queues in time, and shows nothing until it has.
  const before = await cluster.until(series, (all) => [...all].join().includes('pasteflow_queue_messages'));
  for (let n = 0; n < 5; n++) await round();
  const after = await series();
  expect([...after].filter((each) => clientValues.some((word) => each.includes(word)))).toEqual([]);
  // Node's metrics appear with their first event, such as the first major garbage collection, and so does a
  // sweep's failure.
  const added = [...after].filter((each) => !before.has(each) && !/^(nodejs|janitor_sweep)_/.test(each));
  expect(added).toEqual([]);
  expect([...after].filter((each) => each.startsWith('http_') && each.includes('"other"'))).not.toEqual([]);
  expect([...after].join()).not.toMatch(/PROPFIND|MKCOL|PURGE/);
  const described = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const families = [
    ...new Set([...after].map((each) => each.split(' ')[0]!.replace(/_(bucket|sum|count)$/, ''))),
  ];
  expect(
    families.filter((name) => !/^(nodejs|process)_/.test(name) && !described.includes(`\`${name}\``)),
  ).toEqual([]);
  const names = new Set(
    [...after].flatMap((each) => Object.keys(JSON.parse(each.slice(each.indexOf('{'))) as object)),
  );
  expect([...names].filter((name) => !LABELS.has(name))).toEqual([]);
  const sizes = Map.groupBy(after, (each) => each.split(' ')[0]);
  const most = Math.max(...[...sizes.values()].map(({ length }) => length));
  expect(most).toBeLessThan(500);
});

/** Add a label only after you have checked which values it can have. */
const LABELS = new Set([
  'service',
  'le',
  'quantile',
  'method',
  'route',
  'status',
  'form',
  'code',
  'machine',
  'from',
  'to',
  'state',
  'kind',
  'queue',
  'sweep',
  'count',
  'outcome',
  'next_step',
  'of',
  'limit',
  'reason',
  'job_type',
  'holder',
  'name', // of a session, prepared transaction, slot or standby that has held a snapshot for a minute
  // Labels of Node's metrics: the kind of handle, memory and collection, and the version
  'type',
  'space',
  'version',
  'major',
  'minor',
  'patch',
]);
