import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findPaste } from '@pasteflow/postgres';
import { newUser, run } from './support/attempts.ts';
import { call, itWith } from './support/binaries.ts';
import { archiveOf, filesIn, linesIn, sha256 } from './support/exports.ts';
import { importedBy, pasteRow, storedPaste, waitingPaste } from './support/pastes.ts';
import { openUploads, useWorld } from './support/world.ts';

const world = useWorld();
const MIB = 1024 * 1024;

/** Contents that are difficult for a format. */
const contents: Record<string, Buffer> = {
  text: Buffer.from('hello\n'),
  'a byte': Buffer.from([0]),
  'UTF-8 with a BOM': Buffer.from('\u{feff}größe 日本 😀 "\\\u2028\r\n'),
  'no UTF-8': Buffer.from([0xff, 0xfe, 0, 0xd8, 10]),
  'letters at the border of a piece': Buffer.from(`${'x'.repeat(48 * 1024 - 1)}😀${'日'.repeat(40_000)}`),
  random: randomBytes(300_001),
  'a block': Buffer.alloc(512, 'b'),
  'a mebibyte': Buffer.alloc(MIB, 'm'),
};

let userId: string;
beforeEach(async () => {
  userId = await newUser(world);
});

/**
 * Stores a paste of each content, oldest first, half of them not uploaded yet.
 * @returns the SHA-256 by name in the archive
 */
async function makePastes(): Promise<Record<string, string>> {
  const expected: Record<string, string> = {};
  for (const [n, [title, content]] of Object.entries(contents).entries()) {
    const facts = { userId, title, createdSecondsAgo: 1000 - n };
    const shortCode = await (n % 2 === 0 ? storedPaste : waitingPaste)(world, content, facts);
    expected[`${shortCode}-${title.replaceAll(/[^\w-]+/g, '_')}${title.includes(' ') ? '.txt' : ''}`] =
      sha256(content);
  }
  return expected;
}

