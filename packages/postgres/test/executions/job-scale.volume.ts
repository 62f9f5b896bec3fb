import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { jobKeyPrefix } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  claimJob as claimDueJob,
  countWaiting,
  createCappedJob,
  createAsset,
  createJob,
  findJob,
  findOldJobs,
  findOverdue,
  findStranded,
  findStoredAssets,
  findUndispatched,
  findZombies,
  importedPositions,
  importPastes,
  jobSubject,
  listAssets,
  listExportable,
  listJobs,
  readJobTimeline,
  readStateFigures,
  removeJobs,
  settleExecutions,
  writeProgress,
  type ClaimedJob,
  type Database,
  type Page,
  type PageRequest,
} from '../../src/index.ts';
import { findStrayJobObjects } from '../../src/sweeps/reconcile.ts';
import { makeJobs } from '../../src/testing/index.ts';
import { open, openToFill } from '../support/database.ts';
import { explain, type Cost } from '../support/explain.ts';
import { fillJobs, fillWithWaitingJobs } from '../support/fill-jobs.ts';
import { fillOwner } from '../support/fill-owner.ts';
import { fillWithBacklog } from '../support/fill.ts';
import { claimJob, endingOf, entriesOf, firstPositions, loss, newAsset, newJob } from '../support/jobs.ts';
import { costOfList, operatorsLists } from '../support/operators-lists.ts';
import { placeAt } from '../support/place-at.ts';
import { FILL_LIMIT_MS, large, MAX_GROWTH, mostPages, prepareToFill, small } from '../support/scale.ts';

/** Each list has at least a fourth of the rows, so page 10,000 exists in each. */
const FAR_PAGE = 10_000;
const LIMIT = Math.max(1, Math.floor(large / 4 / FAR_PAGE / 1.2));
const BACKLOG = large >= 1_000_000 ? 100_000 : 20_000;

/**
 * The busy part is small for any history: ten due jobs, and ten running ones, of which one has imported a
 * thousand pastes.
 */
interface Scene {
  readonly url: string;
  readonly owner: string;
  readonly manyAssets: string;
  readonly old: readonly string[];
  readonly due: readonly string[];
  readonly running: readonly ClaimedJob[];
}

let stack: TestPostgres;
const scenes: Scene[] = [];
let underBacklog: Scene;
let underBacklogOfJobs: Scene;

beforeAll(async () => {
  stack = await startTestPostgres();
  await prepareToFill(stack);
  for (const rows of [small, large]) scenes.push(await makeScene(rows));
  underBacklog = await makeScene(small, BACKLOG);
  underBacklogOfJobs = await makeScene(small);
  const db = openToFill(underBacklogOfJobs.url);
  await fillWithWaitingJobs(db, { users: 200, jobsOfEach: BACKLOG / 200 });
  await db.destroy();
}, FILL_LIMIT_MS);

afterAll(async () => {
  await stack?.stop();
});

async function makeScene(rows: number, backlog = 0): Promise<Scene> {
  const { url } = await createTestDatabase(stack);
  const db = openToFill(url);
  const owner = await fillOwner(db, 'owner', rows / 2); // and as many rows of other users
  const manyAssets = await fillJobs(db, owner, rows);
  if (backlog > 0) await fillWithBacklog(db, backlog);
  const due = [];
  for (let n = 0; n < 10; n++) due.push((await newJob(db)).id);
  const running = [];
  for (let n = 0; n < 10; n++) running.push(await claimJob(db, (await newJob(db)).id));
  const [first] = running;
  await importPastes(db, { ...first!, entries: entriesOf(first!, firstPositions(1000)) });
  await makeJobs(db, 20, {
    userId: owner,
    status: 'queued',
    execution: { status: 'PENDING', dispatchedSecondsAgo: 50 },
  });
  const old = await makeJobs(db, 10, { userId: owner, status: 'completed', assets: 3 });
  await sql`UPDATE task_executions SET lease_expires_at = now() + interval '1 hour' WHERE status = 'RUNNING'`.execute(
    db,
  );
  if (backlog === 0)
    await sql`VACUUM (ANALYZE) jobs, assets, task_executions, pastes, paste_payloads`.execute(db);
  await db.destroy();
  return { url, owner, manyAssets, old: old.map(({ id }) => id), due, running };
}

const first = (scene: Scene): ClaimedJob => scene.running[1]!;
const giveUp = (job: ClaimedJob) => ({
  executionId: job.executionId,
  outcome: loss,
  ending: null,
  nextStep: { kind: 'give_up', reason: 'enough' } as const,
});
const byW = { actor: 'w', dispatched: true };
const ignored = () => undefined; // under EXPLAIN a statement returns no row

