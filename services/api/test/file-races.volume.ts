import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { objectKeyOf, placedFiles } from '@pasteflow/domain';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { deletedPaste, processedPaste } from './support/pastes.ts';
import { compressibleContent, rawGet } from './support/raw-get.ts';

const bed = useApi({ env: { TRUST_PROXY: '1' } });
const CLIENTS = 200;
const RETRY_AFTER_MS = 100;
const SIZES = { a: 1000, 'src/b': 270_000 };
const content = compressibleContent(SIZES.a + SIZES['src/b']);
/** The first one is read into memory. The second one and the archive are streams. */
const files = placedFiles(Object.entries(SIZES).map(([name, size]) => ({ name, size, syntax: null })));
const whole: Record<string, Buffer> = {};

/** All pastes are made at the same time, so that their archives are the same. */
async function paste(options: { readonly burn?: boolean } = {}): Promise<string> {
  const code = await processedPaste(bed, content, { files, ...options });
  await bed.db
    .updateTable('pastes')
    .set({ created_at: new Date(1_760_000_000_000) })
    .where('short_code', '=', code)
    .execute();
  return code;
}

beforeAll(async () => {
  whole['files/a'] = content.subarray(0, SIZES.a);
  whole['files/src/b'] = content.subarray(SIZES.a);
  whole['archive'] = (await rawGet(`${bed.api.url}/${await paste()}/archive`)).body;
});

interface Seen {
  readonly status: number;
  /** All bytes of what was asked for. */
  readonly isWhole: boolean;
  readonly isCut: boolean;
}

/** What each client is answered in the end: one that is refused because others are served asks again. */
async function round(code: string): Promise<readonly Seen[]> {
  const paths = Object.keys(whole);
  const read = async (client: number): Promise<Seen> => {
    const path = paths[client % paths.length]!;
    for (;;) {
      const address = { 'x-forwarded-for': `10.0.0.${client}` };
      const { status, body, isCut } = await rawGet(`${bed.api.url}/${code}/${path}`, address);
      if (status !== 503) return { status, isCut, isWhole: body.equals(whole[path]!) };
      await sleep(RETRY_AFTER_MS);
    }
  };
  return await Promise.all(Array.from({ length: CLIENTS }, (_, client) => read(client)));
}

const all = (seen: Omit<Seen, 'isCut'>) => Array<unknown>(CLIENTS).fill({ ...seen, isCut: false });

describe('200 clients that read files and archives', () => {
  it.each<[string, number, (code: string) => Promise<unknown>]>([
    [
      'is deleted',
      410,
      async (code) => {
        await deletedPaste(bed.db, code);
        await bed.store.deleteMany([objectKeyOf(code)]);
      },
    ],
    [
      'is held',
      451,
      (code) => sql`UPDATE pastes SET held_at = now() WHERE short_code = ${code}`.execute(bed.db),
    ],
  ])(
    'get all bytes of what they asked for until the paste %s, and then nothing',
    async (_name, status, end) => {
      const code = await paste();
      expect(await round(code)).toEqual(all({ status: 200, isWhole: true }));
      const [seen] = await Promise.all([round(code), end(code)]);
      expect(seen.filter((each) => each.status !== status && !each.isWhole && !each.isCut)).toEqual([]);
      expect(await round(code)).toEqual(all({ status, isWhole: false }));
    },
  );

  it('get nothing of a paste that is read once, before, while and after it is read', async () => {
    const code = await paste({ burn: true });
    expect(await round(code)).toEqual(all({ status: 403, isWhole: false }));
    const [seen, revealed] = await Promise.all([
      round(code),
      fetch(`${bed.api.url}/${code}`, { method: 'POST' }).then((answer) => answer.arrayBuffer()),
    ]);
    expect(Buffer.from(revealed).equals(content)).toBe(true);
    expect(seen.filter(({ status }) => status !== 403 && status !== 410)).toEqual([]);
    expect(await round(code)).toEqual(all({ status: 410, isWhole: false }));
  });
});
