import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestDeletion } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { postJson } from './support/http.ts';
import { pasteRow, processedPaste, upload, type Ownership } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

type Headers = Readonly<Record<string, string>>;
interface Created {
  readonly short_code: string;
  readonly delete_token?: string;
  readonly [field: string]: unknown;
}

const own = (content: string, of: Ownership = {}) =>
  processedPaste(bed, content, { userId: owner.id, ...of });
const save = (supersedes: string, headers: Headers = owner.headers, fields: object = {}) =>
  postJson(bed.api.url, { content: 'newer', supersedes, ...fields }, headers);
async function created(answer: Response | Promise<Response>): Promise<Created> {
  const response = await answer;
  const body = (await response.json()) as Created;
  expect({ status: response.status, body }).toMatchObject({ status: 201 });
  return body;
}
const viewOf = async (code: string, headers: Headers = {}) =>
  (await (await fetch(`${bed.api.url}/v1/pastes/${code}`, { headers })).json()) as Created;
const idOf = async (code: string) => (await pasteRow(bed.db, code))!.id;
const remove = async (code: string) => requestDeletion(bed.db, await idOf(code));
const store = (code: string) => upload(bed.db, bed.store, code, 'newer');

describe('superseded_by', () => {
  it('names the newest version once that is stored, to whoever can read it', async () => {
    const older = await own('older');
    const { short_code: second } = await created(save(older));
    expect(await viewOf(older)).toMatchObject({ superseded_by: null });
    await store(second);
    expect(await viewOf(older)).toMatchObject({ superseded_by: second });
    const { short_code: third } = await created(save(second, owner.headers, { visibility: 'private' }));
    await store(third);
    for (const code of [older, second])
      expect(await viewOf(code, owner.headers)).toMatchObject({ superseded_by: third });
    for (const headers of [{}, other.headers]) {
      expect(await viewOf(older, headers)).toMatchObject({ superseded_by: second });
      expect(await viewOf(second, headers)).toMatchObject({ superseded_by: null });
    }
    const list = (await (
      await fetch(`${bed.api.url}/v1/pastes?limit=3`, { headers: owner.headers })
    ).json()) as {
      pastes: Created[];
    };
    expect(list.pastes.map(({ superseded_by: newest }) => newest)).toEqual([null, third, third]);
  });

  it('passes over a version that was deleted, and costs the read of any other paste no statement', async () => {
    const older = await own('older');
    const { short_code: second } = await created(save(older));
    await store(second);
    const { short_code: third } = await created(save(second));
    await store(third);
    await remove(second);
    expect(await viewOf(older)).toMatchObject({ superseded_by: third });
    await remove(third);
    expect(await viewOf(older)).toMatchObject({ superseded_by: null });
    const plain = await own('plain');
    const before = bed.api.statements.length;
    await viewOf(plain);
    expect(bed.api.statements.slice(before)).toHaveLength(1);
  });

  it('is not set by a version that was deleted before it was stored', async () => {
    const older = await own('older');
    const { short_code: late } = await created(save(older));
    await remove(late);
    const { short_code: next } = await created(save(older));
    await store(next);
    await store(late);
    expect(await viewOf(older)).toMatchObject({ superseded_by: next });
  });
});
