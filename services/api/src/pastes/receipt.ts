import { findNamesOf, type Database, type PasteRow } from '@pasteflow/postgres';
import type { Request } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { personOf, personSchema, type Person } from '../http/callers/person.ts';
import type { ApiEndpoint } from '../http/openapi/endpoint.ts';
import { instant, jsonResponse } from '../http/openapi/formats.ts';
import { isDeleteToken, withDeleteToken } from './delete-paste.ts';
import { example } from './example.ts';
import {
  assertNotGone,
  findErrors,
  findEvenHeld,
  namesPaste,
  pasteNotFound,
  readerOf,
} from './find-named-paste.ts';
import { assertBurns } from './reveal-paste.ts';

const receiptSchema = z
  .object({
    read_at: instant.nullable().meta({ description: 'When the content was fetched. null: it can still be.' }),
    reader: personSchema.nullable().meta({
      description:
        'Who was signed in, or sent a token. null: nobody has fetched it, or somebody with the link, or a user who is erased.',
    }),
  })
  .meta({
    id: 'Receipt',
    description: 'Whether a paste that is deleted when it is read was fetched, and by whom.',
    examples: [
      {
        read_at: '2026-11-21T12:05:00.000Z',
        reader: { name: 'Anna Adler', issuer: 'https://login.example.org' },
      },
    ],
  });

/** GET /v1/pastes/:short_code/receipt: for the owner of a paste, or who has its delete token. */
export function readReceipt(api: ApiContext): ApiEndpoint {
  return {
    operation: {
      operationId: 'readReceipt',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Says whether a paste that is deleted when it is read was fetched.',
      description:
        'Needs a token of the owner or, for an anonymous paste, its delete_token; for everybody else the paste is not found. Fetched means that the content was sent to somebody, who may not have received or decrypted all of it. It is known until the row of the paste is removed.',
      params: { path: namesPaste(example.burnCode), header: withDeleteToken },
      answers: { 200: jsonResponse('The receipt.', receiptSchema) },
      errors: [...findErrors, 'nothing_to_reveal'],
    },
    handle: async (req, res) => {
      const paste = await findEvenHeld(api, req);
      if (paste === null || !isOwn(paste, req)) throw pasteNotFound();
      if (paste.burned_at === null) assertNotGone(paste);
      assertBurns(paste);
      const [reader = null] = await readersOf(api.db, [paste]);
      const receipt: z.output<typeof receiptSchema> = {
        read_at: paste.burned_at?.toISOString() ?? null,
        reader,
      };
      res.json(receipt);
    },
  };
}

function isOwn(paste: PasteRow, req: Request): boolean {
  return paste.user_id === null
    ? isDeleteToken(req.get('Delete-Token'), paste.delete_token_hash)
    : readerOf(paste, req) === 'owner';
}

/** Who has read each of these pastes; null: nobody, or somebody who is not named. One statement, if there is a name. */
export async function readersOf(
  db: Database,
  pastes: readonly Pick<PasteRow, 'read_by'>[],
): Promise<readonly (Person | null)[]> {
  const ids = pastes.flatMap(({ read_by: id }) => id ?? []);
  const names = ids.length === 0 ? null : await findNamesOf(db, ids);
  return pastes.map(({ read_by: id }) => {
    const found = names?.get(id ?? '');
    return found === undefined ? null : personOf(found);
  });
}
