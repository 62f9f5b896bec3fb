import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { answered, doorsOf, type Headers, type Sent } from './support/doors.ts';
import { ownPage, postJson, problemOf } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import { newPaste, pasteRow, processedPaste } from './support/pastes.ts';
import { deposit, newRequest, receiptOf } from './support/secret-requests.ts';
import { BROWSER } from './support/sign-in.ts';
import { newUser, type TestUser } from './support/users.ts';

const HOUR = 3600;
const DAY = 86_400;
const bed = useApi({
  house: {
    expiry: { default: HOUR, max: 7 * DAY, never: false },
    anonymous: { max_expiry: DAY, max_bytes: 1000, burn_only: true },
  },
});

let member: TestUser;
let folder: string;
beforeAll(async () => {
  member = await newUser(bed.db);
  folder = await mkdtemp(join(tmpdir(), 'pasteflow-house-rules-'));
});
afterAll(() => rm(folder, { recursive: true }));

const doors = doorsOf(bed, () => folder);

const rules: readonly (readonly [who: 'member' | 'stranger', sent: Sent, field: string | null])[] = [
  ['member', { expires: '7d', bytes: 2000 }, null],
  ['member', { expires: '30d' }, 'expires_in'],
  ['member', { expires: 'never' }, 'expires_in'],
  ['stranger', { expires: '1d', burn: true }, null],
  ['stranger', { expires: '7d', burn: true }, 'expires_in'],
  ['stranger', { expires: 'never', burn: true }, 'expires_in'],
  ['stranger', { expires: '1d' }, 'burn'],
  ['stranger', { expires: '1d', burn: true, bytes: 1200 }, 'content'],
];

describe('the rules of the house hold through', () => {
  it.each(Object.keys(doors))('%s', async (name) => {
    const found = [];
    for (const [who, sent] of rules)
      found.push([who, sent, await doors[name]!(sent, who === 'member' ? member.headers : {})]);
    const expected = rules.map(([who, sent, field]) => {
      if (field === null) return [who, sent, { status: 201, fields: [] }];
      return [who, sent, { status: 422, fields: name === 'the page' ? null : [field] }];
    });
    expect(found).toEqual(expected);
  });

  it.each(Object.keys(doors).filter((name) => name !== 'PrivateBin'))(
    '%s: a paste of which nothing is said lives for the time of the house',
    async (name) => {
      expect((await doors[name]!({}, member.headers)).status).toBe(201);
      const newest = await bed.db
        .selectFrom('pastes')
        .select(['created_at', 'expires_at'])
        .where('user_id', '=', member.id)
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow();
      expect(newest.expires_at!.getTime() - newest.created_at.getTime()).toBe(HOUR * 1000);
    },
  );

  it('a message that names the limit and whom it is for', async () => {
    const messagesOf = async (body: object, headers: Headers = {}) =>
      (await problemOf(await postJson(bed.api.url, body, headers))).errors?.map(({ message }) => message);
    expect(await messagesOf({ content: 'x'.repeat(1001), expires_in: 'never' })).toEqual([
      'must be at most 86400 seconds for pastes without a token',
      'must be true: pastes without a token are deleted when they are read',
      'must have at most 1000 bytes for pastes without a token',
    ]);
    expect(await messagesOf({ content: 'x', expires_in: 'never' }, member.headers)).toEqual([
      'must be at most 604800 seconds on this service',
    ]);
  });
});

