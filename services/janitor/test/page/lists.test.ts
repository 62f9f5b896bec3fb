import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { makeJobs, makePastes } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { runOpsCommand } from '../../src/operations/commands/run-ops-command.ts';
import { createWorld, type World } from '../world.ts';
import { openPage, READ_TOKEN, type OpenPage } from './open-page.ts';

let world: World;
let page: OpenPage;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  await world.reset();
  page = await openPage(world);
});
afterEach(() => page.stop());

/** The markup of the main part, and what a row is about. */
async function look(path: string) {
  const { status, body } = await page.call(path);
  expect([path, status]).toEqual([path, 200]);
  const main = /<main[^]*<\/main>/.exec(body)?.[0] ?? '';
  const next = /href="([^"]*)" rel="next"/.exec(main)?.[1]?.replaceAll('&amp;', '&') ?? null;
  return { body, main, next, codes: [...main.matchAll(/href="\/pastes\/(\w+)"/g)].map(([, code]) => code) };
}

const place = (name: string, label: string, count: string) =>
  new RegExp(`<a href="/${name}"( aria-current="page")?>${label} <span class="count">${count}</span></a>`);

describe('the lists of the operations page', () => {
  it('counts what there is in the navigation of every page, and names the place', async () => {
    await makePastes(world.db, 1200, { status: 'PROCESSED' });
    await makePastes(world.db, 2, { status: 'FAILED' });
    await sql`INSERT INTO failed_payloads SELECT id, 'x' FROM pastes WHERE status = 'FAILED'`.execute(
      world.db,
    );
    await makeJobs(world.db, 3, { userId: world.userId, status: 'completed' });
    for (const path of ['/', '/pastes', '/failed', '/reports', '/workers']) {
      const { body } = await look(path);
      expect([path, body.match(/.*\b120\d\b.*/)]).toEqual([path, null]); // each number is written 1,202
      expect(body).toMatch(place('pastes', 'Pastes', '1,202'));
      expect(body).toMatch(place('users', 'Users', '1'));
      expect(body).toMatch(place('jobs', 'Jobs', '3'));
      expect(body).toMatch(place('failed', 'Failed uploads', '2'));
      expect(body).toMatch(new RegExp(`<a href="${path}" aria-current="page">`));
    }
    const refused = await page.call('/pastes', { token: null });
    expect([refused.status, refused.body.includes('class="places"')]).toEqual([401, false]);
  });

  it('shows pastes in pages, by title, user and state, with their titles and never a content', async () => {
    const { db, userId } = world;
    await makePastes(db, 60, { status: 'PROCESSED', content: Buffer.from('the-content') });
    await makePastes(db, 1, { status: 'PROCESSED', shortCodes: ['mine'], userId, visibility: 'private' });
    await makePastes(db, 1, { status: 'FAILED', shortCodes: ['failed'], userId });
    await sql`UPDATE pastes SET title = '<b>Notes</b> of May' WHERE short_code = 'mine'`.execute(db);
    const first = await look('/pastes');
    expect(first.codes.slice(0, 2)).toEqual(['failed', 'mine']);
    expect(first.main).toContain('<bdi>&lt;b&gt;Notes&lt;/b&gt; of May</bdi>');
    const second = await look(first.next!);
    expect([first.codes.length, second.codes.length, second.next]).toEqual([50, 12, null]);
    expect(new Set([...first.codes, ...second.codes]).size).toBe(62);
    expect(first.body + second.body).not.toContain('the-content');
    const { name } = await db.selectFrom('users').select('name').executeTakeFirstOrThrow();
    expect((await look('/pastes?title=NOTES&owner=')).codes).toEqual(['mine']);
    expect((await look(`/pastes?state=failed&owner=${name}`)).codes).toEqual(['failed']);
    const ofUser = await look(`/pastes?owner=${userId}&title=&state=there`);
    expect(ofUser.codes).toEqual(['failed', 'mine']);
    expect(ofUser.main).toContain(`<a href="/users/${userId}"><bdi>${name}</bdi></a>`);
    expect((await look('/pastes?title=nothing')).main).toContain('Nothing was found.');
    expect((await look('/pastes?owner=%3Ci%3E')).main).toContain('There is no user &lt;i&gt;.');
    for (const query of ['title=%00', 'cursor=x', 'owner=a%00'])
      expect([query, (await page.call(`/pastes?${query}`)).status]).toEqual([query, 404]);
  });

  it('shows users with what they have, and each of them with links to it', async () => {
    const { db, userId } = world;
    await makePastes(db, 3, { status: 'PROCESSED', userId, content: Buffer.alloc(1024) });
    await sql`UPDATE users SET shown_name = 'Anna A.'`.execute(db);
    const { main } = await look('/users?name=anna');
    expect(main).toMatch(/Anna A\.<\/bdi><\/span><\/td><td><a href="[^"]*">3<\/a><\/td><td>3\.0 KiB<\/td>/);
    const user = await look(`/users/${userId}`);
    expect(user.main).toContain(`href="/pastes?owner=${userId}"`);
    expect(user.main).toContain('<bdi>Anna A.</bdi>');
    await sql`UPDATE users SET shown_name = NULL`.execute(db);
  });

  it('says of a count that has stopped that there is more', async () => {
    const { db, userId } = world;
    await makePastes(db, 201, { status: 'PROCESSED', userId, content: Buffer.alloc(1024) });
    const { main } = await look('/users');
    expect(main).toMatch(/<td><a href="[^"]*">200\+<\/a><\/td><td>200 KiB\+<\/td>/);
    const { stdout } = await runOpsCommand(['users'], world.env);
    expect(stdout).toMatch(/ 200\+ +200(?:\.0)? KiB\+ /);
  });

  it('goes on after a user whose name begins with a space', async () => {
    const { db } = world;
    await sql`INSERT INTO users (name) SELECT ' ' || n FROM generate_series(100, 150) AS n`.execute(db);
    const { main, next } = await look('/users');
    expect([main.includes('<bdi> 149</bdi>'), main.includes('<bdi> 150</bdi>')]).toEqual([true, false]);
    expect((await look(next!)).main).toContain('<bdi> 150</bdi>');
    await sql`DELETE FROM users WHERE name LIKE ' %'`.execute(db);
  });

  it('shows jobs by state, type and user', async () => {
    const { db, userId } = world;
    const [failed] = await makeJobs(db, 1, { userId, status: 'failed', jobType: 'export' });
    const [open] = await makeJobs(db, 1, { userId, status: 'queued', jobType: 'import' });
    const ids = async (query: string) =>
      [...(await look(`/jobs${query}`)).main.matchAll(/href="\/jobs\/([\w-]+)"/g)].map(([, id]) => id);
    expect(await ids('')).toEqual([open!.id, failed!.id]);
    expect(await ids('?state=failed&type=&owner=')).toEqual([failed!.id]);
    expect(await ids(`?type=import&owner=${userId}`)).toEqual([open!.id]);
    expect((await look('/jobs?state=failed')).main).toContain('<bdi>made to fail</bdi>');
  });

  it('shows the workers, what each does, and the erasures that are not done', async () => {
    const { db, userId } = world;
    expect((await look('/workers')).main).toContain('No worker holds a lease.');
    expect((await look('/erasures')).main).toContain('No erasure is open.');
    const execution = { status: 'RUNNING', workerId: 'upload-worker/a b', leaseSeconds: -5 } as const;
    await makePastes(db, 1, { status: 'IN_PROGRESS', shortCodes: ['held'], execution });
    const link = '/workers?worker=upload-worker%2Fa%20b';
    expect((await look('/workers')).main).toMatch(
      `<td><a href="${link}">upload-worker/a b</a></td><td>1</td><td>0</td><td>0</td><td><strong class="bad-news">1</strong>`,
    );
    expect((await look(link)).main).toContain(
      '<td>upload</td><td><a href="/find?q=held">held</a></td><td>1</td>',
    );
    await sql`INSERT INTO erasures (user_id, pastes, jobs) VALUES (${userId}, 3, 0)`.execute(db);
    const { main } = await look('/erasures');
    expect(main).toMatch(
      new RegExp(`<td>${userId}</td><td>requested</td><td>.*</td><td>0 of 3</td><td>0 of 0</td>`),
    );
    expect(main).toContain('href="/confirm/run-sweep?subject=erasures"');
    const asReader = await page.call('/erasures', { token: READ_TOKEN });
    expect([asReader.status, asReader.body.includes('/confirm/run-sweep')]).toEqual([200, false]);
  });

  it('does not wait for SQS', async () => {
    world.proxy.rule({ method: 'POST' }, { kind: 'fail', status: 500 });
    expect((await look('/pastes')).body).toMatch(place('pastes', 'Pastes', '0'));
    expect(world.proxy.requests).toEqual([]);
  });
});
