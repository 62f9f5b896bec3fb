import { expect, it } from '@jest/globals';
import type { JobContext, Kit } from '../src/index.ts';
import { loadForTest, type TestJob } from '../src/testing.ts';

type Run = (context: JobContext<{ codes: string[] }>, kit: Kit) => Promise<unknown>;

/** A job of a type with this `run`, which reads the pastes that its parameters name. */
async function jobOf(run: Run): Promise<TestJob> {
  const makeJob = await loadForTest(
    (kit) =>
      kit.defineJobType({
        name: 'own',
        summary: 'Made for a test.',
        parameters: kit.z.strictObject({ codes: kit.z.array(kit.z.string()) }),
        example: { codes: [] },
        readShortCodes: ({ codes }) => codes,
        run: async (context) => (await run(context, kit)) as never,
      }),
    { pastes: { here: 'hello', hidden: 'secret' } },
  );
  return makeJob('own', { codes: ['here', 'gone'] });
}

const done = { status: 'completed', result: {} };

it('keeps assets for the next attempt, and nothing after the process has died', async () => {
  const job = await jobOf(async ({ saveAsset, listAssets, readAsset }) => {
    const names = (await listAssets()).map(({ name }) => name);
    for (const name of ['a.txt', 'b.txt', 'c.txt'].filter((each) => !names.includes(each)))
      await saveAsset({ name, content: `of ${name}` });
    return { ...done, result: { before: names, first: String(await readAsset('a.txt')) } };
  });
  const died = await job.attempt({ diesAfterAssets: 2 });
  expect([died.ending, String(died.error), job.assets.length]).toEqual([null, 'Error: The process died.', 2]);
  const { ending } = await job.attempt();
  expect(ending).toMatchObject({ result: { before: ['a.txt', 'b.txt'] } });
  expect(job.assets.map(({ name, type, bytes }) => [name, type, bytes])).toEqual([
    ['a.txt', 'file', 8],
    ['b.txt', 'file', 8],
    ['c.txt', 'file', 8],
  ]);
});

it('passes on what progress can store, whatever a file without types reports', async () => {
  const job = await jobOf(({ progress }) => {
    const report = progress as (percent: unknown, message?: unknown) => void;
    report(10, 'begun');
    report('50', 7);
    report(60n, { of: 100 });
    return Promise.resolve(done);
  });
  expect((await job.attempt()).progress).toEqual([
    { percent: 10, message: 'begun' },
    { percent: 50, message: undefined },
    { percent: 60, message: undefined },
  ]);
});

it('keeps 500 characters of a message of progress, and of an error that is returned', async () => {
  const long = 'é'.repeat(499);
  const job = await jobOf(({ progress }) => {
    progress(1, `${long}\u{1f600}`);
    progress(2, `${long}é`);
    return Promise.resolve({ status: 'failed', result: {}, error: `${long}éé` });
  });
  const { ending, progress } = await job.attempt();
  expect(progress.map(({ message }) => message)).toEqual([`${long}…`, `${long}é`]);
  expect(ending).toEqual({ status: 'failed', result: {}, error: `${long}…` });
});

it('tells work that its job is cancelled, and stores nothing any more', async () => {
  const cancelling = new AbortController();
  const job = await jobOf(async ({ saveAsset, signal }) => {
    await saveAsset({ name: 'before', content: '' });
    cancelling.abort(new Error('cancelled'));
    expect(signal.aborted).toBe(true);
    await saveAsset({ name: 'after', content: '' });
    return done;
  });
  const { ending, error } = await job.attempt({ signal: cancelling.signal });
  expect([ending, String(error)]).toEqual([null, 'Error: cancelled']);
  expect(job.assets.map(({ name }) => name)).toEqual(['before']);
});

