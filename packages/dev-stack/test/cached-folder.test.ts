import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cache, cachedFolder } from '../src/folder-lock.ts';

let cache: Cache;
beforeEach(() => {
  cache = { path: mkdtempSync(join(tmpdir(), 'pasteflow-cache-')), keptMs: 3_600_000 };
});
afterEach(() => rmSync(cache.path, { recursive: true, force: true }));

const write =
  (text: string) =>
  async (folder: string): Promise<void> =>
    writeFileSync(join(folder, 'file'), text);

const read = (folder: string): string => readFileSync(join(folder, 'file'), 'utf8');

describe('cachedFolder', () => {
  it('makes a folder once for two callers at the same time', async () => {
    const making = Promise.withResolvers<void>();
    const first = cachedFolder(cache, 'key', async (folder) => {
      await making.promise;
      await write('first')(folder);
    });
    const second = cachedFolder(cache, 'key', write('second'));
    making.resolve();
    expect((await Promise.all([first, second])).map(read)).toEqual(['first', 'first']);
  });

  it('makes the folder anew after a failure that left a file behind', async () => {
    const failing = cachedFolder(cache, 'key', async (folder) => {
      writeFileSync(join(folder, 'half'), '');
      throw new Error('no space');
    });
    await expect(failing).rejects.toThrow('no space');
    const folder = await cachedFolder(cache, 'key', write('whole'));
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('removes folders of other keys when they are older than they are kept', async () => {
    const [old, young] = [
      await cachedFolder(cache, 'old', write('old')),
      await cachedFolder(cache, 'young', write('young')),
    ];
    const twoHoursAgo = Date.now() / 1000 - 7200;
    utimesSync(old, twoHoursAgo, twoHoursAgo);
    const fresh = await cachedFolder(cache, 'new', write('new'));
    expect([old, young, fresh].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  });
});
