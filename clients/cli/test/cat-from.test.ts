import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { problem, useBed } from './support/bed.ts';

const bed = useBed();
const CODE = 'q7Zk2Lm9Xa';

describe('pasteflow cat', () => {
  it('needs --reveal for a paste that is deleted when it is read', async () => {
    bed.script(problem(403, 'reveal_required', 'Read it once with: curl -X POST https://x/y'));
    const { code, stderr } = await bed.run(['cat', CODE]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('pasteflow cat --reveal')]);
  });
});

describe('pasteflow cat --from', () => {
  it.each([
    [['--reveal', CODE], 'Choose one of them'],
    [[CODE, CODE], '--from is for one paste'],
  ])('is refused with 2 in %j', async (args, message) => {
    const { code, stderr } = await bed.run(['cat', '--from', 'x', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(bed.requests).toEqual([]);
  });

  it('says that the file is not there', async () => {
    const missing = join(bed.home, 'missing');
    const { code, stderr } = await bed.run(['cat', '--from', missing, CODE]);
    expect([code, stderr]).toEqual([1, `pasteflow: ${missing}: There is no such file or folder.\n`]);
  });

  it('prints content that is not encrypted', async () => {
    const path = join(bed.home, 'content');
    await writeFile(path, 'plain');
    await chmod(path, 0o600);
    expect((await bed.run(['cat', '--from', path, CODE])).stdout).toBe('plain');
  });
});
