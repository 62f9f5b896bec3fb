import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { placedFiles } from '@pasteflow/domain';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { processedPaste } from './support/pastes.ts';

const bed = useApi();

type Files = Readonly<Record<string, string | Buffer>>;

const put = (files: Files, parent?: string): Promise<string> => {
  const parts = Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) }));
  const placed = placedFiles(
    parts.map(({ name, content }) => ({ name, size: content.length, syntax: null })),
  );
  return processedPaste(bed, Buffer.concat(parts.map(({ content }) => content)), {
    ...(parent !== undefined && { parent }),
    ...(placed.length > 1 && { files: placed }),
  });
};

async function diffOf(from: Files, to: Files, accept = '*/*'): Promise<string> {
  const code = await put(to, await put(from));
  const answer = await fetch(`${bed.api.url}/${code}/diff`, { headers: { accept } });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer()).toString('latin1');
}

const from: Files = {
  'kept.txt': 'kept\n',
  'src/changed.ts': 'one\ntwo\nthree\n',
  'old name.txt': 'moved\n',
  'gone.txt': 'gone\n',
  'none before': '',
};
const to: Files = {
  'kept.txt': 'kept\n',
  'src/changed.ts': 'one\n2\nthree\n',
  'new/ä name.txt': 'moved\n',
  'new.txt': 'new',
  'none now': '',
};

describe('the diff of pastes with several files', () => {
  it('says of each file whether it was changed, renamed, added or removed', async () => {
    expect(await diffOf(from, to)).toBe(
      Buffer.from(`diff --git a/src/changed.ts b/src/changed.ts
--- a/src/changed.ts
+++ b/src/changed.ts
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/old name.txt b/new/ä name.txt
similarity index 100%
rename from old name.txt
rename to new/ä name.txt
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1,1 @@
+new
\\ No newline at end of file
diff --git a/none now b/none now
new file mode 100644
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1,1 +0,0 @@
-gone
diff --git a/none before b/none before
deleted file mode 100644
`).toString('latin1'),
    );
  });

  it.each<[string, Files, Files]>([
    ['all kinds of changes', from, to],
    ['the other way round', to, from],
    ['a name with blanks', { 'a b': 'x\n', c: 'y' }, { 'a b': 'z\n', c: 'y', 'd e': 'w' }],
    [
      'bytes that are no text',
      { a: Buffer.from([0, 255, 10]), b: 'x' },
      { a: Buffer.from([0, 254, 10, 13]), b: 'x' },
    ],
    ['two files that change places', { a: 'A\n', b: 'B\n' }, { a: 'B\n', b: 'A\n' }],
    ['one of equal files that is renamed', { a: 'x', b: 'x', c: 'x' }, { a: 'x', d: 'x', e: 'x' }],
    ['a file that becomes empty', { a: 'x\n', b: 'y' }, { a: '', b: 'y' }],
  ])('is a patch that git applies: %s', async (_name, older, newer) => {
    const patch = await diffOf(older, newer);
    const folder = await mkdtemp(join(tmpdir(), 'patch-'));
    try {
      for (const [name, content] of Object.entries(older)) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), content);
      }
      const run = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], {
        cwd: folder,
        input: Buffer.from(patch, 'latin1'),
      });
      if (run.error !== undefined) return; // the machine has no git
      expect([String(run.stderr), run.status]).toEqual(['', 0]);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const found = entries.filter((entry) => entry.isFile());
      const names = found.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
      expect(names.toSorted()).toEqual(Object.keys(newer).toSorted());
      for (const name of names)
        expect((await readFile(join(folder, name))).equals(Buffer.from(newer[name]!))).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is empty for the same files, although their contents may follow each other in another order', async () => {
    expect(await diffOf({ a: 'x', b: 'y' }, { b: 'y', a: 'x' })).toBe('');
    expect(await diffOf({ a: 'x', b: 'y' }, { b: 'y', a: 'x' }, 'text/html')).toContain(
      'The texts are equal.',
    );
  });

  it('of a paste without files has its title, or its code where that is no name of a file', async () => {
    for (const title of ['main.ts', 'no/../name', null]) {
      const older = await processedPaste(bed, 'x\n');
      await bed.db.updateTable('pastes').set({ title }).where('short_code', '=', older).execute();
      const newer = await put({ 'main.ts': 'y\n', b: 'b\n' }, older);
      const text = await (await fetch(`${bed.api.url}/${newer}/diff`)).text();
      expect(text).toContain(
        title === 'main.ts' ? '--- a/main.ts\n+++ b/main.ts' : `--- a/${older}\n+++ /dev/null`,
      );
    }
  });

  it('is a page with a part for each file, in its language', async () => {
    const page = Buffer.from(await diffOf(from, to, 'text/html'), 'latin1').toString();
    const parts = [
      ...page.matchAll(/data-language="([^"]*)">\n<h2><bdi>([^<]*)<\/bdi> <span class="badge">([^<]*)/g),
    ];
    expect(parts.map(([, ...part]) => part)).toEqual([
      ['typescript', 'src/changed.ts', 'Changed'],
      ['text', 'new/ä name.txt', 'Renamed'],
      ['text', 'new.txt', 'Added'],
      ['', 'none now', 'Added'],
      ['text', 'gone.txt', 'Removed'],
      ['', 'none before', 'Removed'],
    ]);
    expect(page).toContain('The name before: <bdi>old name.txt</bdi>');
    expect(page).toContain('+2 added, -2 removed');
  });

  it('counts the lines and the work of all files together', async () => {
    const lines = 'x\n'.repeat(30);
    const many = (first: string): Files =>
      Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, first + lines]));
    expect(await diffOf(many('a\n'), many('b\n'))).toContain('b/f99');
    const long = (first: string): Files => ({ a: first + 'x\n'.repeat(3000), b: first + 'x\n'.repeat(3000) });
    const code = await put(long('b\n'), await put(long('a\n')));
    expect(await problemOf(await fetch(`${bed.api.url}/${code}/diff`))).toMatchObject({
      status: 409,
      code: 'diff_unavailable',
    });
  });

  it('has another tag when the paste without files gets another title', async () => {
    const older = await processedPaste(bed, 'x\n');
    const newer = await put({ a: 'x\n', b: 'y\n' }, older);
    const tag = async () => (await fetch(`${bed.api.url}/${newer}/diff`)).headers.get('etag');
    const before = await tag();
    await bed.db.updateTable('pastes').set({ title: 'a' }).where('short_code', '=', older).execute();
    expect(await tag()).not.toBe(before);
  });
});
