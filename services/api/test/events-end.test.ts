import { describe, expect, it } from '@jest/globals';
import { useApi, type RunningApi } from './support/api.ts';
import { readEvents } from './support/event-reader.ts';
import { ownForm } from './support/http.ts';
import { newPaste, settle } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { until } from './support/until.ts';
import { newUser, revokeTokens, signedInWith } from './support/users.ts';

const bed = useApi();
const URL_OF_OBJECT = 's3://pasteflow/x';

describe('a stream ends', () => {
  /** A stream of a paste, whose caller only its token or session makes good. */
  const streamOf = async (headers: Record<string, string>) => {
    const api = await bed.start({ live: { heartbeatMs: 20 } });
    const code = await newPaste(bed.db);
    const reader = await readEvents(`${api.url}/v1/pastes/${code}/events`, headers);
    await until(() => reader.beats > 3);
    return { code, reader };
  };
  /** The stream ends without an `end`, and later events don't arrive. */
  const expectEnded = async ({ code, reader }: Awaited<ReturnType<typeof streamOf>>) => {
    expect(await reader.over).toBe('ended');
    await settle(bed.db, code, URL_OF_OBJECT);
    expect(reader.words()).toEqual([]);
  };

  it('when its token is revoked', async () => {
    const { id, headers } = await newUser(bed.db);
    const stream = await streamOf(headers);
    await revokeTokens(bed.db, id);
    await expectEnded(stream);
  });

  it.each(['with its token', 'by signing out'])('when the session of its browser ends %s', async (how) => {
    const { id, token } = await newUser(bed.db);
    const cookie = await signedInWith(bed.db, token);
    const stream = await streamOf({ cookie, 'sec-fetch-site': 'same-origin' });
    if (how === 'with its token') await revokeTokens(bed.db, id);
    else await browseAs(bed.api, cookie, '/session/end', ownForm(bed.api.url, {}));
    await expectEnded(stream);
  });

  it('alone among 50, whose tokens are checked by one statement a beat', async () => {
    const api = await bed.start({ live: { heartbeatMs: 50 } });
    const code = await newPaste(bed.db);
    const users = await Promise.all(Array.from({ length: 50 }, () => newUser(bed.db)));
    const readers = await Promise.all(
      users.map(({ headers }) => readEvents(`${api.url}/v1/pastes/${code}/events`, headers)),
    );
    await revokeTokens(bed.db, users[0]!.id);
    expect(await readers[0]!.over).toBe('ended');
    const before = { beats: readers[1]!.beats, checks: checksOf(api) };
    await until(() => readers[1]!.beats > before.beats + 5);
    expect(checksOf(api) - before.checks).toBeLessThanOrEqual(readers[1]!.beats - before.beats + 1);
    await settle(bed.db, code, URL_OF_OBJECT);
    for (const reader of readers.slice(1)) {
      await reader.over;
      expect(reader.words().at(-1)).toBe('end PROCESSED');
    }
  });

  const checksOf = ({ statements }: Pick<RunningApi, 'statements'>) =>
    statements.filter((sql) => sql.includes("encode(token_hash, 'hex')")).length;
});
