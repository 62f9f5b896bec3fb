import {
  namesOfLanguage,
  pasteUpload,
  statesOf,
  storedOptionNames,
  valuesOf,
  visibilities,
  isShortCode,
} from '@pasteflow/domain';
import { mustBeOneOf } from '@pasteflow/service-kit';
import {
  findOwnPastes,
  requestDeletions,
  searchPastes,
  searchPastesByExpiry,
  type ListedPaste,
} from '@pasteflow/postgres';
import { myPastesPage, confirmDeletionPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import type { Person } from '../http/callers/person.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { syntaxField, titlePart } from './list-pastes.ts';
import { readersOf } from './receipt.ts';
import { sendPage } from '../http/pages/page.ts';
import { usageOfUser } from '../account/account.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { goTo } from '../http/pages/page-answers.ts';

const PAGE_SIZE = 50;

const states = statesOf(pasteUpload);

/** A form sends an empty text for a field that is not used. */
const query = z.strictObject({
  title: titlePart.default(''),
  status: z.enum(['', ...states], mustBeOneOf(states)).optional(),
  visibility: z.enum(['', ...visibilities], mustBeOneOf(visibilities)).optional(),
  syntax: syntaxField.default(''),
  sort: z.enum(['', 'expiry'], mustBeOneOf(['expiry'])).optional(),
  cursor: pageFields.cursor,
  deleted: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a number')
    .optional(),
});

/** GET /my/pastes: the user's pastes, newest first, or by their expiry. */
export function myPastes(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { cursor, deleted, ...fields } = readQuery(req, query);
    const title = fields.title || null;
    const status = fields.status || null;
    const visibility = fields.visibility || null;
    const syntax = fields.syntax || null;
    const language = syntax === null ? null : namesOfLanguage(syntax);
    const userId = requireUser(req);
    const search = { userId, status, title, visibility, language };
    const wanted = pageRequestOf({ limit: PAGE_SIZE, cursor });
    const byExpiry = fields.sort === 'expiry' ? await searchPastesByExpiry(api.db, search, wanted) : null;
    const found = byExpiry ?? (await searchPastes(api.db, search, wanted));
    const words = await api.firstWords.of(found.rows, res);
    const readers = await readersOf(api.db, found.rows);
    sendPage(
      res,
      myPastesPage(api.pages.site(req), {
        pastes: found.rows.map((paste, index) => shown(paste, words, readers[index] ?? null)),
        title,
        status,
        visibility,
        syntax,
        sort: byExpiry === null ? null : 'expiry',
        isCut: byExpiry?.isCut ?? false,
        isFirst: cursor === undefined,
        next: nextCursorOf(found),
        deleted: deleted === undefined ? null : Number(deleted),
        usage: await usageOfUser(api, userId),
      }),
    );
  });
}

function shown(paste: ListedPaste, words: ReadonlyMap<string, string>, reader: Person | null) {
  const { short_code, status, size_bytes, created_at, expires_at, burned_at } = paste;
  return {
    ...valuesOf(storedOptionNames, paste),
    short_code,
    status,
    size_bytes,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
    firstWords: words.get(short_code) || null,
    receipt: burned_at === null ? null : { read_at: burned_at.toISOString(), reader },
  };
}

const shortCode = z.string().refine(isShortCode, 'must be a short code');
const form = z.strictObject({
  // A form with one value is the same on the wire whether the field is a text or a list.
  short_code: z.union([
    shortCode,
    z.array(shortCode).min(1, 'is missing; select at least one paste').max(100, 'must be at most 100 pastes'),
  ]),
  confirmed: z.literal('yes').optional(),
});

/** POST /my/pastes/delete: asks, and then deletes pastes of the user. */
export function deleteMyPastes(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const userId = requireUser(req);
    const fields = await readUrlForm(req, res, api.bodies, ['short_code']);
    const { short_code, confirmed } = validate(form, fields);
    const shortCodes = [short_code].flat();
    const site = api.pages.site(req);
    if (confirmed === 'yes') {
      const deleted = await requestDeletions(api.db, { userId, shortCodes });
      goTo(res, `${site.base}/my/pastes?deleted=${deleted}`);
    } else {
      sendPage(res, confirmDeletionPage(site, await findOwnPastes(api.db, { userId, shortCodes })));
    }
  });
}
