import type { Request } from 'express';
import { isShortCode, isSlug, SLUG_MARK } from '@pasteflow/domain';
import { findPaste, moveSlug as moveInPostgres, type MoveOutcome } from '@pasteflow/postgres';
import { z } from 'zod';
import { readUrlForm } from '../http/body/url-form.ts';
import { goTo } from '../http/pages/page-answers.ts';
import type { ApiContext } from '../context.ts';
import { jsonBodyErrors, readJson } from '../http/body/json-body.ts';
import { RequestError, validate } from '../http/answers/request-error.ts';
import { contextOf } from '../http/request/request-context.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { assertMayDelete } from '../pastes/delete-paste.ts';
import { example } from '../pastes/example.ts';
import {
  assertNotGone,
  findErrors,
  findEvenHeld,
  pasteGone,
  pasteNotFound,
} from '../pastes/find-named-paste.ts';
import { newestVersionOf } from '../pastes/paste-versions.ts';
import { pasteSchema, viewOf } from '../pastes/paste-view.ts';

const shortCode = z.string('must be a text').refine(isShortCode, 'must be a short code');

const exampleMove = { short_code: example.childCode, from: example.shortCode };

/** The path of a slug. */
const namedSlug = z.object({
  slug: z.string().meta({ param: { description: 'The slug, without `~`.', example: example.slug } }),
});

const slugMoveSchema = z
  .strictObject({
    short_code: shortCode.meta({ description: 'Of the paste that the slug names from now on.' }),
    from: shortCode.meta({
      description: 'Of the paste that the slug names now, as far as you know. Otherwise the move is refused.',
    }),
  })
  .meta({
    id: 'SlugMove',
    description: 'Which paste a slug names, and which one before.',
    examples: [exampleMove],
  });

/** What each way to move a slug can be answered. */
const moveErrors = [
  ...findErrors,
  'slug_moved',
  'slug_move_refused',
  'paste_in_progress',
  ...jsonBodyErrors,
] as const;

/** Two short codes, with escapes. */
const MAX_MOVE_BYTES = 1024;

/** PUT /v1/slugs/:slug: moves a slug to a newer paste. */
export function moveSlug(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'moveSlug',
      tag: 'pastes',
      access: 'user',
      summary: 'Moves a slug to a newer version of its paste.',
      description:
        'The new paste must belong to the owner of the slug, be stored, have no slug, and be made from the paste that the slug names now, or from ' +
        'one that was made from it (`parent`). No paste of a move may be encrypted, held by reports, or deleted when it is read. A repeated move is answered as the first one.',
      params: { path: namedSlug },
      body: {
        required: true,
        content: {
          'application/json': {
            schema: slugMoveSchema,
            example: exampleMove,
          },
        },
      },
      answers: { 200: jsonResponse('The slug names the new paste.', pasteSchema) },
      errors: moveErrors,
    },
    handle: async (req, res) => {
      const limit = { what: 'the move', maxBytes: MAX_MOVE_BYTES, budget: api.bodies, weight: 1 };
      const body = await readJson(req, res, slugMoveSchema, limit);
      const { short_code: to } = await move(api, req, String(req.params.slug), body);
      // Also of a paste that is gone since the slug was moved: 410 would deny the move.
      const paste = await findPaste(api.db, to);
      if (paste === null) throw pasteGone();
      res.json(viewOf(paste, api.publicUrl(), 'owner', await newestVersionOf(api.db, req, paste)));
    },
  };
}

/**
 * Moves a slug. The statement decides; what it refuses is then explained by the paste that the slug names.
 * @throws RequestError for each reason not to move it
 */
async function move(
  api: ApiContext,
  req: Request,
  slug: string,
  { short_code: to, from }: z.output<typeof slugMoveSchema>,
): Promise<z.output<typeof slugMoveSchema>> {
  if (!isSlug(slug)) throw pasteNotFound();
  contextOf(req).slug = slug;
  const outcome = await moveInPostgres(api.db, { slug, userId: requireUser(req), from, to }, api.actor);
  if (outcome === 'moved') {
    contextOf(req).shortCode = to;
    return { short_code: to, from };
  }
  const present = await findEvenHeld(api, req, SLUG_MARK + slug);
  assertNotGone(present);
  assertMayDelete(present, req, undefined);
  contextOf(req).shortCode = to; // the page of the refusal links it
  if (outcome === 'in_progress')
    throw new RequestError('paste_in_progress', 'One of the pastes is not stored yet. Send the move again.');
  const reason = refusals[outcome];
  if (reason !== undefined)
    throw new RequestError('slug_move_refused', `The slug was not moved. ${reason(to, from)}`);
  throw new RequestError(
    'slug_moved',
    `The slug now names the paste ${present.short_code}, and not ${from}. Look at ${present.short_code}, and move the slug from there if you still want to.`,
    { shortCode: present.short_code },
  );
}

const refusals: Readonly<Partial<Record<MoveOutcome, (to: string, from: string) => string>>> = {
  unknown: (to) => `You have no paste ${to}. Choose one of your own.`,
  target_ended: (to) => `The paste ${to} has expired or was deleted.`,
  failed: () => 'The upload of a paste failed. Create a new version.',
  burn: (to) => `The paste ${to} is deleted when it is read, so that it can have only one reader.`,
  encrypted: () =>
    'One of the pastes is encrypted, and the readers of a slug have the key of one paste only.',
  held: () => 'Reports hold one of the pastes. Wait until an operator has judged them.',
  named: (to) => `The paste ${to} has or had a slug. Create a new version that has none.`,
  unrelated: (to, from) =>
    `The paste ${to} was not made from ${from}. Create the new version with \`parent\` ${from}.`,
};

/** POST /my/slugs/:slug: moves a slug from the form of a page, and goes to the address with the slug. */
export function moveFromForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user', countsMisses: true }, async (req, res) => {
    const slug = String(req.params.slug);
    await move(api, req, slug, validate(slugMoveSchema, await readUrlForm(req, res, api.bodies)));
    goTo(res, `${api.pages.site(req).base}/~${slug}`);
  });
}
