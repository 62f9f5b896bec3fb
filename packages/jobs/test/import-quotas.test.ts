import { expect, it } from '@jest/globals';
import { readStoredUsage, type Quotas } from '@pasteflow/postgres';
import { attempt, errorOf, giveUp, newJob, newUser, run } from './support/attempts.ts';
import { importedBy, pasteCount } from './support/pastes.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

const none: Quotas = { maxPastes: null, maxBytes: null, maxStoredPastes: null, maxStoredBytes: null };
const itemsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ content: `item ${n % 10}` }));
const services = (quotas: Quotas) => ({ services: { quotas } });

it.each([
  ['pastes', { ...none, maxPastes: 130 }, 'You store 130 of 130 pastes, '],
  ['bytes', { ...none, maxBytes: 6 * 130 + 5 }, 'You store 780 of 785 bytes, '],
  ['all pastes', { ...none, maxStoredPastes: 130 }, 'This service stores 130 of 130 pastes, '],
  ['all bytes', { ...none, maxStoredBytes: 6 * 130 + 5 }, 'This service stores 780 of 785 bytes, '],
])('an import that uses up the quota of %s ends partial, and says so', async (_, quotas, used) => {
  const userId = await newUser(world);
  const { job, ending, result, uploads } = await run(
    world,
    'import',
    { items: itemsOf(250) },
    { userId, ...services(quotas) },
  );
  expect(ending.status).toBe('partial');
  expect(result).toEqual({ imported: 130, failed: 0, errors: [] });
  expect(errorOf(ending)).toContain('The import has stopped after 130 of 250 entries. ');
  expect(errorOf(ending)).toContain(used);
  expect(uploads).toHaveLength(130);
  expect((await importedBy(world, job.jobId)).map(({ position }) => position)).toEqual(
    Array.from({ length: 130 }, (_each, n) => n),
  );
  expect(await readStoredUsage(world.db, userId)).toEqual({ pastes: 130, bytes: 780 });
});

it('an import that finds the quota used up fails, and makes nothing', async () => {
  const userId = await newUser(world);
  const { ending } = await run(
    world,
    'import',
    { items: itemsOf(3) },
    { userId, ...services({ ...none, maxBytes: 5 }) },
  );
  expect(ending.status).toBe('failed');
  expect(errorOf(ending)).toContain('You store 0 of 5 bytes, and this paste would exceed that.');
  expect(await pasteCount(world)).toBe(0);
});

it('two imports of one user at once share the quota, and a second attempt counts nothing twice', async () => {
  const userId = await newUser(world);
  const quotas = services({ ...none, maxPastes: 150 });
  const jobs = await Promise.all([0, 1].map(() => newJob(world, 'import', { items: itemsOf(100) }, userId)));
  const attempts = await Promise.all(jobs.map((jobId) => attempt(world, jobId, quotas)));
  expect(attempts.map(({ error }) => error)).toEqual([null, null]);
  expect(attempts.map(({ ending }) => ending!.status).toSorted()).toEqual(['completed', 'partial']);
  expect(await readStoredUsage(world.db, userId)).toMatchObject({ pastes: 150 });
  await giveUp(world, attempts[0]!);
  expect((await attempt(world, jobs[0]!, quotas)).error).toBeNull();
  expect(await readStoredUsage(world.db, userId)).toMatchObject({ pastes: 150 });
});
