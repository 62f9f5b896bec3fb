import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { hostileFileNames } from '@pasteflow/dev-stack/testing';
import { placedFiles, type PasteFile } from '@pasteflow/domain';
import { pastesOfArchive } from '../src/types/import/archive-pastes.ts';
import { errorOf, newUser, run } from './support/attempts.ts';
import { call, itWith } from './support/binaries.ts';
import { archiveOf, linesIn } from './support/exports.ts';
import { importedBy, storedPaste, waitingPaste, type ImportedPasteRow } from './support/pastes.ts';
import { tarGzOf } from './support/tar.ts';
import { useWorld } from './support/world.ts';
import { zipOf } from './support/zip.ts';

const world = useWorld();
const MIB = 1024 * 1024;

let userId: string;
beforeEach(async () => {
  userId = await newUser(world);
});

/** A character is split over two files; one file is empty, and one is no text. */
const parts: readonly (readonly [name: string, syntax: string | null, content: Buffer])[] = [
  ['src/größe.ts', 'typescript', Buffer.from('const x = "é').subarray(0, 12)],
  ['src/rest', null, Buffer.from('é";\r\n').subarray(1)],
  ['empty', null, Buffer.alloc(0)],
  ['data.bin', null, Buffer.from([0xff, 0xfe, 0, 10])],
  ['README.md', 'markdown', Buffer.from('\u{feff}# "x"\n')],
];
const content = Buffer.concat(parts.map(([, , bytes]) => bytes));
const files = placedFiles(parts.map(([name, syntax, bytes]) => ({ name, syntax, size: bytes.length })));
const withoutSyntax = (all: readonly PasteFile[]) => all.map((file) => ({ ...file, syntax: null }));

async function exported(format: string): Promise<Buffer> {
  const { job } = await run(world, 'export', { format }, { userId });
  return (await archiveOf(world, job.jobId)).bytes;
}

async function imported(source: Buffer | object[], parameters: object = {}) {
  const of = Array.isArray(source)
    ? { items: source }
    : { source_short_code: await waitingPaste(world, source, { userId }) };
  const made = await run(
    world,
    'import',
    { ...of, ...parameters },
    { userId, services: { maxPasteBytes: MIB } },
  );
  return { ...made, pastes: await importedBy(world, made.job.jobId) };
}

const factsOf = ({ title, files: of, content: bytes }: ImportedPasteRow) => ({
  title,
  files: of,
  content: bytes,
});

