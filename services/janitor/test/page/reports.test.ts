import { describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { objectKeyOf } from '@pasteflow/domain';
import { createApiToken, findPaste, reportPaste } from '@pasteflow/postgres';
import { makePastes, makeUsers } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { runOpsCommand } from '../../src/operations/commands/run-ops-command.ts';
import { READ_TOKEN, useWorldWithPage } from './open-page.ts';

const { world, page } = useWorldWithPage();

const hostile = '<script>alert(1)</script>\u001b[31m\u202e"';
const escaped = '&lt;script&gt;alert(1)&lt;/script&gt;';
const ops = (...args: string[]) => runOpsCommand(args, world.env);

interface Options {
  readonly reporters?: readonly string[];
  readonly burn?: boolean;
  readonly encoding?: 'gzip';
  readonly userId?: string;
}

/** A stored paste with a report of each reporter. */
async function reported(content: Buffer | string, options: Options = {}): Promise<string> {
  const { reporters = ['a'], burn = false, encoding, userId } = options;
  const bytes = Buffer.from(content);
  const [paste] = await makePastes(world.db, 1, {
    status: 'PROCESSED',
    content: bytes,
    burn,
    ...(userId !== undefined && { userId }),
  });
  const { id, shortCode } = paste!;
  const object = encoding === 'gzip' ? gzipSync(bytes) : bytes;
  const sha256 = createHash('sha256').update(object).digest();
  await world.store.put(objectKeyOf(shortCode), object, { sha256, encoding });
  for (const reporter of reporters) {
    const report = { class: 'phishing', text: hostile, contact: 'me@example.org', reporter } as const;
    expect(await reportPaste(world.db, id, report, 2)).toBe('recorded');
  }
  return shortCode;
}

const states = async () => {
  const rows = await world.db.selectFrom('paste_reports').select('status').orderBy('id').execute();
  return rows.map(({ status }) => status);
};

describe('the reports on the operations page', () => {
  it('are listed by age or by the number of reporters, and linked from the overview', async () => {
    const older = await reported('a');
    const many = await reported('b', { reporters: ['a', 'b'] });
    const order = async (query: string) =>
      [...(await page.call(`/reports${query}`)).body.matchAll(/href="\/reports\/(\w+)"/g)].map(
        ([, code]) => code,
      );
    expect([await order(''), await order('?by=reporters')]).toEqual([
      [older, many],
      [many, older],
    ]);
    expect((await page.call('/reports')).body).toContain('>held</strong>');
    const { body } = await page.call('/');
    expect(body).toContain('href="/reports"');
    expect(body).toMatch(/<td>paste report<\/td><td>open<\/td><td>3<\/td>/);
  });

  it('are reached in full by pages, whose rows have the title, the first line, the owner and the words', async () => {
    const [user] = await makeUsers(world.db, 1);
    const flood = await makePastes(world.db, 120, { status: 'PROCESSED' });
    for (const { id } of flood)
      await reportPaste(world.db, id, { class: 'spam', text: null, contact: null, reporter: 'flood' }, null);
    const code = await reported(`\n  ${hostile}\nmore`, { reporters: ['witness'], userId: user!.id });
    await sql`UPDATE pastes SET title = 'Your bank' WHERE short_code = ${code}`.execute(world.db);
    const found: string[] = [];
    let last = '';
    for (let path: string | undefined = '/reports'; path !== undefined;) {
      last = (await page.call(path)).body;
      found.push(...[...last.matchAll(/href="\/reports\/(\w+)"/g)].map((match) => match[1] ?? ''));
      expect(last).toContain('121 pastes have open reports.');
      path = /href="(\/reports\?[^"]+)" rel="next"/.exec(last)?.[1]?.replaceAll('&amp;', '&');
    }
    expect([found.length, new Set(found).size, found.at(-1)]).toEqual([121, 121, code]);
    const row = last.slice(last.indexOf(`value="${code}"`));
    for (const part of [
      '<bdi>Your bank</bdi>',
      `<bdi>${escaped}`,
      `/users/${user!.id}`,
      '<strong>phishing</strong>',
    ])
      expect(row).toContain(part);
    expect(row).toContain(`<code><bdi>${escaped}`);
    expect((await ops('reports')).stdout).toContain('121 in all.');
    const phishing = (await page.call('/reports?class=phishing')).body;
    expect([...phishing.matchAll(/href="\/reports\/(\w+)"/g)].map((match) => match[1])).toEqual([code]);
    for (const query of ['cursor=x', 'network=x', "cursor=0.1.'--"])
      expect((await page.call(`/reports?${query}`)).status).toBe(404);
  });

  it('of several pastes are judged together, with the class of the reporters chosen already', async () => {
    const codes = [await reported('a'), await reported('b', { reporters: ['a', 'b'] }), await reported('c')];
    const [first, second, third] = codes as [string, string, string];
    const confirm = (await page.call(`/confirm/uphold?subject=${first}&subject=${second}`)).body;
    expect(confirm).toContain('This ends 3 reports of 2 pastes and takes down 2 pastes.');
    expect(confirm).toContain('<option value="phishing" selected>');
    const both = `${first} ${second}`;
    const class_ = { class: 'phishing' };
    expect(
      (await page.call('/act/uphold', { form: { subject: both, count: '1', reason: 'x', ...class_ } }))
        .status,
    ).toBe(409);
    expect(await page.act('reject', third)).toContain('Rejected 1 report');
    expect(await page.act('uphold', `${both} ${third}`, { count: '3', ...class_ })).toBe(
      'Upheld 3 reports, and took down 2 pastes. 1 paste had no open report any more.',
    );
    for (const code of [first, second])
      expect(await findPaste(world.db, code)).toMatchObject({ taken_down_for: 'phishing' });
    expect(await findPaste(world.db, third)).toMatchObject({ gone: false });
    expect((await page.call(`/confirm/reject?subject=${first}&subject=${second}`)).body).toContain(
      'None of these pastes',
    );
  });

  it('of one network are rejected at once, unless somebody else has reported the paste, too', async () => {
    const shared = await reported('a', { reporters: ['flood', 'b'] });
    for (const content of ['b', 'c', 'd']) await reported(content, { reporters: ['flood'] });
    const network = /network=([0-9a-f]{8})/.exec((await page.call('/reports?by=reporters')).body)![1]!;
    const { body } = await page.call(`/reports?network=${network}`);
    expect(body).toContain('4 pastes have open reports.');
    expect(body).toContain(`/confirm/reject?subject=network%20${network}`);
    expect((await page.call(`/confirm/reject?subject=network%20${network}`)).body).toContain(
      'This ends 3 reports of 3 pastes',
    );
    expect(await page.act('reject', `network ${network}`, { count: '3' })).toBe(
      'Rejected 3 reports, and released 3 pastes.',
    );
    const left = (await page.call('/reports')).body;
    expect([...left.matchAll(/href="\/reports\/(\w+)"/g)].map((match) => match[1])).toEqual([shared]);
  });

  it.each([['gzip'], [undefined]] as const)(
    'show the words and the beginning of a text (%s) as text, without consuming a read-once paste',
    async (encoding) => {
      const code = await reported(`${hostile}\n${'x'.repeat(20_000)}`, {
        burn: true,
        ...(encoding !== undefined && { encoding }),
      });
      const { status, body } = await page.call(`/reports/${code}`);
      expect([status, body]).toEqual([200, expect.not.stringContaining('<script>alert')]);
      expect(body).toContain(`<bdi>${escaped}`);
      expect(body).toContain(`<pre class="reported" tabindex="0">${escaped}`);
      expect(body).toContain('Only the beginning is shown.');
      expect(body.length).toBeLessThan(30_000);
      expect(await findPaste(world.db, code)).toMatchObject({ burned_at: null, gone: false });
    },
  );

  it('render no image, no HTML and no ciphertext, and send each as a file that no browser shows', async () => {
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]);
    const image = await reported(png);
    const sealed = await reported('{"ct":"secret"}');
    await sql`UPDATE pastes SET encrypted = true WHERE short_code = ${sealed}`.execute(world.db);
    const shown = (await page.call(`/reports/${image}`)).body;
    expect(shown).toContain('The content is no text.');
    expect(shown).not.toMatch(/<(img|iframe|object|embed)[^>]*(content|pastes)/);
    const encrypted = (await page.call(`/reports/${sealed}`)).body;
    expect(encrypted).toContain('This service has only the ciphertext.');
    expect(encrypted).not.toContain('secret');
    const file = await page.call(`/content/${image}`);
    expect(file.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${image}.bin"`,
      'content-length': String(png.length),
      'x-content-type-options': 'nosniff',
    });
  });

  it('show the title, and are judged while S3 fails, which they say', async () => {
    const code = await reported('x');
    await sql`UPDATE pastes SET title = ${hostile} WHERE short_code = ${code}`.execute(world.db);
    world.proxy.rule({ path: /pastes/ }, { kind: 'fail', status: 500 });
    const { status, body } = await page.call(`/reports/${code}`);
    expect([status, body]).toEqual([200, expect.stringContaining('/confirm/uphold')]);
    expect(body).toContain('The content cannot be read now');
    expect(body).toContain(`Title: <bdi>${escaped}`);
    expect((await page.call(`/content/${code}`)).status).toBe(503);
    const { stdout } = await ops('reports', code);
    expect(stdout).toContain('Title: <script>');
    expect(stdout).toContain('The content cannot be read now: ');
    expect((await ops('reject', code, '--reason', 'x')).code).toBe(0);
  });

  it('of other pastes are not there, and neither is their content', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'IN_PROGRESS', content: Buffer.from('private') });
    for (const path of [
      `/reports/${paste!.shortCode}`,
      `/content/${paste!.shortCode}`,
      '/content/',
      '/reports/x%20y',
    ])
      expect([path, (await page.call(path)).status]).toEqual([path, 404]);
  });

  it('are judged by those who may act only', async () => {
    const code = await reported('x');
    const { body } = await page.call(`/reports/${code}`, { token: READ_TOKEN });
    expect(body).not.toContain('/confirm/');
    const form = { subject: code, count: '1', reason: 'x', class: 'spam' };
    expect((await page.call('/act/uphold', { token: READ_TOKEN, form })).status).toBe(403);
    expect(await states()).toEqual(['open']);
  });
});

