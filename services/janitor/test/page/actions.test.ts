import { describe, expect, it } from '@jest/globals';
import { until } from '@pasteflow/dev-stack/testing';
import { reportPaste } from '@pasteflow/postgres';
import { makeJobs, makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { UPLOADS } from '../world.ts';
import { callSqs } from '../messages.ts';
import { useWorldWithPage } from './open-page.ts';

const { world, page } = useWorldWithPage();

const recorded = () =>
  world.db
    .selectFrom('operator_actions')
    .select(['actor', 'action', 'subject', 'reason', 'outcome'])
    .orderBy('at')
    .execute();

async function idOfAction(): Promise<string> {
  return (await world.db.selectFrom('operator_actions').select('id').executeTakeFirstOrThrow()).id;
}

async function hashOf(code: string): Promise<string> {
  const { content_hash } = await world.db
    .selectFrom('pastes')
    .select('content_hash')
    .where('short_code', '=', code)
    .executeTakeFirstOrThrow();
  return content_hash;
}

async function failed(count: number): Promise<string[]> {
  const pastes = await makePastes(world.db, count, {
    status: 'FAILED',
    createdSecondsAgo: 60,
    expiresInSeconds: 3600,
  });
  await sql`INSERT INTO failed_payloads SELECT id, 'content' FROM pastes WHERE status = 'FAILED'`.execute(
    world.db,
  );
  return pastes.map(({ shortCode }) => shortCode);
}

describe('an action', () => {
  it('takedown says how many it means, takes the paste down, and records who and why; twice does nothing more', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'IN_PROGRESS' });
    const code = paste!.shortCode;
    const confirm = await page.call(`/confirm/takedown?subject=${code}`);
    expect(confirm.body).toContain('This takes down 1 paste.');
    expect(confirm.body).toContain('Reason (for operators only)');
    const done = `Took ${code} down. It has no owner. The cleanup deletes its content when its upload has ended.`;
    expect(await page.act('takedown', code, { class: 'malware' })).toBe(done);
    expect(await recorded()).toEqual([
      {
        actor: 'ops-page/alice',
        action: 'takedown',
        subject: code,
        reason: 'report 4711',
        outcome: done,
      },
    ]);
    const rows = await world.db.selectFrom('takedowns').select(['short_code', 'class', 'actor']).execute();
    expect(rows).toEqual([{ short_code: code, class: 'malware', actor: 'ops-page/alice' }]);
    expect((await page.call(`/actions/${await idOfAction()}`)).body).toContain(
      `<h1>Take down the paste <bdi>${code}</bdi></h1>`,
    );
    expect(await page.act('takedown', code, { class: 'spam' })).toBe(`${code} was taken down before.`);
    const again = (await page.call(`/confirm/takedown?subject=${code}`)).body;
    expect(again).toContain('This takes down 0 pastes.');
    expect(again).toContain('There is nothing to do');
    expect(again).not.toContain('method="post"');
    expect((await page.call(`/pastes/${code}`)).body).toContain('malware, ops-page/alice: report 4711');
  });

  it('takedown of all of a user asks again when there are more than the operator confirmed', async () => {
    const [user] = await makeUsers(world.db, 1);
    await makePastes(world.db, 3, { status: 'PROCESSED', userId: user!.id });
    const form = { subject: user!.id, count: '2', reason: 'x', class: 'spam' };
    const changed = await page.call('/act/takedown-user', { form });
    expect([changed.status, changed.body]).toEqual([
      409,
      expect.stringContaining('This takes down 3 pastes.'),
    ]);
    expect(await recorded()).toEqual([]);
    expect(await page.act('takedown-user', user!.id, { count: '3', class: 'spam' })).toBe(
      'Took 3 pastes down.',
    );
  });

  it('block and unblock change what can be created', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED' });
    const hash = await hashOf(paste!.shortCode);
    expect(await page.act('block', hash, { class: 'malware' })).toContain(`Blocked ${hash}.`);
    expect((await page.call('/')).body).toContain(hash);
    expect((await page.call(`/confirm/block?subject=${hash}`)).body).toContain(
      'The content is blocked already',
    );
    expect(await page.act('block', hash, { class: 'malware' })).toBe(`${hash} was blocked before.`);
    expect(await page.act('unblock', hash)).toBe(`Unblocked ${hash}.`);
    expect(await page.act('unblock', hash)).toBe(`Failed: ${hash} is not blocked`);
    expect(world.log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'action of an operator failed' }), // nothing broke
    );
  });

  it('retry is offered for a FAILED paste that is there, and for no other', async () => {
    const [there] = await failed(1);
    const [expired] = await makePastes(world.db, 1, { status: 'FAILED', expiresInSeconds: -1 });
    const offers = async (code: string) =>
      (await page.call(`/pastes/${code}`)).body.includes(`/confirm/retry?subject=${code}`);
    expect([await offers(there!), await offers(expired!.shortCode)]).toEqual([true, false]);
  });

  it('retry uploads a FAILED paste again, and retry-failed all of today', async () => {
    const [first] = await failed(4);
    expect(await page.act('retry', first!)).toBe(`Retried ${first!}.`);
    expect(await page.act('retry', first!)).toContain('is not FAILED, has expired');
    const { body } = await page.call('/failed');
    expect(body).not.toContain(`/pastes/${first}"`);
    expect(body.match(/href="\/confirm\/retry\?subject=/g)).toHaveLength(3);
    expect((await page.call('/confirm/retry-failed')).body).toContain('This uploads 3 FAILED pastes');
    expect(await page.act('retry-failed', null, { count: '3' })).toBe('Retried 3, skipped 0.');
    const retries = await world.db.selectFrom('paste_retries').select(['actor', 'reason']).execute();
    expect(retries).toEqual(
      Array.from({ length: 4 }, () => ({
        actor: 'pasteflow_janitor (ops-page/alice)',
        reason: 'report 4711',
      })),
    );
  });

  it('cancel-job ends a job that waits, once, and its owner reads the reason', async () => {
    const [user] = await makeUsers(world.db, 1);
    const [job] = await makeJobs(world.db, 1, { userId: user!.id, status: 'queued' });
    expect((await page.call(`/jobs/${job!.id}`)).body).toContain(`/confirm/cancel-job?subject=${job!.id}`);
    const confirm = (await page.call(`/confirm/cancel-job?subject=${job!.id}`)).body;
    expect(confirm).toContain('This cancels 1 job.');
    expect(confirm).toContain('Reason (its owner reads it)');
    expect(await page.act('cancel-job', job!.id)).toBe(
      `Cancelled job ${job!.id}, which was queued and is now failed.`,
    );
    expect(await page.act('cancel-job', job!.id)).toContain('nothing to cancel');
    const { error_message } = await world.db
      .selectFrom('jobs')
      .select('error_message')
      .executeTakeFirstOrThrow();
    expect(error_message).toContain('an operator: report 4711');
  });

  it('retry-dead-letters moves them back', async () => {
    const dead = `${UPLOADS}-dead-letters`;
    const MessageBody = JSON.stringify({ shortCode: 'dead' });
    await callSqs(world.stack.aws.endpoint, 'SendMessage', dead, { MessageBody });
    expect((await page.call('/confirm/retry-dead-letters')).body).toContain('about 1 dead letter back');
    expect(await page.act('retry-dead-letters', null)).toContain(`${dead}: moved 1, refused 0, unreadable 0`);
  });

  it('run-sweep runs the sweep now, once for those who ask at the same time', async () => {
    await makePastes(world.db, 2, { status: 'PROCESSED', expiresInSeconds: -5 });
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const form = { subject: 'cleanup', count: '1', reason: 'x' };
    const first = await page.call('/act/run-sweep', { form });
    const request = await held;
    const second = await page.call('/act/run-sweep', { form });
    expect(second.headers.location).toBe(first.headers.location);
    expect((await page.call(String(first.headers.location))).body).toContain(
      'This is still running, or its process was killed.',
    );
    await request.forward();
    await page.act('run-sweep', 'relay');
    await until(recorded, (actions) =>
      expect(actions).toMatchObject([
        { subject: 'cleanup', outcome: expect.stringContaining('deleted 2') },
        { subject: 'relay' },
      ]),
    );
    expect((await page.call('/confirm/run-sweep?subject=everything')).status).toBe(404);
  });

  it('that fails says so, in its record and in the log', async () => {
    world.proxy.rule({ method: 'POST', path: /\?delete/ }, { kind: 'fail', status: 500 });
    await makePastes(world.db, 1, { status: 'PROCESSED', expiresInSeconds: -5 });
    expect(await page.act('run-sweep', 'cleanup')).toMatch(/^Failed: /);
    expect(world.log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'action of an operator failed' }),
    );
  });
});

