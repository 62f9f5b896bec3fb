import { findMovableSlug, type PasteRow } from '@pasteflow/postgres';
import { historyPage, type ShownPaste } from '@pasteflow/web';
import type { Request } from 'express';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/errors/request-error.ts';
import { userIdOf } from '../identity/caller-of.ts';
import type { Endpoint, Handler } from '../openapi/endpoint.ts';
import { assertNotGone, findNamedPaste, type FindDependencies } from '../pastes/find-named-paste.ts';
import {
  exampleMove,
  move,
  moveErrors,
  type MoveSlugDependencies,
  namedSlug,
  slugMoveSchema,
} from '../pastes/move-slug.ts';
import { readHistory, versionsOf } from '../pastes/read-history.ts';
import { type Pages, sendPage } from '../html/page.ts';
import { goTo, redirectOf } from './page-answers.ts';

/** GET /:short_code/history: the versions of a slug; in a browser, as a page. */
export function historyAtShortUrl(deps: FindDependencies & { readonly pages: Pages }): Endpoint {
  const { operation, handle } = readHistory(deps);
  return {
    operation: {
      ...operation,
      operationId: 'readHistoryByShortUrl',
      summary: 'Lists the pastes that a slug has named, newest first; in a browser, as a page.',
    },
    handle,
    page: async (req, res) => {
      const paste = await findNamedPaste(deps, req);
      assertNotGone(paste);
      const versions = await versionsOf(deps, req, paste);
      const shown = versions.map(({ namedAt, ...of }) => ({ ...of, named_at: namedAt.toISOString() }));
      sendPage(res, historyPage(deps.pages.site(req), paste, shown));
    },
  };
}

/** What the page of a paste says of its slug: which version it is, or that its owner can move a slug to it. */
export async function namingOf(
  deps: FindDependencies,
  req: Request,
  paste: PasteRow,
): Promise<Pick<ShownPaste, 'version' | 'movable'>> {
  const { version: number } = paste;
  if (number !== null) {
    const [newest] = await versionsOf(deps, req, paste, 1);
    return { version: { number, newest: Math.max(number, newest?.number ?? 0) } };
  }
  const userId = userIdOf(req);
  const mayMove = userId !== null && paste.user_id === userId && paste.status === 'PROCESSED';
  const isRefused = paste.slug !== null || paste.encrypted || paste.burn || paste.held_at !== null;
  if (!mayMove || paste.parent === null || isRefused) return {};
  return { movable: await findMovableSlug(deps.db, paste.parent, userId) };
}

/** POST /my/slugs/:slug: moves a slug from the form of a page, and goes to the address with the slug. */
export function moveFromForm(deps: MoveSlugDependencies & { readonly pages: Pages }): Endpoint {
  const send: Handler = async (req, res) => {
    const slug = String(req.params.slug);
    await move(deps, req, slug, validate(slugMoveSchema, await readUrlForm(req, res, deps.bodies)));
    goTo(res, `${deps.pages.site(req).base}/~${slug}`);
  };
  return {
    operation: {
      operationId: 'moveSlugFromForm',
      tag: 'pages',
      access: 'user',
      summary: 'Moves a slug to a newer version of its paste, from the form of its page.',
      params: { path: namedSlug },
      body: {
        required: true,
        content: { 'application/x-www-form-urlencoded': { schema: slugMoveSchema, example: exampleMove } },
      },
      answers: { 303: redirectOf('The slug names the new paste.') },
      errors: moveErrors,
    },
    handle: send,
    page: send,
  };
}
