import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { findCopies, runOps, startCluster, type Cluster, type User } from '../src/index.ts';

let cluster: Cluster;
let alice: User;
beforeAll(async () => {
  cluster = await startCluster({
    env: {
      UPLOAD_RETRY_DELAYS_MS: '50',
      SWEEP_INTERVALS: 'cleanup=0.5,failed-pastes=0.5,dead-letters=600',
    },
  });
  alice = await cluster.user('alice');
});
afterEach(() => cluster.s3.clear());
afterAll(() => cluster?.stop());

/** The pastes of one test, all with the same mark in their titles and contents. */
interface Marked {
  readonly mark: string;
  readonly codes: readonly string[];
  readonly source: string;
  readonly jobs: readonly string[];
}

const newMark = (): string => `mark${randomBytes(9).toString('hex')}`;
const contentsOf = (mark: string): readonly string[] => [mark, `${mark} compresses well\n`.repeat(500)];

/** Pastes by the api and by imports: of a list of items, of NDJSON, and of entries that are refused. */
async function makePastes({ burn = false, prepare = () => {} } = {}): Promise<Marked> {
  const mark = newMark();
  const items = contentsOf(mark).map((content) => ({ content, title: mark, burn }));
  const lines = [...items, { content: mark, syntax: 7 }].map((item) => `${JSON.stringify(item)}\n`);
  const { short_code: source } = await alice.pastes.create(lines.join(''), { title: mark, wait: true });
  prepare();
  const codes: string[] = [];
  for (const [n, { content, title }] of items.entries())
    codes.push(
      (await alice.pastes.create(content, { title, burn, idempotencyKey: `${mark}-${n}` })).short_code,
    );
  const jobs: string[] = [];
  for (const parameters of [
    { items: [...items, { content_base64: `${mark}!` }] },
    { source_short_code: source },
  ]) {
    const { job_id: id } = await alice.jobs.create({ job_type: 'import', parameters });
    expect(await viewsOf(id)).not.toContain(mark);
    expect(await alice.jobs.wait(id)).toMatchObject({
      status: 'partial',
      result: { imported: 2, failed: 1 },
    });
    for await (const { url } of alice.jobs.assets(id)) codes.push(url.split('/').at(-1)!);
    jobs.push(id);
  }
  return { mark, codes, source, jobs };
}

/** Everything that its owner and an operator are shown of a job. */
async function viewsOf(job: string): Promise<string> {
  const page = await cluster
    .http()
    .request(`/my/jobs/${job}`, { headers: { authorization: `Bearer ${alice.token}`, accept: 'text/html' } });
  const views = [
    await alice.jobs.get(job),
    await alice.jobs.timeline(job),
    await page.text(),
    await runOps(cluster, 'timeline', job, '--json'),
  ];
  return JSON.stringify(views);
}

async function untilStatus({ codes }: Marked, status: string): Promise<void> {
  for (const code of codes) await cluster.untilStatus(code, status);
}

const setTimes = (codes: readonly string[], set: string) =>
  cluster.rows.query(`UPDATE pastes SET ${set} WHERE short_code = ANY ($1)`, [codes]);

async function expectNoCopies({ mark, jobs }: Pick<Marked, 'mark' | 'jobs'>): Promise<void> {
  await cluster.until(
    () => findCopies(cluster, mark),
    (places) => places.length === 0,
  );
  for (const job of jobs) expect(await viewsOf(job)).not.toContain(mark);
}

const forgetSource = ({ source }: Marked) => alice.pastes.delete(source);