describe('an export', () => {
  it.each(['zip', 'tar.gz'] as const)('contains every paste unchanged: %s', async (format) => {
    const expected = await makePastes();
    const { ending, result, job, progress } = await run(world, 'export', { format }, { userId });
    expect(ending.status).toBe('completed');
    const { key, bytes } = await archiveOf(world, job.jobId);
    expect(result).toEqual({
      exported: 8,
      archives: 1,
      bytes: bytes.length,
      missing: [],
      missing_count: 0,
      left_out: 0,
    });
    expect(key).toBe(`jobs/${job.jobId}/${job.executionId}-1.${format}`);
    const files = await filesIn(format, bytes);
    expect(files).toEqual(expected);
    expect(Object.keys(files)).toEqual(Object.keys(expected)); // oldest first
    expect(progress).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => (99 * n) / 8));
    expect(await openUploads(world.store)).toEqual([]);
  });

  it('contains every paste unchanged: ndjson', async () => {
    const expected = await makePastes();
    const { job, result } = await run(world, 'export', { format: 'ndjson' }, { userId });
    expect(result).toMatchObject({ exported: 8 });
    const { key, bytes } = await archiveOf(world, job.jobId);
    expect(key).toMatch(/\.ndjson$/);
    const lines = linesIn(bytes);
    const contentOf = (line: Record<string, unknown>): Buffer =>
      typeof line.content === 'string'
        ? Buffer.from(line.content)
        : Buffer.from(line.content_base64 as string, 'base64');
    expect(lines.map((line) => sha256(contentOf(line)))).toEqual(Object.values(expected));
    expect(
      lines.filter(({ content_base64: base64 }) => base64 !== undefined).map(({ title }) => title),
    ).toEqual(['no UTF-8', 'random']);
    const row = (await findPaste(world.db, lines[0]!.short_code as string))!;
    expect(lines[0]).toEqual({
      short_code: row.short_code,
      slug: null,
      title: 'text',
      syntax: null,
      encrypted: false,
      visibility: 'unlisted',
      created_at: row.created_at.toISOString(),
      expires_at: null,
      content_hash: `sha256:${sha256('hello\n')}`,
      size_bytes: 6,
      content: 'hello\n',
    });
  });

  it('as NDJSON has the slug of a paste, which an import of it ignores, and the paste keeps', async () => {
    const code = await storedPaste(world, 'named', { userId, slug: 'release-notes' });
    const exported = await run(world, 'export', { format: 'ndjson' }, { userId });
    const { bytes } = await archiveOf(world, exported.job.jobId);
    expect(linesIn(bytes)).toMatchObject([{ short_code: code, slug: 'release-notes' }]);
    const source = await storedPaste(world, bytes, { createdSecondsAgo: 1 });
    const { job, result } = await run(world, 'import', { source_short_code: source }, { userId });
    expect(result).toEqual({ imported: 1, failed: 0, errors: [] });
    const [imported] = await importedBy(world, job.jobId);
    expect(await findPaste(world.db, imported!.short_code)).toMatchObject({ slug: null });
    expect(await findPaste(world.db, code)).toMatchObject({ slug: 'release-notes' });
  });

  it('as NDJSON can be imported again as equal pastes', async () => {
    await makePastes();
    await storedPaste(world, 'private', {
      userId,
      visibility: 'private',
      syntax: 'text',
      createdSecondsAgo: 5,
    });
    const year = 364 * 86_400;
    await storedPaste(world, 'expiring', { userId, expiresInSeconds: year, createdSecondsAgo: 4 });
    const exported = await run(world, 'export', { format: 'ndjson' }, { userId });
    const { bytes } = await archiveOf(world, exported.job.jobId);
    const shortCode = await waitingPaste(world, bytes);
    const services = { maxPasteBytes: 4 * MIB };
    const { job, result } = await run(
      world,
      'import',
      { source_short_code: shortCode },
      { userId, services },
    );
    expect(result).toEqual({ imported: 10, failed: 0, errors: [] });
    const lines = linesIn(bytes);
    const pastes = await importedBy(world, job.jobId);
    expect(
      pastes.map(({ title, syntax, visibility, content_hash }) => [title, syntax, visibility, content_hash]),
    ).toEqual(
      lines.map(({ title, syntax, visibility, content_hash }) => [title, syntax, visibility, content_hash]),
    );
    for (const { content, content_hash } of pastes) expect(`sha256:${sha256(content)}`).toBe(content_hash);
    expect(pastes.slice(0, 9).map(({ expires_in }) => expires_in)).toEqual(
      Array.from({ length: 9 }, () => null),
    );
    expect(Math.abs(pastes[9]!.expires_in! - year)).toBeLessThan(60);
  });

  it.each(['zip', 'tar.gz', 'ndjson'] as const)('without pastes is an empty archive: %s', async (format) => {
    const { ending, result, job } = await run(world, 'export', { format }, { userId });
    const { bytes } = await archiveOf(world, job.jobId);
    expect(ending).toEqual({
      status: 'completed',
      result: { exported: 0, archives: 1, bytes: bytes.length, missing: [], missing_count: 0, left_out: 0 },
    });
    if (format === 'ndjson') expect(result.bytes).toBe(0);
    else expect(await filesIn(format, bytes)).toEqual({});
  });
});