const hot: Record<string, (db: Database, scene: Scene) => Promise<unknown>> = {
  'creating a job': (db, { owner }) =>
    createJob(db, { userId: owner, jobType: 'import', parameters: {} }).catch(ignored),
  'creating a job under a cap': (db, { owner }) =>
    createCappedJob(db, { userId: owner, jobType: 'import', parameters: {} }, 100),
  'claiming the job whose turn it is': (db, { due }) =>
    claimDueJob(db, { jobId: due[0]!, actor: 'w', leaseSeconds: 6 }).catch(ignored),
  'reading a job': (db, scene) => findJob(db, first(scene).jobId),
  'claiming ten jobs': (db, { due }) =>
    claimExecutions(db, jobSubject, { keys: due, actor: 'w', leaseSeconds: 6 }),
  'settling ten jobs as completed': (db, { running }) =>
    settleExecutions(
      db,
      jobSubject,
      running.map((job) => endingOf(job)),
      byW,
    ),
  'settling ten jobs as given up': (db, { running }) =>
    settleExecutions(db, jobSubject, running.map(giveUp), byW),
  'writing progress': (db, scene) => writeProgress(db, { ...first(scene), percent: 50, message: 'm' }),
  'creating an asset': (db, scene) => {
    const job = first(scene);
    return createAsset(db, { executionId: job.executionId, asset: newAsset(job) }).catch(ignored);
  },
  'importing a hundred pastes': (db, scene) => {
    const job = first(scene);
    return importPastes(db, { ...job, entries: entriesOf(job, firstPositions(100)) }).catch(ignored);
  },
  'finding what is imported': (db, { running }) => importedPositions(db, running[0]!.jobId),
  'finding jobs that were never dispatched': (db) =>
    findUndispatched(db, jobSubject, { graceSeconds: 0, limit: 100 }),
  'finding jobs that are overdue': (db) => findOverdue(db, jobSubject, { olderThanSeconds: 30, limit: 10 }),
  'counting jobs that wait for a worker': (db) => countWaiting(db, jobSubject, { limit: 1000 }),
  'finding stranded jobs': (db) => findStranded(db, jobSubject, 'oldest', 100),
  'finding zombies of jobs': (db) => findZombies(db, jobSubject, 100),
  'reading the timeline of a job': (db, scene) => readJobTimeline(db, first(scene).jobId),
  // A fourth of the pastes here is IN_PROGRESS: the count grows up to its limit.
  'reading how many are in which state': (db) => readStateFigures(db, 100),
  'finding old jobs': (db) => findOldJobs(db, { retentionSeconds: 0, after: null, limit: 100 }),
  'removing old jobs': (db, { old }) =>
    removeJobs(
      db,
      old.map((id) => ({ id, retriedAs: null })),
    ),
  'finding stray objects of jobs': (db, { old }) =>
    findStrayJobObjects(
      db,
      old
        .slice(0, 3)
        .flatMap((jobId) =>
          ['made-1', 'stray'].map((name) => ({ jobId, key: `${jobKeyPrefix(jobId)}${name}` })),
        ),
    ),
  'finding what jobs have stored': (db, { old }) =>
    findStoredAssets(db, {
      after: jobKeyPrefix(old[0]!),
      upTo: null,
      before: new Date(),
      retentionSeconds: 1e6,
      limit: 5,
    }),
  'listing jobs of a type and a status that never meet': (db, { owner }) =>
    listJobs(db, { userId: owner, status: 'partial', jobType: 'export' }, { limit: 20, after: null }),
};

it.each(Object.keys(hot))('%s reads as many pages in a large table as in a small one', async (name) => {
  const costs = [];
  for (const scene of scenes) costs.push(await explain(scene.url, (db) => hot[name]!(db, scene)));
  const [before, after] = costs as [Cost, Cost];
  process.stderr.write(`${name}: ${before.buffers} pages at ${small} rows, ${after.buffers} at ${large}\n`);
  expect(after.scanned).toEqual([]);
  expect(before.statements).toBeGreaterThan(0);
  expect(after.buffers).toBeLessThanOrEqual(mostPages(before.buffers));
});

const duringBacklog = Object.keys(hot).filter((name) =>
  /claiming|settling|importing|dispatched|overdue|counting/.test(name),
);

