import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { crc32, gzipSync } from 'node:zlib';
import { contentHashOf } from '@pasteflow/service-kit';
import { errorOf, newUser, run } from './support/attempts.ts';
import { call, itWith } from './support/binaries.ts';
import { importedBy, storedPaste, waitingPaste, type ImportedPasteRow } from './support/pastes.ts';
import { paxRecords, tarGzOf, tarOf, TAR_END } from './support/tar.ts';
import { useWorld } from './support/world.ts';
import { zipOf } from './support/zip.ts';

const world = useWorld();
const MIB = 1024 * 1024;

async function imported(source: Buffer, parameters: object = {}) {
  const userId = await newUser(world);
  const shortCode = await waitingPaste(world, source);
  const made = await run(world, 'import', { source_short_code: shortCode, ...parameters }, { userId });
  return { ...made, pastes: await importedBy(world, made.job.jobId) };
}

const files = [
  { name: 'notes/todo.txt', content: Buffer.from('milk\n') },
  { name: 'notes/deep/größe 日本.md', content: Buffer.from('# ß\n') },
  { name: 'binary', content: randomBytes(100_000) },
  { name: 'text', content: Buffer.from('ab'.repeat(200_000)) },
];
/** Compared as hashes, because jest takes seconds to compare buffers of 400 KB. */
const asPastes = files.map(({ name, content }) => [name, contentHashOf(content)]);
const factsOf = (pastes: readonly ImportedPasteRow[]) =>
  pastes.map(({ title, content }) => [title, contentHashOf(content)]);

/** The field 0x7075 of Info-ZIP, which counts only for the name that its checksum is of. */
function unicodePath(name: string, unicode: string): Buffer {
  const path = Buffer.from(unicode);
  const head = Buffer.alloc(9);
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(5 + path.length, 2);
  head.writeUInt8(1, 4);
  head.writeUInt32LE(crc32(Buffer.from(name)), 5);
  return Buffer.concat([head, path]);
}

describe('an archive made by a common program', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pasteflow-archives-'));
    await mkdir(join(folder, 'notes/deep'), { recursive: true });
    for (const { name, content } of files) await writeFile(join(folder, name), content);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const names = files.map(({ name }) => name);
  const commands: Record<string, readonly [string, ...string[]]> = {
    zip: ['zip', '-q', 'made.zip', 'notes/', ...names],
    'zip, uncompressed and streamed': ['zip', '-q', '-0', '-fd', 'made.zip', ...names],
    tar: ['tar', '-cf', 'made.tar', '--no-recursion', 'notes', ...names],
    'tar of pax': ['tar', '--format=pax', '-cf', 'made.tar', ...names],
    'tar of before 1988': ['tar', '--format=v7', '-cf', 'made.tar', ...names],
    'tar with ./': ['tar', '-cf', 'made.tar', ...names.map((name) => `./${name}`)],
    'tar.gz': ['tar', '-czf', 'made.tar.gz', ...names],
  };
  for (const [name, [binary, ...args]] of Object.entries(commands)) {
    itWith([binary])(`becomes a paste a file: ${name}`, async () => {
      call(binary, args, folder);
      const file = args.find((arg) => arg.startsWith('made')) as string;
      const { ending, result, pastes } = await imported(await readFile(join(folder, file)));
      await rm(join(folder, file));
      expect(ending.status).toBe('completed');
      expect(result).toEqual({ imported: 4, failed: 0, errors: [] });
      expect(factsOf(pastes)).toEqual(asPastes);
    });
  }
});

