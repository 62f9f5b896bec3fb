import { describe, expect, it } from '@jest/globals';
import { newUser, run } from './support/attempts.ts';
import { importedBy, waitingPaste } from './support/pastes.ts';
import { tarGzOf } from './support/tar.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

describe('an archive', () => {
  it('with ten thousand files is imported', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({ name: `${n}.txt`, content: `file ${n}` }));
    const userId = await newUser(world);
    const shortCode = await waitingPaste(world, tarGzOf(many));
    const { job, result, progress } = await run(
      world,
      'import',
      { source_short_code: shortCode },
      { userId },
    );
    expect(result).toEqual({ imported: 10_000, failed: 0, errors: [] });
    const pastes = await importedBy(world, job.jobId);
    expect(pastes.map(({ title, content }) => [title, String(content)])).toEqual(
      many.map(({ name, content }) => [name, content]),
    );
    expect(progress).toHaveLength(100);
  });
});
