import {
  namesOfLanguage,
  pasteUpload,
  statesOf,
  storedOptionNames,
  valuesOf,
  visibilities,
} from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { searchPastes, type ListedPaste } from '@pasteflow/postgres';
import { myPastesPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { syntaxField, titlePart } from './list-pastes.ts';
import { sendPage } from '../http/pages/page.ts';
import { usageOfUser } from '../account/read-usage.ts';

const PAGE_SIZE = 50;

const states = statesOf(pasteUpload);

/** A form sends an empty text for a field that is not used. */
const query = z.strictObject({
  title: titlePart.default(''),
  status: z.enum(['', ...states], mustBeOneOf(states)).optional(),
  visibility: z.enum(['', ...visibilities], mustBeOneOf(visibilities)).optional(),
  syntax: syntaxField.default(''),
  cursor: pageFields.cursor,
  deleted: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a number')
    .optional(),
});

/** GET /my/pastes: the user's pastes, newest first. */
export function myPastes(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { cursor, deleted, ...fields } = readQuery(req, query);
    const title = fields.title || null;
    const status = fields.status || null;
    const visibility = fields.visibility || null;
    const syntax = fields.syntax || null;
    const language = syntax === null ? null : namesOfLanguage(syntax);
    const userId = requireUser(req);
    const found = await searchPastes(
      api.db,
      { userId, status, title, visibility, language },
      pageRequestOf({ limit: PAGE_SIZE, cursor }),
    );
    sendPage(
      res,
      myPastesPage(api.pages.site(req), {
        pastes: found.rows.map(shown),
        title,
        status,
        visibility,
        syntax,
        isFirst: cursor === undefined,
        next: nextCursorOf(found),
        deleted: deleted === undefined ? null : Number(deleted),
        usage: await usageOfUser(api, userId),
      }),
    );
  });
}

function shown(paste: ListedPaste) {
  const { short_code, status, size_bytes, created_at, expires_at } = paste;
  return {
    ...valuesOf(storedOptionNames, paste),
    short_code,
    status,
    size_bytes,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
  };
}