describe('an archive', () => {
  it('becomes one paste for each file, in the order of the files', async () => {
    for (const source of [tarOf(files), tarGzOf(files), zipOf(files)]) {
      const { pastes } = await imported(source);
      expect(factsOf(pastes)).toEqual(asPastes);
      expect(pastes.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
    }
  });

  it('becomes no paste for what macOS has added, and the result says which files those are', async () => {
    const appleDouble = Buffer.concat([Buffer.from([0, 5, 0x16, 7, 0, 2, 0, 0]), randomBytes(100)]);
    const ofMac = [
      { name: '.DS_Store', content: randomBytes(100) },
      { name: 'a.txt', content: 'a' },
      { name: '__MACOSX/._a.txt', content: appleDouble },
      { name: 'b/.DS_Store', content: randomBytes(100) },
      { name: 'b/._b.txt', content: appleDouble },
      { name: 'b/._settings', content: 'a text of somebody who likes such names' },
      { name: 'b/DS_Store', content: 'x' },
    ];
    for (const source of [zipOf(ofMac), tarGzOf(ofMac)]) {
      const { ending, result, pastes } = await imported(source);
      expect(ending.status).toBe('completed');
      expect(result).toEqual({
        imported: 3,
        failed: 0,
        errors: [],
        skipped: 4,
        skipped_files: [0, 2, 3, 4].map((position) => ({ position, name: ofMac[position]!.name })),
      });
      expect(pastes.map(({ position, title }) => [position, title])).toEqual([
        [1, 'a.txt'],
        [5, 'b/._settings'],
        [6, 'b/DS_Store'],
      ]);
    }
  });

  it('applies the visibility and expiry of the parameters to its files', async () => {
    const { pastes } = await imported(zipOf(files), { visibility: 'private', expires_in: 3600 });
    expect(new Set(pastes.map(({ visibility, expires_in }) => `${visibility} ${expires_in}`))).toEqual(
      new Set(['private 3600']),
    );
    const unless = await imported(zipOf(files));
    expect(unless.pastes[0]).toMatchObject({ visibility: 'unlisted', expires_in: 30 * 86_400 });
  });

  it('may contain several files with the same name', async () => {
    const twice = [
      { name: 'a', content: 'one' },
      { name: 'a', content: 'two' },
    ];
    for (const source of [tarOf(twice), zipOf(twice)]) {
      const { pastes } = await imported(source);
      expect(pastes.map(({ title, content }) => [title, String(content)])).toEqual([
        ['a', 'one'],
        ['a', 'two'],
      ]);
    }
  });

  it('inside another archive is a file like any other', async () => {
    const inner = zipOf(files);
    const { pastes } = await imported(zipOf([{ name: 'inner.zip', content: inner }]));
    expect(factsOf(pastes)).toEqual([['inner.zip', contentHashOf(inner)]]);
  });

  it('with invalid files is imported partially, and lists them with reasons', async () => {
    const mixed = [
      { name: 'good', content: 'x' },
      { name: 'empty', content: '' },
      { name: 'large', content: Buffer.alloc(MIB + 1) },
      { name: 'as large as may be', content: Buffer.alloc(MIB) },
      { name: 'a\nb', content: 'x' },
    ];
    const errors = [
      { position: 1, name: 'empty', reason: 'content: must not be empty' },
      { position: 2, name: 'large', reason: 'content: must have at most 1048576 bytes' },
      { position: 4, name: 'a\nb', reason: 'title: must not have control characters' },
    ];
    for (const source of [tarOf(mixed), tarGzOf(mixed), zipOf(mixed)]) {
      const { ending, result, pastes } = await imported(source);
      expect(ending.status).toBe('partial');
      expect(errorOf(ending)).toBe('3 of 5 entries are not valid pastes; result.errors says why.');
      expect(result).toEqual({ imported: 2, failed: 3, errors });
      expect(pastes.map(({ position }) => position)).toEqual([0, 3]);
    }
  });

  it('without files completes without pastes', async () => {
    const folder = [{ name: 'folder/', type: '5', mode: 0o040755 }];
    for (const source of [
      TAR_END,
      tarOf(folder),
      tarOf([{ name: 'v7/' }]),
      gzipSync(TAR_END),
      zipOf([]),
      zipOf(folder),
    ]) {
      const { ending, result, pastes } = await imported(source);
      expect(ending.status).toBe('completed');
      expect(result).toEqual({ imported: 0, failed: 0, errors: [] });
      expect(pastes).toEqual([]);
    }
  });

  it('lists a thousand errors, and counts all', async () => {
    const many = Array.from({ length: 1500 }, (_, n) => ({ name: `${n}`, content: '' }));
    const { ending, result } = await imported(tarOf(many));
    expect(ending.status).toBe('failed');
    expect(result).toMatchObject({ imported: 0, failed: 1500 });
    expect(result.errors).toHaveLength(1000);
  });

  it('may consist of several gzip members with zeros after them', async () => {
    const tar = tarOf(files);
    const source = Buffer.concat([
      gzipSync(tar.subarray(0, 1000)),
      gzipSync(tar.subarray(1000)),
      Buffer.alloc(700),
    ]);
    expect(factsOf((await imported(source)).pastes)).toEqual(asPastes);
  });

  it('may have names in the encodings of ustar, pax, GNU and DOS', async () => {
    const long = `${'folder/'.repeat(20)}file`;
    const cut = `${'a'.repeat(99)}/`;
    const tar = tarOf([
      { name: 'pax', type: 'x', content: paxRecords({ path: './ä.txt' }) },
      { name: 'short', content: 'x' },
      { name: '././@LongLink', type: 'L', content: `${long}\0` },
      { name: 'short', content: 'x' },
      { name: '././@LongLink', type: 'L', content: `${cut}file\0` },
      { name: cut, content: 'x' },
      { name: 'file', prefix: 'folder/ä', content: 'x' },
    ]);
    const titles = (await imported(tar)).pastes.map(({ title }) => title);
    expect(titles).toEqual(['ä.txt', long, `${cut}file`, 'folder/ä/file']);
    const zip = zipOf([
      { name: Buffer.from('ä.txt'), flags: 0, content: 'x' },
      { name: Buffer.from([0x84, 0x2e, 0x74]), flags: 0, content: 'x' },
      { name: '__.txt', flags: 0, content: 'x', extra: unicodePath('__.txt', '日本.txt') },
      { name: 'renamed.txt', content: 'x', extra: unicodePath('__.txt', '日本.txt') },
      { name: 'ö.txt', flags: 0, content: 'x', extra: unicodePath('__.txt', '日本.txt') },
    ]);
    expect((await imported(zip)).pastes.map(({ title }) => title)).toEqual([
      'ä.txt',
      'ä.t',
      '日本.txt',
      'renamed.txt',
      'ö.txt',
    ]);
  });

  it('shortens a path that is too long for a title, at a folder if possible', async () => {
    const { pastes } = await imported(
      zipOf([
        { name: `${'a/'.repeat(150)}file.txt`, content: 'x' },
        { name: '日'.repeat(300), content: 'x' },
      ]),
    );
    expect(pastes.map(({ title }) => title)).toEqual([
      `…${'/a'.repeat(95)}/file.txt`,
      `…${'日'.repeat(199)}`,
    ]);
  });

  it('is read from S3 after its upload', async () => {
    const userId = await newUser(world);
    const shortCode = await storedPaste(world, zipOf(files));
    const { job } = await run(world, 'import', { source_short_code: shortCode }, { userId });
    expect(factsOf(await importedBy(world, job.jobId))).toEqual(asPastes);
  });
});