describe('finding', () => {
  it.each(['code', 'url', 'execution', 'job', 'user', 'hash'])(
    'leads from a %s to its page',
    async (kind) => {
      const [user] = await makeUsers(world.db, 1);
      const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED' });
      const [job] = await makeJobs(world.db, 1, { userId: user!.id, status: 'completed' });
      const hash = await hashOf(paste!.shortCode);
      const [text, path] = {
        code: [paste!.shortCode, `/pastes/${paste!.shortCode}`],
        url: [`https://paste.example.org/${paste!.shortCode}`, `/pastes/${paste!.shortCode}`],
        execution: [paste!.executionId, `/pastes/${paste!.shortCode}`],
        job: [job!.id, `/jobs/${job!.id}`],
        user: [user!.id, `/users/${user!.id}`],
        hash: [hash.toUpperCase().slice('SHA256:'.length), `/confirm/block?subject=${hash}`],
      }[kind] as [string, string];
      const found = await page.call(`/find?q=${encodeURIComponent(text)}`);
      expect([found.status, found.headers.location]).toEqual([303, path]);
      expect((await page.call(path)).status).toBe(200);
    },
  );

  it('answers 404 for what does not exist, and for what no search can mean', async () => {
    for (const path of [
      '/pastes/nothing',
      '/jobs/nothing',
      '/actions/1',
      '/find?q=a%20b',
      '/a/b/c',
      '/nowhere',
    ])
      expect([path, (await page.call(path)).status]).toEqual([path, 404]);
  });
});

