import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { defineJobType, jobTypes, type JobType } from '@pasteflow/jobs';
import { makePastes } from '@pasteflow/postgres/testing';
import { z } from 'zod';
import { completed, jobType, until, useBench } from '../support/bench.ts';

const bench = useBench();
const types = new Map<string, JobType>();
const addType = (name: string, run: JobType['run']) => types.set(name, jobType(name, run));

beforeAll(async () => {
  await bench.startForAll(types, { env: { JOB_RETRY_DELAYS_MS: '10,10' } });
});

const assetsOf = (jobId: string) =>
  bench.db.selectFrom('assets').selectAll().where('job_id', '=', jobId).execute();

describe('a job', () => {
  it('owns the assets that it creates while it runs (J5)', async () => {
    addType('archive', async ({ jobId, createAsset }) => {
      await createAsset({
        assetType: 'archive',
        storagePath: `jobs/${jobId}/a.zip`,
        fileSize: 5_000_000_000,
      });
      return completed;
    });
    const id = await bench.submit('archive');
    await bench.untilEnded(id);
    expect(await assetsOf(id)).toMatchObject([
      {
        user_id: bench.userId,
        asset_type: 'archive',
        url: `s3://pasteflow/jobs/${id}/a.zip`,
        storage_path: `jobs/${id}/a.zip`,
        file_size: '5000000000',
      },
    ]);
  });

  it('is partial when some of its work failed, and its result names the failed part (J6)', async () => {
    addType('half', async ({ createAsset }) => {
      await createAsset({ assetType: 'paste', storagePath: 'pastes/abc', fileSize: 1 });
      return { status: 'partial', result: { failed: [2] }, error: '1 of 2 entries failed' };
    });
    const id = await bench.submit('half');
    expect(await bench.untilEnded(id)).toMatchObject({
      status: 'partial',
      progress: 100,
      result: { failed: [2] },
      error_message: '1 of 2 entries failed',
    });
    expect(await bench.attempts(id)).toEqual([[1, 'SUCCEEDED', null]]);
  });

  it('fails without another attempt when its type reports that it cannot be done', async () => {
    addType('vain', () =>
      Promise.resolve({ status: 'failed', result: { entries: 0 }, error: 'the archive is empty' }),
    );
    const id = await bench.submit('vain');
    expect(await bench.untilEnded(id)).toMatchObject({
      status: 'failed',
      result: { entries: 0 },
      error_message: 'the archive is empty',
    });
    expect(await bench.attempts(id)).toEqual([[1, 'FAILED', 'work failed: the archive is empty']]);
  });

  /** Waits until an attempt has failed whose next one is a minute away, and makes that one due. */
  async function haveNextAttempt(id: string): Promise<void> {
    const waiting = await until(
      () =>
        bench.db
          .selectFrom('task_executions')
          .select(['id', 'run_at'])
          .where('subject_id', '=', id)
          .where('status', '=', 'PENDING')
          .where('attempt', '>', 1)
          .where('run_at', '>', new Date())
          .executeTakeFirst(),
      (row) => row !== undefined,
    );
    expect(waiting!.run_at.getTime()).toBeGreaterThan(Date.now() + 30_000);
    await bench.db
      .updateTable('task_executions')
      .set({ run_at: new Date(0) })
      .where('id', '=', waiting!.id)
      .execute();
    await bench.send(id, waiting!.id);
  }

  it('of a type that this version does not have waits for a version that has it', async () => {
    const id = await bench.submit('transmute');
    await until(
      () => bench.attempts(id),
      (attempts) => attempts.length === 2,
    );
    addType('transmute', () => Promise.resolve(completed));
    await haveNextAttempt(id);
    expect(await bench.untilEnded(id)).toMatchObject({ status: 'completed' });
    expect(await bench.attempts(id)).toEqual([
      [1, 'FAILED', "work failed: This version has no job type 'transmute'."],
      [2, 'SUCCEEDED', null],
    ]);
  });

  it('of a type that no version has fails with an error that names its type', async () => {
    const id = await bench.submit('dissolve');
    await haveNextAttempt(id);
    await haveNextAttempt(id);
    expect(await bench.untilEnded(id)).toMatchObject({
      status: 'failed',
      error_message: "work failed: 3 attempts failed; the last: This version has no job type 'dissolve'.",
    });
  });

  it('reads its stored parameters with the schema of this version: defaults are added, and invalid ones wait for another version', async () => {
    const packs = (...formats: string[]) =>
      types.set(
        'pack',
        defineJobType({
          name: 'pack',
          summary: 'Made for a test.',
          parameters: z.strictObject({ format: z.enum(formats).default('zip') }),
          example: {},
          readShortCodes: () => [],
          run: (context) => Promise.resolve({ status: 'completed', result: context.parameters }),
        }),
      );
    packs('zip', 'tar.gz');
    const old = await bench.submit('pack', {});
    const newer = await bench.submit('pack', { format: 'rar' });
    expect(await bench.untilEnded(old)).toMatchObject({ status: 'completed', result: { format: 'zip' } });
    const [[, status, error] = []] = await until(
      () => bench.attempts(newer),
      (attempts) => attempts.length === 2,
    );
    expect(status).toBe('FAILED');
    expect(error).toMatch(/^work failed: The parameters are not valid in this version: format: /);
    packs('zip', 'rar');
    await haveNextAttempt(newer);
    expect(await bench.untilEnded(newer)).toMatchObject({ status: 'completed', result: { format: 'rar' } });
  });

  it('whose last attempt failed is failed, or partial if it has assets, with the reason and a count of the assets (J6)', async () => {
    addType('broken', async ({ parameters, createAsset }) => {
      if ((parameters as { makes?: boolean }).makes === true)
        await createAsset({ assetType: 'paste', storagePath: 'pastes/abc', fileSize: 1 });
      throw new Error('no luck');
    });
    const nothing = await bench.submit('broken');
    const something = await bench.submit('broken', { makes: true });
    const error_message = 'internal: 3 attempts failed; the last: no luck';
    expect(await bench.untilEnded(nothing)).toMatchObject({ status: 'failed', result: null, error_message });
    expect(await bench.untilEnded(something)).toMatchObject({
      status: 'partial',
      result: { assets: 3 },
      error_message,
    });
    expect((await bench.attempts(nothing)).map(([attempt]) => attempt)).toEqual([1, 2, 3]);
    await bench.untilAcknowledged();
  });

  it('keeps no secret of the message of an error', async () => {
    addType('leaky', () =>
      Promise.reject(new Error(`${'x'.repeat(470)} postgres://admin:hunter2${'0'.repeat(40)}@db`)),
    );
    const id = await bench.submit('leaky');
    const { error_message: error } = await bench.untilEnded(id);
    expect(error).toMatch(/postgres:\/\/admin:\[red/);
    expect(JSON.stringify(await bench.attempts(id))).not.toContain('hunter2');
  });

  it('whose last attempt failed at S3 says what S3 answered', async () => {
    const key = { method: 'PUT', path: /jobs\/answer/ };
    bench.proxy.rule(key, { kind: 'fail', status: 507 });
    addType('storing', async ({ services, signal }) => {
      const body = Readable.from([Buffer.from('x')]);
      await services.store.putStream('jobs/answer', body, { contentType: 'text/plain', signal });
      return completed;
    });
    const id = await bench.submit('storing');
    expect((await bench.untilEnded(id)).error_message).toMatch(
      /^storage unavailable: 3 attempts failed; the last: S3 answered 507/,
    );
  });
});

it('imports whose user has many open uploads wait without a slot and without an attempt, and end when these have ended', async () => {
  types.set('import', jobTypes.get('import')!);
  addType('other', () => Promise.resolve(completed));
  await makePastes(bench.db, 101, { status: 'IN_PROGRESS', userId: bench.userId, content: Buffer.from('x') });
  const later = new Date(Date.now() + 3_600_000); // so that the imports come back soon
  await bench.db.updateTable('paste_payloads').set({ created_at: later }).execute();
  const items = [{ content: 'imported' }];
  const imports = await Promise.all([0, 1, 2].map(() => bench.submit('import', { items })));
  for (const id of imports)
    await until(
      () => bench.attempts(id),
      (attempts) => attempts.some(([, status]) => status === 'FAILED'),
    );
  for (let n = 0; n < 3; n += 1) await bench.untilEnded(await bench.submit('other'));
  for (const id of imports)
    expect(await bench.job(id)).toMatchObject({ status: 'processing', completed_at: null });
  await bench.db.deleteFrom('paste_payloads').execute();
  for (const id of imports) {
    expect(await bench.untilEnded(id)).toMatchObject({ status: 'completed', result: { imported: 1 } });
    const attempts = await bench.attempts(id);
    expect(new Set(attempts.slice(0, -1).map(String))).toEqual(new Set(['1,FAILED,yielded']));
    expect(attempts.at(-1)).toEqual([1, 'SUCCEEDED', null]);
  }
  await bench.untilAcknowledged();
});