describe('uphold', () => {
  it('takes the paste down, blocks its content and ends the tokens of its user in one step; the second operator learns that', async () => {
    const { userId } = await createApiToken(world.db, {
      userName: 'creator',
      name: 't',
      tokenHash: createHash('sha256').update('t').digest(),
      expiresInSeconds: null,
    });
    const code = await reported('bad', { reporters: ['a', 'b'], userId });
    const confirm = (await page.call(`/confirm/uphold?subject=${code}`)).body;
    expect(confirm).toContain('This ends 2 reports and takes down 1 paste.');
    expect(confirm).toContain('name="also" value="block"');
    const { content_hash: hash } = (await findPaste(world.db, code))!;
    const fields = { subject: code, count: '1', reason: 'seen', class: 'phishing' };
    const body = new URLSearchParams([...Object.entries(fields), ['also', 'block'], ['also', 'end-tokens']]);
    expect(await page.act('uphold', code, body)).toBe(
      `Upheld 2 reports, and took ${code} down. Its owner is the user ${userId}. Revoked 1 token. Blocked ${hash}.`,
    );
    expect(await findPaste(world.db, code)).toMatchObject({ taken_down_for: 'phishing' });
    expect(await states()).toEqual(['upheld', 'upheld']);
    const { revoked_at: revokedAt } = await world.db
      .selectFrom('api_tokens')
      .select('revoked_at')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    expect(revokedAt).not.toBeNull();
    const late = await ops('reject', code, '--reason', 'x');
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining(`${code} has no open report`) });
    const again = await ops('uphold', code, '--reason', 'x', '--block'); // the first was killed before its block
    expect(again.stderr).toContain(`To block its content, block ${code}`);
    expect((await page.call(`/confirm/reject?subject=${code}`)).body).toContain(
      'somebody else has judged them',
    );
    expect(await page.act('uphold', code, { class: 'spam' })).toBe(
      `Failed: ${code} has no open report: somebody else has judged them, or the paste is gone`,
    );
    expect((await page.call('/confirm/reject?subject=unknown')).status).toBe(404);
  });
});