it('a judgement of several reports that fails in the middle says what it has done', async () => {
  const pastes = await makePastes(world.db, 2, { status: 'PROCESSED' });
  const report = { class: 'spam', text: null, contact: null, reporter: 'a' } as const;
  for (const { id } of pastes) expect(await reportPaste(world.db, id, report, null)).toBe('recorded');
  const [first, second] = pastes;
  await sql`
    CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by the test'; END $$;
    CREATE TRIGGER refuse_one BEFORE UPDATE ON paste_reports FOR EACH ROW
      WHEN (NEW.paste_id = '${sql.raw(second!.id)}') EXECUTE FUNCTION refuse_one()`.execute(world.db);
  const both = `${first!.shortCode} ${second!.shortCode}`;
  const outcome = await page.act('uphold', both, { count: '2', class: 'spam' });
  await sql`DROP FUNCTION refuse_one CASCADE`.execute(world.db);
  expect(outcome).toMatch(
    /^Failed: Upheld 1 report, and took down 1 paste, and then failed: .*refused by the test/,
  );
  expect(await page.act('uphold', both, { count: '1', class: 'spam' })).toContain('took down 1 paste.');
});

it('shows texts of others as texts', async () => {
  const hostile = `<script>alert(1)</script>"'&`;
  const [user] = await makeUsers(world.db, 1);
  const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED' });
  const [job] = await makeJobs(world.db, 1, { userId: user!.id, status: 'failed' });
  await sql`UPDATE jobs SET error_message = ${hostile} WHERE id = ${job!.id}`.execute(world.db);
  await page.act('takedown', paste!.shortCode, { class: 'spam', reason: hostile });
  for (const path of ['/', `/pastes/${paste!.shortCode}`, `/jobs/${job!.id}`]) {
    const { status, body } = await page.call(path);
    expect([path, status]).toEqual([path, 200]);
    expect(body).not.toContain('<script>alert');
    expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;');
  }
});
