import { isUtf8 } from 'node:buffer';
import type { Request, Response } from 'express';
import { copiedOptionNames, valuesOf } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import { encodingOf, MAX_FILLED_BYTES, newPastePage, textOf, type ShownOrigin } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { credentialsRequired } from '../http/callers/authorization.ts';
import { userIdOf } from '../http/callers/caller-of.ts';
import { contextOf } from '../http/request/request-context.ts';
import { findNamedPaste, readerOf } from './find-named-paste.ts';
import { namingOf } from './paste-versions.ts';
import { assertStays } from './read-content.ts';
import { readContent } from '../storage/stored-content.ts';
import { sendPage } from '../http/pages/page.ts';
import { assertShown } from './paste-page.ts';

/** The content is in memory, and so is its markup. */
const WEIGHT = 7;

/**
 * GET /:short_code/new: the form for a new paste that is made from this one. The form has the text, also
 * without JavaScript.
 */
export function newFromPaste(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const paste = await findNamedPaste(api, req);
    assertShown(paste);
    assertStays(api, paste);
    if (api.anonymousPastes === 'deny') requireSignedIn(req, 'Sign in to create a paste.');
    await sendForm(api, req, res, paste, null);
  });
}

/**
 * GET /:short_code/edit: the form for a newer version. That of an older version supersedes the newest one, and so
 * restores the older one.
 */
export function editPaste(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const paste = await findNamedPaste(api, req);
    assertShown(paste);
    assertStays(api, paste);
    if (paste.encrypted)
      throw new RequestError(
        'validation_failed',
        'An encrypted paste has no newer version: its link has the key of one text.',
      );
    if (paste.user_id !== null && readerOf(paste, req) !== 'owner')
      throw signInFirst(req, 'Sign in as the owner of this paste to edit it.');
    // Nobody reads a newer version only once.
    if (api.anonymousPastes === 'deny' || api.house.anonymous.burnOnly)
      requireSignedIn(req, 'Sign in to save a newer version of this paste.');
    const { newer } = await namingOf(api.db, req, paste);
    const superseded = newer === undefined ? paste : await api.findPaste(newer);
    await sendForm(api, req, res, paste, {
      visibility: paste.visibility,
      supersedes: newer ?? paste.short_code,
      conflict: newer === undefined ? null : { older: paste.short_code, newer },
      needsToken: superseded?.user_id === null,
    });
  });
}

/** @throws RequestError unauthorized, which a browser sees as the page to sign in */
function requireSignedIn(req: Request, why: string): void {
  if (userIdOf(req) === null) throw signInFirst(req, why);
}

function signInFirst(req: Request, why: string): RequestError {
  contextOf(req).mustSignIn = true;
  return credentialsRequired(why);
}

async function sendForm(
  api: ApiContext,
  req: Request,
  res: Response,
  paste: PasteRow,
  edit: ShownOrigin['edit'],
): Promise<void> {
  const download = api.downloads.begin(req, Math.min(paste.size_bytes, MAX_FILLED_BYTES), WEIGHT);
  try {
    const text = paste.encrypted
      ? { missing: 'encrypted' as const }
      : await shownTextOf(api, req, res, paste);
    const copied = valuesOf([...copiedOptionNames, 'files'], paste);
    const origin = { short_code: paste.short_code, ...copied, text, edit };
    sendPage(res, newPastePage(api.pages.site(req), { maxPasteBytes: api.maxPasteBytes, origin }));
  } finally {
    download.release();
  }
}

async function shownTextOf(
  api: ApiContext,
  req: Request,
  res: Response,
  paste: PasteRow,
): Promise<ShownOrigin['text']> {
  if (paste.status === 'IN_PROGRESS') return { missing: 'in progress' };
  if (paste.files !== null) return { missing: 'files' };
  if (paste.size_bytes > MAX_FILLED_BYTES) return { missing: 'too long' };
  const content = await readContent(api.store, api.cache, { paste, range: undefined, accepts: null }, res);
  if (content === null) {
    assertShown(await findNamedPaste(api, req)); // it was deleted meanwhile
    return { missing: 'in progress' };
  }
  const { bytes } = content;
  const text = isUtf8(bytes) || encodingOf(bytes) !== 'utf-8' ? textOf(bytes) : '\0';
  return text.includes('\0') ? { missing: 'not text' } : text;
}