it.each(duringBacklog)(
  '%s costs no more under a backlog of uploads that is not in the statistics',
  async (name) => {
    const before = await explain(scenes[0]!.url, (db) => hot[name]!(db, scenes[0]!));
    const after = await explain(underBacklog.url, (db) => hot[name]!(db, underBacklog));
    process.stderr.write(
      `${name}: ${before.buffers} pages, ${after.buffers} with ${BACKLOG} uploads waiting\n`,
    );
    expect(after.scanned).toEqual([]);
    expect(after.buffers).toBeLessThanOrEqual(Math.ceil(before.buffers * MAX_GROWTH) + 50);
  },
);

it.each(['creating a job', 'creating a job under a cap', 'claiming the job whose turn it is'])(
  '%s costs no more when very many jobs of many users wait',
  async (name) => {
    const before = await explain(scenes[0]!.url, (db) => hot[name]!(db, scenes[0]!));
    const after = await explain(underBacklogOfJobs.url, (db) => hot[name]!(db, underBacklogOfJobs));
    process.stderr.write(`${name}: ${before.buffers} pages, ${after.buffers} with ${BACKLOG} jobs waiting\n`);
    expect(before.statements).toBe(1);
    expect(after.scanned).toEqual([]);
    expect(after.buffers).toBeLessThanOrEqual(Math.ceil(before.buffers * MAX_GROWTH) + 50);
  },
);

interface List {
  readonly table: string;
  readonly order: 'ASC' | 'DESC';
  readonly where: (scene: Scene) => string;
  readonly page: (db: Database, scene: Scene, page: PageRequest) => Promise<Page<unknown>>;
}

const jobsOf = (where: string, filter: { status: 'completed' | null; jobType: string | null }): List => ({
  table: 'jobs',
  order: 'DESC',
  where: ({ owner }) => `user_id = '${owner}'${where}`,
  page: (db, { owner }, page) => listJobs(db, { userId: owner, ...filter }, page),
});

const lists: Record<string, List> = {
  'a user’s jobs': jobsOf('', { status: null, jobType: null }),
  'a user’s jobs of a status': jobsOf(` AND status = 'completed'`, { status: 'completed', jobType: null }),
  'a user’s jobs of a type': jobsOf(` AND job_type = 'import'`, { status: null, jobType: 'import' }),
  'a user’s jobs of a type and a status': jobsOf(` AND job_type = 'import' AND status = 'completed'`, {
    status: 'completed',
    jobType: 'import',
  }),
  'a job’s assets': {
    table: 'assets',
    order: 'DESC',
    where: ({ manyAssets }) => `job_id = '${manyAssets}'`,
    page: (db, { manyAssets }, page) => listAssets(db, manyAssets, page),
  },
  ...Object.fromEntries(
    ([null, 'IN_PROGRESS', 'FAILED'] as const).map((status): [string, List] => [
      `a user’s pastes to export (${status ?? 'all'})`,
      {
        table: 'pastes',
        order: 'ASC',
        where: ({ owner }) => `user_id = '${owner}'`,
        page: (db, { owner }, page) => {
          const createdAfter = new Date(0); // the scan must start at the place of the page, not here
          return listExportable(db, { userId: owner, createdAfter, createdBefore: new Date(), status }, page);
        },
      },
    ]),
  ),
};

it.each(Object.keys(lists))(
  'a page of %s costs the same at any position in a list of any length',
  async (name) => {
    const { page, where, ...list } = lists[name]!;
    const costOf = async (scene: Scene, skipped: number): Promise<Cost> => {
      const db = open(scene.url, 1);
      const after = await placeAt(db, { ...list, where: where(scene), skipped });
      await db.destroy();
      return await explain(scene.url, (explaining) => page(explaining, scene, { limit: LIMIT, after }));
    };
    const costs = [
      await costOf(scenes[0]!, 0),
      await costOf(scenes[1]!, 0),
      await costOf(scenes[1]!, (FAR_PAGE - 1) * LIMIT),
    ];
    const [short, near, far] = costs.map(({ buffers }) => buffers) as [number, number, number];
    process.stderr.write(
      `${name}, ${LIMIT} a page: ${short} pages of ${small} rows, ${near} of ${large}, ${far} for page ${FAR_PAGE}\n`,
    );
    expect(costs.flatMap(({ scanned }) => scanned)).toEqual([]);
    expect(costs.map(({ statements }) => statements)).toEqual([1, 1, 1]);
    for (const cost of [near, far]) expect(cost).toBeLessThanOrEqual(mostPages(short));
  },
);

it.each(Object.keys(operatorsLists))('%s reads no more than its bound', async (name) => {
  const { most, pages } = await costOfList(name, scenes[1]!);
  expect(pages).toBeLessThanOrEqual(most);
});
