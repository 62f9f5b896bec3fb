import {
  ParentNotFoundError,
  MAX_EXPIRY_SECONDS,
  MIN_EXPIRY_SECONDS,
  type ChosenOptions,
} from '@pasteflow/domain';
import type { PasteRow } from '@pasteflow/postgres';
import type { Request } from 'express';
import type { ApiContext } from '../context.ts';
import { RequestError, validationFailed, type FieldError } from '../http/answers/request-error.ts';
import { assertMayDelete } from './delete-paste.ts';
import { pasteNotEdited } from '../storage/paste-inserts.ts';
import { assertNotHeld, findEvenHeld } from './find-named-paste.ts';
import type { InheritedOption, ReceivedPaste } from './receive-paste.ts';

/**
 * The options of a newer version, with what it has from the older one. The insert asks once more for what can
 * change: whether the older paste is there, and whether it is held or superseded.
 * @throws RequestError for each reason not to supersede the paste, and ParentNotFoundError
 */
export async function newerVersionOf(
  api: ApiContext,
  req: Request,
  supersedes: string,
  {
    deleteToken,
    inherited = [],
    ...options
  }: ChosenOptions & Pick<ReceivedPaste, 'deleteToken' | 'inherited'>,
): Promise<ChosenOptions> {
  const older = await findEvenHeld(api, req, supersedes);
  if (older === null || older.gone || older.status === 'FAILED') throw new ParentNotFoundError('supersedes');
  assertNotHeld(older, req);
  assertMayDelete(older, req, deleteToken);
  const errors = errorsOf(older, options);
  if (errors.length > 0) throw validationFailed(errors);
  if (older.status === 'IN_PROGRESS')
    throw new RequestError(
      'paste_in_progress',
      `The paste ${supersedes} is not stored yet. Send the newer version again.`,
    );
  if (older.held_at !== null) throw pasteNotEdited();
  const { slug: _, ...rest } = options;
  return {
    ...rest,
    ...(older.slug === null && options.slug !== undefined && { slug: options.slug }),
    parent: supersedes,
    ...inheritedOf(older, inherited),
  };
}

function errorsOf(
  older: PasteRow,
  { parent, slug, burn, encrypted, supersedes }: ChosenOptions,
): FieldError[] {
  const faults: readonly (readonly [path: string, isFault: boolean, message: string])[] = [
    [
      'supersedes',
      older.encrypted,
      'must not name an encrypted paste, whose newer version needs a new key and link',
    ],
    ['supersedes', older.burn, 'must not name a paste that is deleted when it is read'],
    ['parent', (parent ?? supersedes) !== supersedes, 'must be empty or the same as `supersedes`'],
    ['burn', burn === true, 'must be false for a newer version'],
    ['encrypted', encrypted === true, 'must be false for a newer version'],
    [
      'slug',
      older.slug !== null && (slug ?? older.slug) !== older.slug,
      'must be empty: the slug of the older paste moves to the newer version',
    ],
  ];
  return faults.flatMap(([path, isFault, message]) => (isFault ? [{ path, message }] : []));
}

function inheritedOf(older: PasteRow, inherited: readonly InheritedOption[]): Partial<ChosenOptions> {
  const values = {
    title: { title: older.title },
    syntax: { syntax: older.syntax },
    visibility: { visibility: older.visibility },
    expires_in: { expiresInSeconds: secondsLeftOf(older) },
  };
  return Object.assign({}, ...inherited.map((name) => values[name])) as Partial<ChosenOptions>;
}

/** What is left of the time of the older paste; null: it never expires. */
function secondsLeftOf({ expires_at: expiresAt }: PasteRow): number | null {
  if (expiresAt === null) return null;
  const left = Math.floor((expiresAt.getTime() - Date.now()) / 1000);
  return Math.min(Math.max(left, MIN_EXPIRY_SECONDS), MAX_EXPIRY_SECONDS);
}
