import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { storedOptionNames, valuesOf } from '@pasteflow/domain';
import type { ExportedFile } from '../src/types/export/archive-formats.ts';
import { archiveFormats } from '../src/types/export/archive-formats.ts';

const MIB = 1024 * 1024;
const names = ['zip', 'tar.gz', 'ndjson'] as const;

const fileOf = (n: number, content: Buffer): ExportedFile => ({
  content,
  paste: {
    ...valuesOf(storedOptionNames, {}),
    id: 'id',
    shortCode: `code${n}`,
    status: 'PROCESSED',
    contentHash: 'sha256:',
    sizeBytes: content.length,
    createdAt: new Date(0),
    expiresAt: null,
    place: { createdAt: '', id: '' },
  },
});

interface Source {
  readonly files: AsyncGenerator<ExportedFile>;
  readonly given: () => number;
  readonly ended: () => boolean;
}

function source(count: number, at: (n: number) => ExportedFile): Source {
  let given = 0;
  let ended = false;
  async function* files(): AsyncGenerator<ExportedFile> {
    try {
      for (; given < count; given += 1) yield at(given);
    } finally {
      ended = true;
    }
  }
  return { files: files(), given: () => given, ended: () => ended };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe.each(names)('an archive that is being written: %s', (name) => {
  const large = () => source(12, (n) => fileOf(n, randomBytes(MIB)));

  it('requests no more files than its reader needs', async () => {
    const { files, given } = large();
    const archive = archiveFormats[name].write(files);
    let read = 0;
    for await (const piece of archive as AsyncIterable<Buffer>) {
      read += piece.length;
      if (given() * MIB - read > 4 * MIB)
        throw new Error(`${given()} files are taken, and ${read} bytes are read`);
    }
    expect(given()).toBe(12);
  });

  it.each([undefined, new Error('mine')])(
    'takes no more when it is destroyed with %p, and raises nothing else',
    async (reason) => {
      const { files, given, ended } = large();
      const archive = archiveFormats[name].write(files);
      const failure = new Promise((resolve) => archive.once('close', () => resolve(archive.errored)));
      archive.on('error', () => {});
      archive.once('readable', () => archive.destroy(reason));
      expect(await failure).toBe(reason ?? null);
      await until(ended);
      expect(given()).toBeLessThan(5);
    },
  );

  it('fails with the error of its files', async () => {
    const failure = new Error('the files broke off');
    const { files } = source(30, (n) => {
      if (n === 5) throw failure;
      return fileOf(n, randomBytes(MIB));
    });
    const reading = (async () => {
      for await (const _ of archiveFormats[name].write(files));
    })();
    await expect(reading).rejects.toBe(failure);
  });
});
