import {
  MAX_SYNTAX_CHARACTERS,
  namesOfLanguage,
  pasteOptions,
  pasteUpload,
  statesOf,
  visibilities,
} from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { findNewestVersions, searchPastes } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { nextCursor, nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { pasteSchema, viewOf } from './paste-view.ts';

const states = statesOf(pasteUpload);

const MAX_TITLE = pasteOptions.title.maxCharacters;

/** A part of a title. */
export const titlePart = z
  .string()
  .max(MAX_TITLE, `must have at most ${MAX_TITLE} characters`)
  .regex(/^[^\0]*$/, 'must not have control characters');

/** The name of a language, which no paste has longer. */
export const syntaxField = z
  .string()
  .max(MAX_SYNTAX_CHARACTERS, `must have at most ${MAX_SYNTAX_CHARACTERS} characters`)
  .regex(/^[^\0]*$/, 'must not have control characters');

const query = z.strictObject({
  status: z
    .enum(states, mustBeOneOf(states))
    .optional()
    .meta({ description: 'Only pastes in this upload state.', param: { example: 'PROCESSED' } }),
  q: titlePart.optional().meta({
    description: 'Only pastes whose title, or the name of a file, contains this text, in any case.',
    param: { example: 'release' },
  }),
  visibility: z
    .enum(visibilities, mustBeOneOf(visibilities))
    .optional()
    .meta({ description: 'Only pastes with this visibility.', param: { example: 'private' } }),
  syntax: syntaxField.optional().meta({
    description:
      'Only pastes in this language: by their syntax, or else by their title as the name of a file, and so for each of their files. Other names of a language mean the same.',
    param: { example: 'rust' },
  }),
  ...pageFields,
});

const pasteList = z
  .object({ pastes: z.array(pasteSchema), next_cursor: nextCursor })
  .meta({ id: 'PasteList', description: 'A page of pastes, newest first.' });

/** GET /v1/pastes: the caller's pastes, newest first, without expired and deleted ones that nobody has read. */
export function listPastes({ db, publicUrl }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'listPastes',
      tag: 'pastes',
      access: 'user',
      summary: "Lists the caller's pastes, newest first.",
      description:
        'Expired and deleted pastes are not listed, except for those that were read once, which `read_at` tells. New pastes do not shift the pages that follow a cursor. With `q`, `visibility` or `syntax`, a page looks at 10,000 pastes at most, so that it can be short or empty although more follow.',
      params: { query },
      answers: { 200: jsonResponse('A page of pastes.', pasteList) },
      errors: ['validation_failed', 'dependency_unavailable'],
    },
    handle: async (req, res) => {
      const { status = null, q, visibility = null, syntax, ...page } = readQuery(req, query);
      const language = syntax ? namesOfLanguage(syntax) : null;
      const filter = { userId: requireUser(req), status, title: q || null, visibility, language };
      const found = await searchPastes(db, filter, pageRequestOf(page));
      const url = publicUrl();
      const superseded = found.rows.filter(({ superseded_by: newer }) => newer !== null);
      const newest =
        superseded.length === 0
          ? new Map<string, string>()
          : await findNewestVersions(
              db,
              superseded.map(({ short_code: code }) => code),
              filter.userId,
            );
      const list: z.output<typeof pasteList> = {
        pastes: found.rows.map((paste) => viewOf(paste, url, 'owner', newest.get(paste.short_code) ?? null)),
        next_cursor: nextCursorOf(found),
      };
      res.json(list);
    },
  };
}
