import type { Request } from 'express';
import {
  isVisibleName,
  MAX_OWN_TOKENS,
  MAX_TOKEN_DAYS,
  MAX_TOKEN_NAME_CHARACTERS,
  ownTokenScopes,
} from '@pasteflow/domain';
import { createOwnToken, type OwnToken } from '@pasteflow/postgres';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { insufficientScope, invalidToken } from '../http/callers/authorization.ts';
import { hashOfCaller, requireFull, requireUser } from '../http/callers/caller-of.ts';
import { apiTokenOf, hashOfSecret, newApiToken } from '../http/callers/secret.ts';

const DAY = 86_400;

/** A token that is not renewed is used up before its user has forgotten it. */
export const DEFAULT_TOKEN_SECONDS = 90 * DAY;

const MIN_TOKEN_SECONDS = 60;
const MAX_TOKEN_SECONDS = MAX_TOKEN_DAYS * DAY;

export const tokenName = z
  .string('must be a text')
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_TOKEN_NAME_CHARACTERS, `must have at most ${MAX_TOKEN_NAME_CHARACTERS} characters`)
  .refine(isVisibleName, 'must have no control characters and no invisible ones');

export const tokenSeconds = z
  .int('must be a whole number of seconds')
  .min(MIN_TOKEN_SECONDS, `must be at least ${MIN_TOKEN_SECONDS} seconds`)
  .max(MAX_TOKEN_SECONDS, `must be at most ${MAX_TOKEN_SECONDS} seconds`);

export const newTokenSchema = z
  .strictObject({
    name: tokenName.meta({ description: 'What lists of tokens show, such as the name of the machine.' }),
    scope: z.enum(ownTokenScopes, mustBeOneOf(ownTokenScopes)).meta({
      description:
        '`read`: only reads. `write`: everything but making tokens, revoking others, and erasing the user.',
    }),
    expires_in: tokenSeconds.optional().meta({
      description: `Seconds until the token expires; default: ${DEFAULT_TOKEN_SECONDS}. It expires earlier with the token that makes it, or after the longest time that the operator allows: see expires_at.`,
    }),
  })
  .meta({
    id: 'NewToken',
    description: 'A token that its user makes.',
    examples: [{ name: 'laptop', scope: 'write', expires_in: DEFAULT_TOKEN_SECONDS }],
  });

/**
 * Makes a token of the caller, or finds the one that the same form has made.
 * @param formKey null: it is no form
 * @throws RequestError when the caller may make none, or has too many, and when the token of the form has ended
 */
export async function makeToken(
  { db, house }: ApiContext,
  req: Request,
  { name, scope, expires_in: wanted = DEFAULT_TOKEN_SECONDS }: z.output<typeof newTokenSchema>,
  formKey: string | null = null,
): Promise<{ readonly token: string; readonly made: OwnToken }> {
  const userId = requireUser(req);
  requireFull(req);
  if (house.maxTokenSeconds === 0)
    throw insufficientScope('The operator of this service makes all tokens. Ask the operator for one.');
  const token = formKey === null ? newApiToken() : apiTokenOf(formKey, { userId, name, scope, wanted });
  const made = await createOwnToken(db, {
    userId,
    makerHash: hashOfCaller(req),
    name,
    scope,
    tokenHash: hashOfSecret(token),
    expiresInSeconds: Math.min(wanted, house.maxTokenSeconds),
  });
  if (made === 'refused') throw invalidToken(); // it was revoked meanwhile
  if (made === 'ended')
    throw new RequestError(
      'token_not_found',
      'The token of this form was revoked or has expired. Open the page of your tokens again to make another one.',
    );
  if (made === 'too_many')
    throw new RequestError(
      'token_limit_reached',
      `You have ${MAX_OWN_TOKENS} tokens that are good. Revoke one that you no longer need.`,
    );
  return { token, made };
}
