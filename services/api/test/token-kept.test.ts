import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newApiToken } from '../src/identity/api-token.ts';
import { hashOfSecret } from '../src/identity/secret.ts';
import { useTokenCommand } from './support/token-bed.ts';

const bed = useTokenCommand();
const { run, made, rowOf } = bed;

describe('--keep-in FILE', () => {
  beforeAll(() => mkdirSync(join(bed.folder, 'kept')));
  const file = () => join(bed.folder, 'kept', 'dev-token');
  const mode = () => (statSync(file()).mode & 0o777).toString(8);

  it('keeps the token readable by its owner alone, and prints the same token while it is good', async () => {
    const token = await made('dev', '--keep-in', file());
    expect([readFileSync(file(), 'utf8'), mode()]).toEqual([`${token}\n`, '600']);
    expect(await made('dev', '--keep-in', file())).toBe(token);
    expect((await rowOf(token)).last_used_at).toBeNull();
    chmodSync(file(), 0o644);
    expect([await made('dev', '--keep-in', file()), mode()]).toEqual([token, '600']);
    expect(readdirSync(join(bed.folder, 'kept'))).toEqual(['dev-token']);
  });

  it('makes a new token when the kept one is revoked, expired, unknown, of another user or malformed', async () => {
    const seen = new Set([await made('dev', '--keep-in', file())]);
    const spoil: (() => Promise<unknown>)[] = [
      async () => await run('--revoke', (await rowOf([...seen].at(-1)!)).id),
      async () => writeFileSync(file(), `${newApiToken()}\n`),
      async () => writeFileSync(file(), `${await made('somebody else')}\n`),
      async () => writeFileSync(file(), ''),
      async () => writeFileSync(file(), 'nonsense'),
      async () =>
        await bed.db
          .updateTable('api_tokens')
          .set({ expires_at: new Date() })
          .where('token_hash', '=', hashOfSecret([...seen].at(-1)!))
          .execute(),
    ];
    for (const [n, spoiling] of spoil.entries()) {
      await spoiling();
      seen.add(await made('dev', '--keep-in', file()));
      expect(seen.size).toBe(n + 2);
    }
  });

  it('revokes the new token when the file cannot be written', async () => {
    const unusable = join(bed.folder, 'no-folder', 'token');
    const { code, stdout, stderr } = await run('keeper', '--keep-in', unusable);
    expect([code, stdout]).toEqual([1, '']);
    expect(existsSync(join(bed.folder, 'no-folder'))).toBe(false);
    expect(stderr).toMatch(/^token: .*no-folder\/token can't be used to keep a token \(.*\)\n$/);
    const rows = await bed.db
      .selectFrom('api_tokens')
      .innerJoin('users', 'users.id', 'user_id')
      .select('revoked_at')
      .where('users.name', '=', 'keeper')
      .execute();
    expect(rows).toEqual([{ revoked_at: expect.any(Date) }]);
  });
});
