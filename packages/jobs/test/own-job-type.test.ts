import { describe, expect, it } from '@jest/globals';
import { ExecutionTakenError, jobKeyPrefix } from '@pasteflow/domain';
import type { JobContext, JobType } from '@pasteflow/job';
import { createJob } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { z } from 'zod';
import { fromOwn } from '../src/own/own-job-type.ts';
import { assetsOf, attempt, giveUp, newUser } from './support/attempts.ts';
import { storedPaste, waitingPaste } from './support/pastes.ts';
import { keysIn, useWorld } from './support/world.ts';

const world = useWorld();

type Run = (context: JobContext<{ codes: string[] }>) => Promise<unknown>;

function ownType(run: Run): JobType {
  return {
    name: 'own',
    summary: 'Made for a test.',
    parameters: z.strictObject({ codes: z.array(z.string()) }),
    example: { codes: [] },
    readShortCodes: (parameters) => (parameters as { codes: string[] }).codes,
    run: async (context) => (await run(context as JobContext<{ codes: string[] }>)) as never,
  };
}

const done = { status: 'completed', result: {} };

async function newOwnJob(userId: string, codes: readonly string[] = []): Promise<string> {
  return (await createJob(world.db, { userId, jobType: 'own', parameters: { codes } })).id;
}

async function contentOf(key: string): Promise<string> {
  const object = await world.store.get(key);
  const parts = [];
  for await (const part of object!.body) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

describe('the assets of a job type of an own', () => {
  it('are objects in the folder of the job, which the next attempt finds', async () => {
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('in ');
      yield Buffer.from('parts');
    }
    const type = fromOwn(
      ownType(async ({ saveAsset, listAssets, readAsset }) => {
        const before = await listAssets();
        if (before.length === 0) {
          await saveAsset({ name: 'text.txt', content: 'Grüße' });
          await saveAsset({ name: 'bytes', type: 'raw', content: new Uint8Array([104, 105]) });
          await saveAsset({ name: 'stream.bin', content: stream() });
          throw new Error('once more');
        }
        const read = await Promise.all(
          [...before.map(({ name }) => name), 'none'].map((name) => readAsset(name)),
        );
        return { ...done, result: { before, read: read.map((content) => content && String(content)) } };
      }),
    );
    const jobId = await newOwnJob(await newUser(world));
    const first = await attempt(world, jobId, { type });
    const { executionId } = first.job;
    const assets = await assetsOf(world, jobId);
    expect(assets.map((asset) => [asset.storage_path, asset.asset_type, Number(asset.file_size)])).toEqual([
      [`${jobKeyPrefix(jobId)}${executionId}/text.txt`, 'file', 7],
      [`${jobKeyPrefix(jobId)}${executionId}/bytes`, 'raw', 2],
      [`${jobKeyPrefix(jobId)}${executionId}/stream.bin`, 'file', 8],
    ]);
    expect(await Promise.all(assets.map((asset) => contentOf(asset.storage_path)))).toEqual([
      'Grüße',
      'hi',
      'in parts',
    ]);
    await giveUp(world, first);
    const { ending } = await attempt(world, jobId, { type });
    expect(ending?.result).toEqual({
      before: [
        { name: 'text.txt', type: 'file', bytes: 7 },
        { name: 'bytes', type: 'raw', bytes: 2 },
        { name: 'stream.bin', type: 'file', bytes: 8 },
      ],
      read: ['Grüße', 'hi', 'in parts', null],
    });
  });

  it('are not made by a worker that has lost the job', async () => {
    const jobId = await newOwnJob(await newUser(world));
    const lost = Promise.withResolvers<void>();
    const type = fromOwn(
      ownType(async ({ saveAsset, progress }) => {
        progress(1);
        await lost.promise;
        await saveAsset({ name: 'late', content: '' });
        return done;
      }),
    );
    const { error } = await attempt(world, jobId, {
      type,
      onProgress: (_, job) => void giveUp(world, { job }).then(lost.resolve, lost.reject),
    });
    expect(error).toBeInstanceOf(ExecutionTakenError);
    expect(await assetsOf(world, jobId)).toEqual([]);
  });

  it('never leave the folder of the job', async () => {
    const type = fromOwn(
      ownType(async ({ saveAsset }) => {
        await saveAsset({ name: '../../pastes/other', content: '' });
        return done;
      }),
    );
    const { error } = await attempt(world, await newOwnJob(await newUser(world)), { type });
    expect(String(error)).toContain('is no name of an asset');
    expect(await keysIn(world.store)).toEqual([]);
  });
});

it('gives a job type of an own neither the database nor the store', async () => {
  const type = fromOwn(
    ownType(async (context) => ({ ...done, result: { given: Object.keys(context).toSorted() } })),
  );
  const { ending } = await attempt(world, await newOwnJob(await newUser(world)), { type });
  expect(ending?.result).toEqual({
    given: [
      'jobId',
      'listAssets',
      'log',
      'parameters',
      'progress',
      'readAsset',
      'readPaste',
      'saveAsset',
      'signal',
      'stopping',
      'userId',
    ],
  });
});

it('reads pastes with the rights of the user of the job, and only those that it has named', async () => {
  const [userId, other] = [await newUser(world), await newUser(world)];
  const own = await storedPaste(world, 'own', { userId, visibility: 'private' });
  const waiting = await waitingPaste(world, 'waiting', { userId: other });
  const foreign = await storedPaste(world, 'private', { userId: other, visibility: 'private' });
  const gone = await storedPaste(world, 'gone', { expiresInSeconds: -5 });
  const burns = await storedPaste(world, 'burns', { burn: true });
  const held = await storedPaste(world, 'held', { userId: other });
  await sql`UPDATE pastes SET held_at = now() WHERE short_code = ${held}`.execute(world.db);
  const codes = [own, waiting, foreign, gone, burns, held];
  const type = fromOwn(
    ownType(async ({ parameters, readPaste }) => {
      const read = await Promise.all(parameters.codes.map((code) => readPaste(code)));
      return {
        ...done,
        result: { read: read.map((each) => (each.kind === 'content' ? String(each.content) : each.reason)) },
      };
    }),
  );
  const { ending } = await attempt(world, await newOwnJob(userId, codes), { type });
  expect(ending?.result).toEqual({
    read: [
      'own',
      'waiting',
      `The paste ${foreign} does not exist.`,
      `The paste ${gone} has expired or was deleted.`,
      `The paste ${burns} is deleted when it is read.`,
      `The paste ${held} is held until an operator has judged its reports.`,
    ],
  });
  const curious = fromOwn(ownType(async ({ readPaste }) => await readPaste(foreign)));
  const { error } = await attempt(world, await newOwnJob(userId, [own]), { type: curious });
  expect(String(error)).toContain(`readShortCodes of 'own' does not name the paste ${foreign}`);
});
