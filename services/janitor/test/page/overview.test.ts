import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TransitionStatistic } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { sql, type KyselyPlugin } from 'kysely';
import { MinuteHistory } from '../../src/operations/page/minutes.ts';
import { callSqs } from '../messages.ts';
import { sweepNames } from '../../src/sweep-names.ts';
import { createWorld, eventually, UPLOADS, type World } from '../world.ts';
import { openPage } from './open-page.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

it('reads the figures once for fifty open pages', async () => {
  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  await makePastes(world.db, 3, { status: 'IN_PROGRESS' });
  const page = await openPage(world, {}, (db) => db.withPlugin(counting));
  world.proxy.requests.length = 0;
  const answers = await Promise.all(Array.from({ length: 50 }, () => page.call('/')));
  const one = statements;
  expect(answers.every(({ status, body }) => status === 200 && body.includes('paste upload'))).toBe(true);
  expect(one).toBeGreaterThan(0);
  expect(one).toBeLessThanOrEqual(13);
  expect(world.proxy.requests.length).toBeLessThanOrEqual(8); // the URLs and the counts of four queues
  await page.stop();
});

it('shows what is left when SQS fails, and says so of each queue', async () => {
  await world.reset();
  const page = await openPage(world);
  try {
    world.proxy.rule({ method: 'POST' }, { kind: 'fail', status: 500 });
    const { status, body } = await page.call('/');
    expect([status, body]).toEqual([200, expect.stringContaining('pasteflow-uploads: sqs does not answer')]);
    expect(body).not.toContain('Nothing needs a person.');
    expect(body).toContain('pasteflow-uploads-dead-letters</td><td>–</td>');
  } finally {
    await page.stop();
  }
});

it('begins with the uploads that failed, which are grouped by reason, shown in pages and retried from there', async () => {
  await world.reset();
  await sql`UPDATE installation SET created_at = now()`.execute(world.db); // no sweep is overdue
  const page = await openPage(world);
  try {
    expect((await page.call('/')).body).toMatch(
      /<div id="live">\s*<dl class="facts"><div><dt>Pastes<.dt><dd>0, 0 B<.*<.dl>\s*<p[^>]*>Nothing needs a person\./,
    );
    await makePastes(world.db, 150, { status: 'FAILED', createdSecondsAgo: 60 });
    await sql`INSERT INTO failed_payloads SELECT id, 'content' FROM pastes`.execute(world.db);
    const refused = 'storage refused: <403> & more';
    await sql`UPDATE pastes SET failure_reason = ${refused}
      WHERE id IN (SELECT id FROM pastes ORDER BY id LIMIT 30)`.execute(world.db);
    const codes = async (query: string) => {
      const { status, body } = await page.call(`/failed${query}`);
      expect(status).toBe(200);
      const next = /rel="next" href="\/failed([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? null;
      return { body, next, found: [...body.matchAll(/href="\/pastes\/(\w+)"/g)].map(([, code]) => code) };
    };
    const first = await codes('');
    expect(first.body).toContain('150 uploads have failed.');
    expect(first.body).toContain('storage refused: &lt;403&gt; &amp; more</a></td><td>30</td>');
    const second = await codes(first.next!);
    expect([first.found.length, second.found.length, second.next]).toEqual([100, 50, null]);
    expect(new Set([...first.found, ...second.found]).size).toBe(150);
    expect((await codes(`?cause=${encodeURIComponent(refused)}`)).found).toHaveLength(30);
    expect((await page.call('/failed?cause=%00')).status).toBe(404);
    expect(first.body).toContain(`/confirm/retry-failed?subject=${encodeURIComponent(`because ${refused}`)}`);
    expect(await page.act('retry-failed', `because ${refused}`, { count: '30' })).toBe(
      'Retried 30, skipped 0.',
    );
    expect((await codes('')).body).toContain('120 uploads have failed.');
    const isShown = async () =>
      /<div id="live">\s*<dl.*<\/dl>\s*<div role="status"><h2>\d thing[^<]*<\/h2><\/div>\s*<ul[^>]*>\s*<li>.*120 uploads failed, /.test(
        (await page.call('/')).body,
      );
    await eventually(isShown); // the figures are read at most once in three seconds
    expect((await page.call('/')).body).toContain('href="/confirm/retry-failed"');
  } finally {
    await page.stop();
  }
});

it('names each sweep in words', async () => {
  const page = await openPage(world);
  try {
    const { body } = await page.call('/');
    for (const name of sweepNames)
      expect(body).toMatch(new RegExp(`<td>[A-Z][^<]+ <span class="hint">${name}</span>`));
  } finally {
    await page.stop();
  }
});

it('marks the dead letters, which wait for an operator', async () => {
  await world.reset();
  const dead = `${UPLOADS}-dead-letters`;
  await callSqs(world.stack.aws.endpoint, 'SendMessage', dead, { MessageBody: '{}' });
  const page = await openPage(world);
  try {
    const { body } = await page.call('/');
    expect(body).toContain(`${dead}</td><td><strong class="bad-news">1</strong></td>`);
    expect(body).toContain('pasteflow-jobs-dead-letters</td><td>0</td>');
  } finally {
    await page.stop();
  }
});

it('counts the ends of each minute from the totals, and shares a gap', () => {
  let now = 0;
  const history = new MinuteHistory(() => now);
  const learn = (minute: number, count: number) => {
    now = minute * 60_000;
    const statistic = { machine: 'paste_upload', from: 'IN_PROGRESS', to: 'PROCESSED', count };
    history.learn([{ ...statistic, seconds: 0, buckets: [] } as TransitionStatistic]);
  };
  expect(history.read().stored).toEqual([]);
  learn(0, 100);
  learn(0.5, 103); // also in the minute in which the janitor started
  learn(1, 110);
  learn(1.5, 120);
  learn(2, 150);
  learn(4, 160);
  expect(history.read()).toEqual({
    stored: [3, 17, 30, 5, 5],
    failed: [0, 0, 0, 0, 0],
    jobs: [0, 0, 0, 0, 0],
  });
  learn(5, 0); // another database
  expect(history.read().stored.at(-1)).toBe(0);
  for (let minute = 6; minute < 200; minute += 1) learn(minute, minute);
  expect(history.read().stored).toHaveLength(60);
});
