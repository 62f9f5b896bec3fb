import { revealPaste } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { hashOfSecret } from '../../src/http/callers/secret.ts';
import type { ApiBed } from './api.ts';
import { deletedPaste, expire, failedPaste, newPaste, type Ownership, processedPaste } from './pastes.ts';

/** The content. */
export const SECRET = 'the words for members';

const stored = async (bed: ApiBed, of: Ownership): Promise<string> => await processedPaste(bed, SECRET, of);

let slugs = 0;

/** Each kind of a paste that a short code may name. */
export const kinds: Readonly<Record<string, (bed: ApiBed, of: Ownership) => Promise<string>>> = {
  'a text': stored,
  'one with a slug': async (bed, of) =>
    await stored(bed, { ...of, slug: `sluggish-${String((slugs += 1)).padStart(4, '0')}` }),
  'several files': async (bed, of) =>
    await stored(bed, {
      ...of,
      files: [
        { name: 'a', offset: 0, size: 3, syntax: null },
        { name: 'src/b', offset: 3, size: SECRET.length - 3, syntax: null },
      ],
    }),
  'an encrypted one': async (bed, { title: _, ...of }) => await stored(bed, { ...of, encrypted: true }),
  'one that is read once': async (bed, of) => await stored(bed, { ...of, burn: true }),
  'one that was read': async (bed, of) => {
    const code = await stored(bed, { ...of, burn: true });
    const row = await bed.db
      .selectFrom('pastes')
      .select('id')
      .where('short_code', '=', code)
      .executeTakeFirstOrThrow();
    await revealPaste(bed.db, row.id, { readerKeyHash: hashOfSecret(code), actor: 'api/test' });
    return code;
  },
  'a newer version': async (bed, of) => await stored(bed, { ...of, supersedes: await stored(bed, of) }),
  'an older version': async (bed, of) => {
    const older = await stored(bed, of);
    await stored(bed, { ...of, supersedes: older });
    return older;
  },
  'one that reports hold': async (bed, of) => {
    const code = await stored(bed, of);
    await sql`UPDATE pastes SET held_at = now() WHERE short_code = ${code}`.execute(bed.db);
    return code;
  },
  'one whose upload failed': async (bed, of) => await failedPaste(bed.db, of),
  'one whose upload runs': async (bed, of) => await newPaste(bed.db, SECRET, of),
  'one that is gone': async (bed, of) => {
    const code = await stored(bed, of);
    await expire(bed.db, code);
    if (code < '8') await deletedPaste(bed.db, code);
    return code;
  },
};