describe('what exists already', () => {
  const patch = (code: string, body: object, headers: Headers = member.headers) =>
    fetch(`${bed.api.url}/v1/pastes/${code}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
  const keptForEver = async (userId: string | null): Promise<string> => {
    const code = await processedPaste(bed, 'older', { userId });
    await sql`UPDATE pastes SET expires_at = NULL WHERE short_code = ${code}`.execute(bed.db);
    return code;
  };

  it('is changed within the rules, and may keep the time that it has', async () => {
    const strangers = { 'delete-token': 'the token' };
    const wrong: readonly (readonly [owner: 'member' | 'stranger', change: object, field: string])[] = [
      ['member', { expires_in: '8d' }, 'expires_in'],
      ['member', { expires_at: inSeconds(8 * DAY) }, 'expires_at'],
      ['stranger', { expires_in: '2d' }, 'expires_in'],
      ['stranger', { expires_at: inSeconds(2 * DAY) }, 'expires_at'],
    ];
    for (const [owner, change, field] of wrong) {
      const isMember = owner === 'member';
      const code = await keptForEver(isMember ? member.id : null);
      const headers: Headers = isMember ? member.headers : strangers;
      expect((await patch(code, { title: 'T', expires_at: null }, headers)).status).toBe(200);
      expect((await patch(code, { expires_in: 'never' }, headers)).status).toBe(200);
      expect(await answered(await patch(code, change, headers))).toEqual({ status: 422, fields: [field] });
      expect((await pasteRow(bed.db, code))!.expires_at).toBeNull();
      expect((await patch(code, { expires_in: isMember ? '7d' : '1d' }, headers)).status).toBe(200);
      const { expires_at } = (await pasteRow(bed.db, code))!;
      expect((await patch(code, { title: 'U', expires_at }, headers)).status).toBe(200);
      expect((await answered(await patch(code, { expires_in: 'never' }, headers))).fields).toEqual([
        'expires_in',
      ]);
      expect((await answered(await patch(code, { expires_at: null }, headers))).fields).toEqual([
        'expires_at',
      ]);
    }
  });

  it('has a newer version that obeys, also where the time of the older one is more', async () => {
    const code = await keptForEver(member.id);
    const save = (fields: object) =>
      postJson(bed.api.url, { content: 'newer', supersedes: code, ...fields }, member.headers);
    expect(await answered(await save({}))).toEqual({ status: 422, fields: ['expires_in'] });
    expect((await save({ expires_in: '7d' })).status).toBe(201);
  });

  it('is answered again as it was, whatever the house has decided since', async () => {
    const before = await bed.start();
    const key = newKey();
    const first = await postKeyed(before.url, { key, path: '/v1/pastes?expires_in=never' });
    const said = newKey();
    const nothing = await postKeyed(before.url, { key: said });
    expect([first.status, nothing.status]).toEqual([201, 201]);
    const again = await postKeyed(bed.api.url, { key, path: '/v1/pastes?expires_in=never' });
    expect([again.status, await again.text()]).toEqual([201, await first.text()]);
    const unsaid = await postKeyed(bed.api.url, { key: said });
    expect([unsaid.status, await unsaid.text()]).toEqual([201, await nothing.text()]);
    const refused = newKey();
    expect((await postKeyed(bed.api.url, { key: refused })).status).toBe(422);
    const obeying = { key: refused, path: '/v1/pastes?burn=true' };
    expect((await postKeyed(bed.api.url, obeying)).status).toBe(201); // a refusal has used up no key
  });
});

describe('a time that a service chooses', () => {
  it('is within the rules of who asks for a deposit', async () => {
    const { id } = await newRequest(bed.api.url, member);
    const code = await receiptOf(await deposit(bed.api.url, id));
    const { created_at, expires_at } = (await pasteRow(bed.db, code))!;
    expect(expires_at!.getTime() - created_at.getTime()).toBe(7 * DAY * 1000);
  });
});

describe('a job that imports', () => {
  const start = (parameters: object) =>
    fetch(`${bed.api.url}/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...member.headers },
      body: JSON.stringify({ job_type: 'import', parameters }),
    });

  it('is refused where no entry would obey, and not for what its entries say', async () => {
    const source = await newPaste(bed.db, 'a tar', { userId: member.id });
    const refused = { status: 422, fields: ['parameters.expires_in'] };
    for (const expires_in of ['never', '8d'])
      expect(await answered(await start({ source_short_code: source, expires_in }))).toEqual(refused);
    expect((await start({ source_short_code: source, expires_in: '7d' })).status).toBe(202);
    const accepted = await start({ items: [{ content: 'x', expires_in: 'never' }] });
    expect(accepted.status).toBe(202);
    const { job_id: id } = (await accepted.json()) as { job_id: string };
    const { rows } = await sql`SELECT expiry_rules FROM jobs WHERE id = ${id}`.execute(bed.db);
    expect(rows).toEqual([{ expiry_rules: { default: HOUR, max: 7 * DAY, never: false } }]); // it keeps them
  });

  it('is not begun by the page, which then stores no source', async () => {
    const stored = async () => {
      const { rows } = await sql`SELECT FROM pastes WHERE user_id = ${member.id}`.execute(bed.db);
      return rows.length;
    };
    const before = await stored();
    const begin = (expires_in: string) => {
      const body = new FormData();
      body.append('expires_in', expires_in);
      body.append('file', new Blob(['{"content":"x"}']), 'file.ndjson');
      const headers = { ...BROWSER, ...ownPage(bed.api.url), ...member.headers };
      return fetch(`${bed.api.url}/my/jobs/import`, { method: 'POST', redirect: 'manual', body, headers });
    };
    expect((await begin('never')).status).toBe(422);
    expect(await stored()).toBe(before);
    expect((await begin('3600')).status).toBe(303);
    expect(await stored()).toBe(before + 1);
  });
});
