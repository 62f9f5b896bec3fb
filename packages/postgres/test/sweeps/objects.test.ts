import { describe, expect, it } from '@jest/globals';
import { jobKeyPrefix, objectKeyOf } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  countDueOrphans,
  findDueOrphans,
  findLiveObjects,
  findOpenJobs,
  findServedObjects,
  findStored,
  findStoredAssets,
  forgetOrphans,
  forgetUnseenOrphans,
  recordOrphans,
} from '../../src/index.ts';
import { findLive } from '../../src/sweeps/reconcile.ts';
import { makeJobs, makePastes, makeUsers, type JobShape, type PasteShape } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

/** A time, in seconds after a fixed one. */
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);

describe('the record of orphans', () => {
  const record = (key: string, seenAt: number, lastModified = 0) =>
    recordOrphans(current.db, [{ key, lastModified: at(lastModified) }], at(seenAt));
  const recorded = () => current.db.selectFrom('orphan_objects').selectAll().orderBy('key').execute();

  it('keeps the first sighting of an object, until the object is written again', async () => {
    await record('same', 100);
    await record('same', 200);
    await record('written again', 100);
    await record('written again', 200, 150);
    expect(await recorded()).toEqual([
      { key: 'same', last_modified: at(0), first_seen_at: at(100), last_seen_at: at(200) },
      { key: 'written again', last_modified: at(150), first_seen_at: at(200), last_seen_at: at(200) },
    ]);
  });

  it('has the first and the last sighting also when the earlier of two runs writes last', async () => {
    await record('seen twice', 200);
    await record('seen twice', 100);
    expect(await recorded()).toMatchObject([{ first_seen_at: at(100), last_seen_at: at(200) }]);
  });

  it('gives a run those that it has seen itself, and that were first seen a grace period before', async () => {
    for (const key of ['Z', 'a', 'gone', 'too young']) await record(key, key === 'too young' ? 901 : 900);
    for (const key of ['Z', 'a', 'too young']) await record(key, 1000);
    const due = { seenAt: at(1000), graceSeconds: 100 };
    expect(await countDueOrphans(current.db, due)).toBe(2);
    const find = (after: string, limit: number) => findDueOrphans(current.db, { ...due, after, limit });
    expect(await find('', 10)).toEqual(['Z', 'a']); // the order of bytes
    expect(await find('', 1)).toEqual(['Z']);
    expect(await find('Z', 1)).toEqual(['a']);
    expect(await find('a', 1)).toEqual([]);
  });

  it('forgets those that are named, and those that a complete run has not seen', async () => {
    for (const [key, seenAt] of [
      ['deleted', 1000],
      ['seen', 1000],
      ['unseen', 999],
    ] as const)
      await record(key, seenAt);
    await forgetOrphans(current.db, ['deleted']);
    expect((await recorded()).map(({ key }) => key)).toEqual(['seen', 'unseen']);
    expect(await forgetUnseenOrphans(current.db, at(1000))).toBe(1);
    expect((await recorded()).map(({ key }) => key)).toEqual(['seen']);
  });
});

const AGED = { createdSecondsAgo: 1000 } as const;

/** One paste of each kind; their short codes are their names. */
async function pastesOfEachKind(): Promise<void> {
  const shapes: Record<string, PasteShape> = {
    waiting: { status: 'IN_PROGRESS' },
    stored: { status: 'PROCESSED' },
    expired: { status: 'PROCESSED', expiresInSeconds: -1 },
    unwanted: { status: 'PROCESSED' },
    claimed: { status: 'PROCESSED', deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 10 } },
    deleted: { status: 'PROCESSED', deletion: { status: 'DELETED', secondsAgo: 10 } },
    failed: { status: 'FAILED' },
    retryable: { status: 'FAILED' },
  };
  for (const [name, shape] of Object.entries(shapes))
    await makePastes(current.db, 1, { ...AGED, ...shape, shortCodes: [name] });
  await sql`INSERT INTO failed_payloads (paste_id, content)
    SELECT id, 'made for a test' FROM pastes WHERE short_code = 'retryable'`.execute(current.db);
  await sql`UPDATE pastes SET deletion_requested_at = now() WHERE short_code = 'unwanted'`.execute(
    current.db,
  );
}

const names = [
  'waiting',
  'stored',
  'expired',
  'unwanted',
  'claimed',
  'deleted',
  'failed',
  'retryable',
  'unknown',
];
const keysOf = (...shortCodes: readonly string[]) => new Set(shortCodes.map(objectKeyOf));

async function makeJob(shape: object): Promise<{ id: string; asset: string; stray: string }> {
  const [user] = await makeUsers(current.db, 1);
  const [job] = await makeJobs(current.db, 1, { ...AGED, userId: user!.id, ...shape } as JobShape);
  const folder = jobKeyPrefix(job!.id);
  return { id: job!.id, asset: `${folder}made-1`, stray: `${folder}stray` };
}

