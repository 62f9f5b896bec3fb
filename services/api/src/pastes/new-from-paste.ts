import { isUtf8 } from 'node:buffer';
import type { Request, Response } from 'express';
import { copiedOptionNames, valuesOf } from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import { encodingOf, MAX_FILLED_BYTES, newPastePage, textOf, type ShownOrigin } from '@pasteflow/web';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { findErrors, findNamedPaste, namedPaste } from './find-named-paste.ts';
import { assertStays, type ReadContentDependencies } from './read-content.ts';
import { readContent } from '../storage/stored-content.ts';
import { type Pages, sendPage } from '../http/pages/page.ts';
import { pageOf } from '../http/pages/page-answers.ts';
import { assertShown } from './paste-page.ts';

export interface NewFromPasteDependencies extends ReadContentDependencies {
  readonly pages: Pages;
  readonly maxPasteBytes: number;
}

/** The content is in memory, and so is its markup. */
const WEIGHT = 7;

/**
 * GET /:short_code/new: the form for a new paste that is made from this one. The form has the text, also
 * without JavaScript.
 */
export function newFromPaste(deps: NewFromPasteDependencies): Endpoint {
  const show: Handler = async (req, res) => {
    const paste = await findNamedPaste(deps, req);
    assertShown(paste);
    assertStays(deps, paste);
    const download = deps.downloads.begin(req, Math.min(paste.size_bytes, MAX_FILLED_BYTES), WEIGHT);
    try {
      const text = paste.encrypted
        ? { missing: 'encrypted' as const }
        : await shownTextOf(deps, req, res, paste);
      const origin = { short_code: paste.short_code, ...valuesOf(copiedOptionNames, paste), text };
      sendPage(res, newPastePage(deps.pages.site(req), { maxPasteBytes: deps.maxPasteBytes, origin }));
    } finally {
      download.release();
    }
  };
  return {
    operation: {
      operationId: 'showNewFromPaste',
      tag: 'pages',
      access: 'anyone',
      summary: 'The form for a new paste that is made from this one.',
      params: { path: namedPaste },
      answers: { 200: pageOf('The form, with the text of the paste if it has up to 256 KiB.') },
      errors: [...findErrors, 'reveal_required', 'rate_limited', 'overloaded'],
    },
    handle: show,
    page: show,
  };
}

async function shownTextOf(
  deps: NewFromPasteDependencies,
  req: Request,
  res: Response,
  paste: PasteRow,
): Promise<ShownOrigin['text']> {
  if (paste.status === 'IN_PROGRESS') return { missing: 'in progress' };
  if (paste.size_bytes > MAX_FILLED_BYTES) return { missing: 'too long' };
  const content = await readContent(deps, { paste, range: undefined, accepts: null }, res);
  if (content === null) {
    assertShown(await findNamedPaste(deps, req)); // it was deleted meanwhile
    return { missing: 'in progress' };
  }
  const { bytes } = content;
  const text = isUtf8(bytes) || encodingOf(bytes) !== 'utf-8' ? textOf(bytes) : '\0';
  return text.includes('\0') ? { missing: 'not text' } : text;
}