describe('npm run ops', () => {
  it('lists the queue, shows a paste without characters that change the terminal, and judges', async () => {
    expect((await ops('reports')).stdout).toBe('No paste has an open report.\n');
    const code = await reported(hostile, { reporters: ['a', 'b'] });
    expect((await ops('reports')).stdout).toMatch(new RegExp(`^${code} +2 `, 'm'));
    expect(JSON.parse((await ops('reports', '--json')).stdout)).toMatchObject([
      { short_code: code, reporters: 2, classes: ['phishing'], held_at: expect.any(String) },
    ]);
    const { stdout } = await ops('reports', code);
    expect(stdout).toContain('me@example.org');
    expect(stdout).toContain('| <script>alert(1)</script> [31m "');
    for (const character of ['\u001b', '\u202e']) expect(stdout).not.toContain(character);
    expect((await ops('reject', code, '--reason', 'a joke')).stdout).toBe(
      `Rejected 2 reports of 1 paste with the content of ${code}.\n`,
    );
    expect(await findPaste(world.db, code)).toMatchObject({ held_at: null, gone: false });
    expect(await ops('reports', code)).toMatchObject({
      code: 1,
      stderr: `ops: ${code} has no open report\n`,
    });
    const other = await reported('other');
    const done = JSON.parse((await ops('uphold', other, '--reason', 'x', '--block', '--json')).stdout);
    expect(done).toMatchObject({ upheld: 1, blocked: true, tokens: 0, user_id: null });
    const actions = await world.db.selectFrom('operator_actions').select(['action', 'subject']).execute();
    expect(actions).toEqual([
      { action: 'reject', subject: code },
      { action: 'uphold', subject: other },
    ]);
  });
});