describe('an export of a paste with several files', () => {
  let code: string;
  beforeEach(async () => {
    await storedPaste(world, 'alone', { userId, title: 'alone', createdSecondsAgo: 9 });
    code = await storedPaste(world, content, { userId, title: 'My notes.md', files, createdSecondsAgo: 8 });
    await waitingPaste(world, 'last', { userId, title: 'last', createdSecondsAgo: 7 });
  });

  it('as NDJSON has the files, of which an import makes the same ones', async () => {
    const bytes = await exported('ndjson');
    const [, line] = linesIn(bytes);
    expect(line).toMatchObject({
      title: 'My notes.md',
      size_bytes: content.length,
      files: parts.map(([name, syntax, each]) => ({
        name,
        syntax,
        ...([0, 1, 3].includes(parts.findIndex(([other]) => other === name))
          ? { content_base64: each.toString('base64') }
          : { content: each.toString() }),
      })),
    });
    expect(line).not.toHaveProperty('content');
    const { result, pastes } = await imported(bytes);
    expect(result).toEqual({ imported: 3, failed: 0, errors: [] });
    expect(factsOf(pastes[1]!)).toEqual({ title: 'My notes.md', files, content });
    expect(pastes.map(({ files: of }) => of === null)).toEqual([true, false, true]);
  });

  it.each(['zip', 'tar.gz'])(
    'as a %s has a folder, of which an import makes the same files',
    async (format) => {
      const { result, pastes } = await imported(await exported(format));
      expect(result).toEqual({ imported: 3, failed: 0, errors: [] });
      expect(pastes.map(({ position }) => position)).toEqual([0, 1, 6]);
      expect(factsOf(pastes[1]!)).toEqual({
        title: `${code}-My_notes`,
        files: withoutSyntax(files),
        content,
      });
    },
  );

  itWith(['unzip', 'tar'])('unpacks into the files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pasteflow-files-'));
    try {
      await writeFile(join(folder, 'a.zip'), await exported('zip'));
      call('unzip', ['-q', 'a.zip'], folder);
      await writeFile(join(folder, 'a.tar.gz'), await exported('tar.gz'));
      call('tar', ['-xzf', 'a.tar.gz', '--one-top-level=tar'], folder);
      for (const [name, , bytes] of parts)
        for (const root of ['', 'tar'])
          expect(await readFile(join(folder, root, `${code}-My_notes`, name))).toEqual(bytes);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('an import of an archive as one paste', () => {
  const entries = parts.map(([name, , bytes]) => ({ name, content: bytes }));
  it.each([
    ['zip', zipOf(entries)],
    ['tar.gz', tarGzOf(entries)],
  ])('makes one paste of all its files: %s', async (_name, archive) => {
    const { result, pastes } = await imported(archive, { as_one_paste: true });
    expect(result).toEqual({ imported: 1, failed: 0, errors: [] });
    expect(pastes.map(factsOf)).toEqual([{ title: null, files: withoutSyntax(files), content }]);
    expect((await imported(archive)).pastes).toHaveLength(4);
  });

  it('leaves out what macOS has added', async () => {
    const archive = zipOf([
      { name: '.DS_Store', content: 'x' },
      { name: 'a', content: 'a' },
      { name: '._a', content: Buffer.from([0, 5, 0x16, 7]) },
      { name: 'b', content: 'b' },
    ]);
    const { result, pastes } = await imported(archive, { as_one_paste: true });
    expect(result).toMatchObject({ imported: 1, skipped: 2 });
    expect(pastes).toMatchObject([{ files: [{ name: 'a' }, { name: 'b' }], content: Buffer.from('ab') }]);
  });

  it('of one file is a paste with its name', async () => {
    const { pastes } = await imported(zipOf([{ name: 'a/b', content: 'x' }]), { as_one_paste: true });
    expect(pastes).toMatchObject([{ title: 'a/b', files: null }]);
  });

  it.each([
    [
      '101 files',
      Array.from({ length: 101 }, (_, n) => ({ name: `${n}`, content: 'x' })),
      'more than 100 files',
    ],
  ])('is refused with %s', async (_name, of, message) => {
    const { ending, pastes } = await imported(zipOf(of), { as_one_paste: true });
    expect(errorOf(ending)).toContain(message);
    expect(pastes).toEqual([]);
  });

  it.each([
    [
      'a name that is refused',
      [
        { name: 'nul', content: 'x' },
        { name: 'b', content: 'x' },
      ],
      'files.0.name: must not',
    ],
    [
      'too much content',
      ['a', 'b'].map((name) => ({ name, content: Buffer.alloc(MIB - 1, name) })),
      'content: must have at most',
    ],
    ['empty files', ['a', 'b'].map((name) => ({ name, content: '' })), 'content: must not be empty'],
  ])('makes none of %s', async (_name, of, reason) => {
    const { result, pastes } = await imported(zipOf(of), { as_one_paste: true });
    expect(result).toMatchObject({
      imported: 0,
      failed: 1,
      errors: [{ reason: expect.stringContaining(reason) }],
    });
    expect(pastes).toEqual([]);
  });

  it('keeps no content of a paste that has too much', async () => {
    const pastes = pastesOfArchive(
      Readable.from(['a', 'b', 'c'].map((name) => ({ name, content: Buffer.alloc(6) }))),
      { asOnePaste: true, maxBytes: 10 },
    );
    const { value } = await pastes.next();
    expect(value).toMatchObject({ files: [{ content: null }, { content: null }, { content: null }] });
  });

  it('is refused for NDJSON', async () => {
    const { ending } = await imported(Buffer.from('{"content":"x"}\n'), { as_one_paste: true });
    expect(errorOf(ending)).toContain('only an archive can be one paste');
  });
});

describe('a hostile name of a file', () => {
  it('is refused in items and in NDJSON', async () => {
    const items = hostileFileNames.map((name) => ({
      files: ['other', name].map((each) => ({ name: each, content: 'x' })),
    }));
    const storable = items.filter(({ files: [, file] }) => file?.name.includes('\0') === false); // the api refuses a NUL
    for (const source of [storable, Buffer.from(items.map((item) => JSON.stringify(item)).join('\n'))]) {
      const { result, pastes } = await imported(source);
      expect(result).toMatchObject({
        imported: 0,
        failed: Array.isArray(source) ? storable.length : items.length,
        errors: (Array.isArray(source) ? storable : items).map(() => ({
          reason: expect.stringMatching(/^files\.1\.name: must /),
        })),
      });
      expect(pastes).toEqual([]);
    }
  });

  it('is refused in an archive that is to be one paste', async () => {
    for (const name of hostileFileNames) {
      const source = zipOf(['other', name].map((each) => ({ name: each, content: 'x' })));
      const { pastes } = await imported(source, { as_one_paste: true });
      // What names a folder is none of its files, and an import has always left out `./` and empty parts.
      const written = pastes.flatMap(({ title, files: of }) => of?.map((file) => file.name) ?? [title]);
      const others = written.filter((each) => each !== 'other' && hostileFileNames.includes(String(each)));
      expect([name, others]).toEqual([name, []]);
    }
  });
});

describe('an item with several files', () => {
  const two = [
    { name: 'a', content: 'x' },
    { name: 'b', content_base64: '/w==' },
  ];
  it('is one paste of text and bytes', async () => {
    const { pastes } = await imported([{ files: two, title: 'T' }]);
    expect(pastes.map(factsOf)).toEqual([
      {
        title: 'T',
        files: placedFiles([
          { name: 'a', size: 1, syntax: null },
          { name: 'b', size: 1, syntax: null },
        ]),
        content: Buffer.from([120, 255]),
      },
    ]);
  });

  it.each([
    [{ files: two, content: 'x' }, 'content: cannot be combined with files'],
    [{ files: two, content_base64: 'eA==' }, 'content_base64: cannot be combined with files'],
    [{ files: [...two, { name: 'c' }] }, 'files.2.content: is required unless'],
    [{ files: [...two, { name: 'c', content_base64: '?' }] }, 'files.2.content_base64: must be base64'],
    [{ files: [...two, { name: '../c', content: '' }] }, 'files.2.name: must not have . or .. as a part'],
    [{ files: two, syntax: 'python' }, 'syntax: must be empty'],
    [{ files: [] }, 'files: must have at least one file'],
    [{ files: two, encrypted: true }, 'files: must be empty for an encrypted paste'],
  ])('is refused: %j', async (item, reason) => {
    const { result } = await imported([item]);
    expect(result).toMatchObject({ failed: 1, errors: [{ reason: expect.stringContaining(reason) }] });
  });
});