it('gives each attempt the parameters as they are stored', async () => {
  const seen: unknown[] = [];
  const makeJob = await loadForTest((kit) =>
    kit.defineJobType({
      name: 'own',
      summary: 'Made for a test.',
      parameters: kit.z.strictObject({
        tags: kit.z.array(kit.z.string()).default([]),
        size: kit.z.string().transform(Number).optional(),
      }),
      example: {},
      run: async ({ parameters }) => {
        seen.push(structuredClone(parameters));
        parameters.tags.push('mine');
        return done as never;
      },
    }),
  );
  const job = makeJob('own', {});
  await job.attempt();
  await job.attempt();
  expect(seen).toEqual([{ tags: [] }, { tags: [] }]);
  expect(() => makeJob('own', { size: '7' })).toThrow('size');
});

it.each([
  ['texts', ['a'], 'A part of'],
  ['an object', { a: 1 }, 'is no text'],
  ['nothing', undefined, 'is no text'],
])('refuses an asset of %s', async (_what, content, problem) => {
  async function* stream(): AsyncGenerator<string> {
    yield 'a';
  }
  const job = await jobOf(async ({ saveAsset }) => {
    await saveAsset({ name: 'a', content: (Array.isArray(content) ? stream() : content) as never });
    return done;
  });
  expect(String((await job.attempt()).error)).toContain(problem);
  expect(job.assets).toEqual([]);
});

it('stores a stream', async () => {
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array([1, 2]);
    yield new Uint8Array([3]);
  }
  const job = await jobOf(async ({ saveAsset }) => {
    await saveAsset({ name: 'numbers', content: parts() });
    return done;
  });
  await job.attempt();
  expect([...(job.assets[0]?.content ?? [])]).toEqual([1, 2, 3]);
});

it('reads the pastes that readShortCodes names, and no other', async () => {
  const job = await jobOf(async ({ readPaste }) => ({
    ...done,
    result: { here: (await readPaste('here')).kind, gone: await readPaste('gone') },
  }));
  expect((await job.attempt()).ending?.result).toEqual({
    here: 'content',
    gone: { kind: 'refused', reason: 'The paste gone does not exist.' },
  });
  const other = await jobOf(async ({ readPaste }) => await readPaste('hidden'));
  expect(String((await other.attempt()).error)).toContain(
    "readShortCodes of 'own' does not name the paste hidden",
  );
});

it.each([
  ['../other', 'file', "'../other' is no name of an asset"],
  ['.hidden', 'file', "'.hidden' is no name"],
  ['a/b', 'file', "'a/b' is no name"],
  ['', 'file', "'' is no name"],
  ['a'.repeat(101), 'file', 'is no name'],
  ['a', 'paste', "'paste' is no type"],
  ['a', 'Feed', "'Feed' is no type"],
])('refuses the asset %j of the type %j', async (name, type, problem) => {
  const job = await jobOf(async ({ saveAsset }) => {
    await saveAsset({ name, type, content: '' });
    return done;
  });
  expect(String((await job.attempt()).error)).toContain(problem);
  expect(job.assets).toEqual([]);
});

it('refuses two assets of one name, also at once', async () => {
  const job = await jobOf(async ({ saveAsset }) => {
    await Promise.all([1, 2].map((n) => saveAsset({ name: 'same', content: String(n) })));
    return done;
  });
  expect(String((await job.attempt()).error)).toContain("The job has an asset 'same'");
  expect(job.assets.length).toBe(1);
});

it('keeps what only looks like a NUL character', async () => {
  const result = { text: String.raw`\u0000` };
  const { ending } = await (await jobOf(async () => ({ ...done, result }))).attempt();
  expect(ending).toEqual({ status: 'completed', result });
});

it.each([
  ['nothing', undefined],
  ['no status', { result: {} }],
  ['a failure without its error', { status: 'failed', result: {} }],
  ['a success with an error', { ...done, error: 'but' }],
  ['a NUL character', { ...done, result: { text: 'a\0b' } }],
  ['half a character', { ...done, result: { 'a\ud800b': 1 } }],
  ['a result that belongs into an asset', { ...done, result: { text: 'x'.repeat(64 * 1024) } }],
  ['no JSON', { ...done, result: { count: 1n } }],
])('refuses an ending with %s', async (_what, returned) => {
  const { ending, error } = await (await jobOf(async () => returned)).attempt();
  expect([ending, error]).toEqual([null, expect.any(Error)]);
});