describe('an export contains', () => {
  const exported = async (parameters: object): Promise<unknown[]> => {
    const { job } = await run(world, 'export', { format: 'ndjson', ...parameters }, { userId });
    const { bytes } = await archiveOf(world, job.jobId);
    return linesIn(bytes).map(({ title }) => title);
  };
  const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

  it("the user's own live pastes", async () => {
    await storedPaste(world, 'x', { userId, title: 'own' });
    await storedPaste(world, 'x', {
      userId,
      title: 'own and private',
      visibility: 'private',
      createdSecondsAgo: 5,
    });
    await storedPaste(world, 'x', { userId, title: 'expired', expiresInSeconds: -5 });
    await storedPaste(world, 'x', { userId: await newUser(world), title: "somebody else's" });
    await storedPaste(world, 'x', { title: "nobody's" });
    await pasteRow(world, 'FAILED', Buffer.from('x'), { userId, title: 'failed' });
    expect(await exported({})).toEqual(['own', 'own and private']);
  });

  it('the pastes of a period, given in any time zone', async () => {
    for (const seconds of [4000, 3000, 2000, 1000])
      await storedPaste(world, 'x', { userId, title: `${seconds}`, createdSecondsAgo: seconds });
    expect(await exported({ created_after: ago(3500) })).toEqual(['3000', '2000', '1000']);
    expect(await exported({ created_before: ago(1500) })).toEqual(['4000', '3000', '2000']);
    expect(await exported({ created_after: ago(3500), created_before: ago(1500) })).toEqual(['3000', '2000']);
    const zoned = new Date(Date.now() - 3500 * 1000 + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
    expect(await exported({ created_after: zoned })).toEqual(['3000', '2000', '1000']);
  });

  it('the pastes in a status', async () => {
    await storedPaste(world, 'x', { userId, title: 'stored' });
    await waitingPaste(world, 'x', { userId, title: 'waiting' });
    expect(await exported({ status: 'PROCESSED' })).toEqual(['stored']);
    expect(await exported({ status: 'IN_PROGRESS' })).toEqual(['waiting']);
  });

  it('each paste once when they fill several pages', async () => {
    const titles = Array.from({ length: 1203 }, (_, n) => `${n}`);
    const { makePastes: make } = await import('@pasteflow/postgres/testing');
    await make(world.db, 1203, { status: 'IN_PROGRESS', userId, content: Buffer.from('x') });
    const { job, result } = await run(world, 'export', { format: 'ndjson' }, { userId });
    expect(result).toMatchObject({ exported: titles.length });
    const codes = linesIn((await archiveOf(world, job.jobId)).bytes).map(({ short_code }) => short_code);
    expect(new Set(codes).size).toBe(titles.length);
  });
});

describe('common programs', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pasteflow-exports-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function unpacked(): Promise<Record<string, string>> {
    const files: Record<string, string> = {};
    for (const name of await readdir(folder))
      if (!name.startsWith('export.')) files[name] = sha256(await readFile(join(folder, name)));
    return files;
  }

  const unpack: Record<'zip' | 'tar.gz', readonly (readonly [string, ...string[]])[]> = {
    zip: [
      ['unzip', '-tq', 'export.zip'],
      ['unzip', '-q', 'export.zip'],
    ],
    'tar.gz': [['tar', '-xzf', 'export.tar.gz']],
  };
  for (const format of ['zip', 'tar.gz'] as const) {
    itWith([unpack[format][0]![0]])(
      `unpack it to identical bytes, of the time that the paste was made: ${format}`,
      async () => {
        const expected = await makePastes();
        const odd = { userId, title: '../../etc/größe 日本:*?"<>|.md', createdSecondsAgo: 86_400 };
        const shortCode = await storedPaste(world, 'odd', odd);
        const name = `${shortCode}-etc_größe_日本_.md`.replace('_.md', '.md');
        expected[name] = sha256('odd');
        const { job } = await run(world, 'export', { format }, { userId });
        await writeFile(join(folder, `export.${format}`), (await archiveOf(world, job.jobId)).bytes);
        for (const [binary, ...args] of unpack[format]) call(binary, args, folder);
        expect(await unpacked()).toEqual(expected);
        const { mtimeMs } = await stat(join(folder, name));
        expect(Math.abs(Date.now() - 86_400_000 - mtimeMs)).toBeLessThan(60_000);
      },
    );
  }
});