describe('no copy of content is left, in tables, objects, messages and logs, and in no view of a job,', () => {
  it('when its pastes were burned', async () => {
    const made = await makePastes({ burn: true });
    await untilStatus(made, 'PROCESSED');
    for (const code of made.codes) expect(contentsOf(made.mark)).toContain(await textOf(code));
    await forgetSource(made);
    await setTimes(made.codes, `deletion_initiated_at = now() - interval '361 seconds'`);
    await expectNoCopies(made);
  });

  it('when they were deleted by their owner', async () => {
    const made = await makePastes();
    await untilStatus(made, 'PROCESSED');
    expect(await findCopies(cluster, made.mark)).toEqual(['an object', 'public.pastes.title']);
    for (const code of made.codes) await alice.pastes.delete(code);
    await forgetSource(made);
    await expectNoCopies(made);
  });

  it('when they were deleted while they were being uploaded', async () => {
    const made = await makePastes({
      prepare: () => void cluster.s3.rule({ method: 'PUT' }, { kind: 'delay', ms: 5000 }, 1),
    });
    for (const code of made.codes) await alice.pastes.delete(code);
    await forgetSource(made);
    await expectNoCopies(made);
  });

  it('when they were taken down', async () => {
    const made = await makePastes();
    for (const code of [...made.codes, made.source])
      await runOps(cluster, 'takedown', code, '--reason', 'a report');
    await expectNoCopies(made);
  });

  it('when they have expired', async () => {
    const made = await makePastes();
    await untilStatus(made, 'PROCESSED');
    await setTimes([...made.codes, made.source], 'expires_at = now()');
    await expectNoCopies(made);
  });

  it('when their uploads failed', async () => {
    const made = await makePastes({
      prepare: () => void cluster.s3.rule({ method: 'PUT' }, { kind: 'fail', status: 500 }),
    });
    await untilStatus(made, 'FAILED');
    expect(await findCopies(cluster, made.mark)).toContain('public.failed_payloads.content');
    await setTimes(made.codes, `created_at = now() - interval '25 hours'`);
    await forgetSource(made);
    await expectNoCopies(made);
  });

  it('when it was blocked', async () => {
    const mark = newMark();
    const { short_code: code } = await alice.pastes.create(mark, { wait: true });
    await runOps(cluster, 'block', code, '--reason', 'a report');
    await runOps(cluster, 'takedown', code, '--reason', 'a report');
    await expect(alice.pastes.create(mark, { idempotencyKey: mark })).rejects.toMatchObject({
      code: 'content_blocked',
    });
    const { job_id: id } = await alice.jobs.create({
      job_type: 'import',
      parameters: { items: [{ content: mark, title: mark }] },
    });
    await expect(alice.jobs.wait(id)).rejects.toMatchObject({ job: { result: { imported: 0, failed: 1 } } });
    await expectNoCopies({ mark, jobs: [id] });
  });

  it('when the import is cancelled before it made them', async () => {
    const mark = newMark();
    await cluster.workers[0]!.kill();
    const parameters = { items: [{ content: mark }] };
    const { job_id: id } = await alice.jobs.create({ job_type: 'import', parameters });
    expect(await findCopies(cluster, mark)).toEqual(['public.jobs.payload']);
    expect(await viewsOf(id)).not.toContain(mark);
    await alice.jobs.cancel(id);
    await expectNoCopies({ mark, jobs: [id] });
    await cluster.workers[0]!.start();
  });
});

async function textOf(code: string): Promise<string> {
  const answer = await cluster
    .http()
    .request(`/${code}`, { method: 'POST', headers: { authorization: `Bearer ${alice.token}` } });
  return await answer.text();
}

describe('the search for copies', () => {
  it('finds content in a table, an object and a message, plain, compressed and encoded', async () => {
    const mark = newMark();
    const packed = gzipSync(mark.repeat(9));
    await cluster.rows.query(
      `CREATE TABLE copies AS SELECT $1::bytea AS plain, $2::bytea AS packed, $3::text AS encoded, $4::jsonb AS list`,
      [Buffer.from(mark), packed, packed.toString('base64'), JSON.stringify([{ mark }])],
    );
    await cluster.bucket.write('pastes/copy', packed);
    await cluster.queues.send('jobs-dead-letters', { copy: packed.toString('base64') });
    expect(await findCopies(cluster, mark)).toEqual([
      'an object',
      'jobs-dead-letters',
      'public.copies.encoded',
      'public.copies.list',
      'public.copies.packed',
      'public.copies.plain',
    ]);
    await cluster.rows.query('DROP TABLE copies');
    await cluster.bucket.remove('pastes/copy');
  });
});
