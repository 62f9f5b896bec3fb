import type { Request } from 'express';
import { isShortCode, isSlug, SLUG_MARK, type TakedownClass } from '@pasteflow/domain';
import { canRead, isHeldFrom } from '@pasteflow/service-kit';
import { findPasteBySlug, type PasteRow } from '@pasteflow/postgres';
import type { ApiContext } from '../context.ts';
import { z } from 'zod';
import type { ProblemCode } from '../http/answers/problem-codes.ts';
import { userIdOf } from '../http/callers/caller-of.ts';
import { contextOf } from '../http/request/request-context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { audienceOf, type Audience } from '../live/timeline-view.ts';
import { example } from './example.ts';

/**
 * The parameters of a path that names a paste.
 * @param shortCode the example of the documentation @param id of the component; undefined: it is none
 */
export const namesPaste = (shortCode: string, id?: string) =>
  z.object({
    short_code: z.string().meta({
      param: {
        ...(id !== undefined && { id }),
        description: 'The short code, in base62, or `~` and the slug.',
        example: shortCode,
      },
    }),
  });

export const namedPaste = namesPaste(example.shortCode, 'ShortCode');

/** The errors of finding a paste by its short code or its slug. */
export const findErrors = [
  'paste_not_found',
  'paste_gone',
  'paste_taken_down',
  'paste_held',
  'dependency_unavailable',
] as const satisfies ProblemCode[];

/**
 * The paste that the URL names, for reading it.
 * @throws RequestError paste_held for a paste that only its owner reads until its reports are judged
 */
export async function findNamedPaste(api: ApiContext, req: Request): Promise<PasteRow | null> {
  const paste = await findEvenHeld(api, req);
  if (paste !== null) assertNotHeld(paste, req);
  return paste;
}

/**
 * The paste that the URL names, whether reports hold it or not; null when the caller can't read it. For everybody except its owner a
 * private paste is not found, on every route and in every state. Texts that can be neither short codes nor
 * slugs never reach the database.
 * @param name a short code, or `~` and a slug
 */
export async function findEvenHeld(
  api: ApiContext,
  req: Request,
  name: string = nameOf(req)[0],
): Promise<PasteRow | null> {
  const context = contextOf(req);
  if (name.startsWith(SLUG_MARK)) {
    const slug = name.slice(SLUG_MARK.length);
    if (!isSlug(slug)) return null;
    context.slug = slug;
    return readable(await findPasteBySlug(api.db, slug), req);
  }
  if (!isShortCode(name)) return null;
  context.shortCode = name;
  return readable(await api.findPaste(name), req);
}

/** Also the log line has the short code of a slug only if the caller can read the paste. */
function readable(paste: PasteRow | null, req: Request): PasteRow | null {
  if (paste === null || !canRead(paste, userIdOf(req))) return null;
  const context = contextOf(req);
  context.shortCode = paste.short_code;
  if (paste.burned_at !== null || (paste.status === 'FAILED' && !paste.gone))
    context.endedPaste = paste.short_code;
  return paste;
}

/** Whether the caller is the owner of the paste. */
export function readerOf(paste: Pick<PasteRow, 'user_id'>, req: Request): Audience {
  return audienceOf(paste.user_id, userIdOf(req));
}

/**
 * The extension of a short URL such as `/q7Zk2Lm9Xa.ts`, which names the language of the page; null: none.
 */
export function extensionOf(req: Request): string | null {
  return nameOf(req)[1] ?? null;
}

/**
 * The name and the extension. Only a slug, and a code of the length that is generated, may have one, so that
 * /favicon.ico and /robots.txt are not looked up.
 */
function nameOf(req: Request): readonly [name: string, extension?: string] {
  const name = String(req.params.short_code);
  const [, paste, extension] = /^([0-9A-Za-z]{10}|~[a-z0-9-]+)\.([\w+#-]{1,20})$/.exec(name) ?? [];
  return paste === undefined || extension === undefined ? [name] : [paste, extension];
}

/**
 * An expired, claimed or deleted paste is never served, and neither is one that an operator took down.
 * @throws RequestError paste_not_found, paste_taken_down or paste_gone
 */
export function assertNotGone(paste: PasteRow | null): asserts paste is PasteRow {
  if (paste === null) throw pasteNotFound();
  if (paste.taken_down_for !== null) throw pasteTakenDown(paste.taken_down_for);
  if (paste.burned_at !== null) throw pasteRevealed();
  if (paste.gone) throw pasteGone();
}

/**
 * For a paste that is gone or FAILED, the error names that state instead.
 * @throws RequestError paste_held
 */
export function assertNotHeld(paste: PasteRow, req: Request): void {
  if (!isHeldFrom(paste, userIdOf(req)) || paste.gone || paste.status === 'FAILED') return;
  throw new RequestError(
    'paste_held',
    'Many readers have reported this paste. It cannot be read until an operator of this service has looked at it.',
  );
}

/**
 * The timeline of a paste that was revealed is still shown: it says when the paste was read.
 * @throws RequestError as assertNotGone
 */
export function assertTimelineShown(paste: PasteRow | null): asserts paste is PasteRow {
  if (paste === null || paste.burned_at === null || paste.taken_down_for !== null) assertNotGone(paste);
}

export function pasteNotFound(): RequestError {
  return new RequestError('paste_not_found', 'There is no paste at this address. Check the URL.');
}

export function pasteGone(): RequestError {
  return new RequestError('paste_gone', 'This paste has expired or was deleted. It cannot be restored.');
}

/** Whoever expected to be the reader learns that somebody else was. */
function pasteRevealed(): RequestError {
  return new RequestError(
    'paste_gone',
    'This paste could be read once, and was read. It cannot be restored; its timeline says when it was read.',
  );
}

/** The reason that readers see, by the class of the takedown. */
const takedownWords: Readonly<Record<TakedownClass, string>> = {
  illegal: 'because its content is illegal',
  copyright: 'because its content infringes a copyright',
  malware: 'because its content is malware',
  phishing: 'because its content serves phishing',
  personal_data: 'because its content has personal data or leaked credentials',
  spam: 'because its content is spam',
  other: 'because its content breaks the rules of this service',
};

function pasteTakenDown(takedownClass: TakedownClass): RequestError {
  return new RequestError(
    'paste_taken_down',
    `The operator of this service took this paste down ${takedownWords[takedownClass]}.`,
    { takedownClass },
  );
}