describe('an object', () => {
  it('is live while a paste uses it, may use it, or can be retried', async () => {
    await pastesOfEachKind();
    const live = keysOf('waiting', 'stored', 'expired', 'unwanted', 'claimed', 'retryable');
    expect(await findLiveObjects(current.db, names.map(objectKeyOf))).toEqual(live);
    expect(await findLive(current.db, ['stored', 'deleted'])).toEqual(new Set(['stored']));
  });

  it('is live while its job is open, and as an asset afterwards', async () => {
    const open = [await makeJob({ status: 'queued' }), await makeJob({ status: 'processing' })];
    const ended = [
      await makeJob({ status: 'completed' }),
      await makeJob({ status: 'partial' }),
      await makeJob({ status: 'failed' }),
    ];
    const unknown = `${jobKeyPrefix('00000000-0000-4000-8000-000000000000')}made-1`;
    const keys = [...open, ...ended].flatMap(({ asset, stray }) => [asset, stray]);
    expect(await findLiveObjects(current.db, [...keys, unknown])).toEqual(
      new Set([
        ...open.flatMap(({ asset, stray }) => [asset, stray]),
        ...ended.slice(0, 2).map(({ asset }) => asset),
      ]),
    );
    const ids = [...open, ...ended].map(({ id }) => id);
    expect(await findOpenJobs(current.db, ids)).toEqual(new Set(open.map(({ id }) => id)));
    expect(await findOpenJobs(current.db, ids.slice(1))).toEqual(new Set([open[1]!.id]));
  });

  it('is served while its paste is PROCESSED and there, or as an asset', async () => {
    await pastesOfEachKind();
    const job = await makeJob({ status: 'completed', assets: 2 });
    const keys = [...names.map(objectKeyOf), job.asset, job.stray];
    expect(await findServedObjects(current.db, keys)).toEqual(new Set([...keysOf('stored'), job.asset]));
  });
});

describe('the pastes that should have an object', () => {
  const find = (options: Partial<Parameters<typeof findStored>[1]> = {}) =>
    findStored(current.db, { after: '', upTo: null, before: new Date(), limit: 10, ...options });

  it('are PROCESSED, not expired and not being deleted', async () => {
    await pastesOfEachKind();
    expect(await find()).toEqual(['stored']);
  });

  it('were PROCESSED before the listing began, and come in the order of bytes, in pages', async () => {
    const stored = { status: 'PROCESSED', expiresInSeconds: 60 } as const;
    await makePastes(current.db, 4, { ...stored, ...AGED, shortCodes: ['c', 'Z', 'b', 'a'] });
    await makePastes(current.db, 1, { ...stored, createdSecondsAgo: 0, shortCodes: ['late'] });
    const before = new Date(Date.now() - 500_000);
    expect(await find({ before })).toEqual(['Z', 'a', 'b', 'c']);
    expect(await find({ before, limit: 2 })).toEqual(['Z', 'a']);
    expect(await find({ before, after: 'Z', upTo: 'b' })).toEqual(['a', 'b']);
  });
});

describe('the assets that should have an object', () => {
  const find = (options: Partial<Parameters<typeof findStoredAssets>[1]> = {}) =>
    findStoredAssets(current.db, {
      after: '',
      upTo: null,
      before: new Date(),
      retentionSeconds: 100,
      limit: 10,
      ...options,
    });

  it('are those of open jobs, and of jobs that ended within the retention', async () => {
    const open = await makeJob({ status: 'processing', assets: 1 });
    const young = await makeJob({ status: 'completed', completedSecondsAgo: 50 });
    await makeJob({ status: 'completed', completedSecondsAgo: 200 });
    expect(await find()).toEqual([open.asset, young.asset].toSorted());
  });

  it('were created before the listing began, in the folder of a job, and come in order, in pages', async () => {
    const { id } = await makeJob({ status: 'processing', assets: 3 });
    await makeJob({ status: 'processing', assets: 1, createdSecondsAgo: 0 });
    await sql`INSERT INTO assets (job_id, user_id, asset_type, url, storage_path, file_size, created_at)
      SELECT id, user_id, 'archive', 's3://pasteflow/elsewhere', 'elsewhere', 1, created_at FROM jobs WHERE id = ${id}`.execute(
      current.db,
    );
    const [first, second, third] = [1, 2, 3].map((n) => `${jobKeyPrefix(id)}made-${n}`);
    const before = new Date(Date.now() - 500_000);
    expect(await find({ before })).toEqual([first, second, third]);
    expect(await find({ before, limit: 2 })).toEqual([first, second]);
    expect(await find({ before, after: first!, upTo: second! })).toEqual([second]);
  });
});
