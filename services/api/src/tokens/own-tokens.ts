import type { Request } from 'express';
import { isUuid } from '@pasteflow/domain';
import { type Database, listOwnTokens, type OwnToken, revokeOwnToken } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonBodyErrors, readJson } from '../http/body/json-body.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { callerOf, hashOfCaller, requireFull, requireUser } from '../http/callers/caller-of.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { instant, jsonResponse, uuid } from '../http/openapi/formats.ts';
import { makeToken, newTokenSchema } from './make-token.ts';

/** The id of the document's examples. */
export const exampleTokenId = '019aa5b2-7c00-7b6e-9c3d-5f2a1e8d4c71';

const exampleView = {
  id: exampleTokenId,
  name: 'laptop',
  scope: 'write',
  created_at: '2026-11-26T09:00:00.000Z',
  last_used_at: null,
  expires_at: '2027-02-24T09:00:00.000Z',
  is_this: false,
};

const view = z.object({
  id: uuid,
  name: z.string(),
  scope: z.enum(['full', 'write', 'read']).meta({ description: '`full`: an operator has made it.' }),
  created_at: instant,
  last_used_at: instant.nullable().meta({ description: 'To the minute; null: never.' }),
  expires_at: instant.nullable().meta({ description: 'null: never.' }),
  is_this: z.boolean().meta({ description: 'It is the token of this request.' }),
});

const tokenSchema = view.meta({ id: 'Token', description: 'A token.', examples: [exampleView] });

const madeSchema = view
  .extend({ token: z.string().meta({ description: 'The secret. Nothing shows it again.' }) })
  .meta({
    id: 'MadeToken',
    description: 'A new token, with its secret.',
    examples: [{ ...exampleView, token: 'pf_0000000000000000000000000000000000000000000' }],
  });

const listSchema = z
  .object({ tokens: z.array(tokenSchema) })
  .meta({ id: 'TokenList', description: 'The tokens of a user.' });

const viewOf = (token: OwnToken): z.output<typeof view> => ({
  id: token.id,
  name: token.name,
  scope: token.scope,
  created_at: token.createdAt.toISOString(),
  last_used_at: token.lastUsedAt?.toISOString() ?? null,
  expires_at: token.expiresAt?.toISOString() ?? null,
  is_this: token.isThis,
});

/** GET /v1/tokens */
export function listTokens({ db }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'listTokens',
      tag: 'tokens',
      access: 'user',
      summary: 'Lists the tokens of the caller that are good, newest first.',
      answers: { 200: jsonResponse('The tokens.', listSchema) },
      errors: ['dependency_unavailable'],
    },
    handle: async (req, res) => {
      const found = await listOwnTokens(db, { userId: requireUser(req), tokenHash: hashOfCaller(req) });
      res.json({ tokens: found.map(viewOf) } satisfies z.output<typeof listSchema>);
    },
  };
}

/** A name in UTF-8 with escapes, and the other fields. */
const MAX_BYTES = 4096;

/** POST /v1/tokens. The answer is not kept for an Idempotency-Key, because only the hash of the secret is stored. */
export function createToken(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'createToken',
      tag: 'tokens',
      access: 'user',
      hasOwnKey: true,
      summary: 'Makes a token of the caller.',
      description:
        'A token that was made here makes no tokens. It ends with the token that made it. An Idempotency-Key does nothing: when the ' +
        'answer was lost, revoke the token and make another one.',
      body: {
        required: true,
        content: {
          'application/json': { schema: newTokenSchema, example: { name: 'laptop', scope: 'write' } },
        },
      },
      answers: { 201: jsonResponse('The token.', madeSchema) },
      errors: ['token_limit_reached', ...jsonBodyErrors],
    },
    handle: async (req, res) => {
      const limit = { what: 'the token', maxBytes: MAX_BYTES, budget: api.bodies, weight: 1 };
      const { token, made } = await makeToken(api, req, await readJson(req, res, newTokenSchema, limit));
      res.status(201).json({ ...viewOf(made), token } satisfies z.output<typeof madeSchema>);
    },
  };
}

const namedToken = z.object({
  id: uuid.meta({ param: { description: 'The id of the token.', example: exampleTokenId } }),
});

/** DELETE /v1/tokens/:id */
export function revokeToken({ db }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'revokeToken',
      tag: 'tokens',
      access: 'user',
      allowsReadTokens: true,
      summary: 'Revokes a token of the caller at once.',
      description:
        'The tokens that it has made, and the browsers that it has signed in, end with it. A token that its user has made revokes only itself.',
      params: { path: namedToken },
      answers: { 204: { description: 'The token is revoked.' } },
      errors: ['token_not_found', 'dependency_unavailable'],
    },
    handle: async (req, res) => {
      await revokeNamed(db, req, String(req.params.id));
      res.status(204).end();
    },
  };
}

/** @throws RequestError token_not_found, insufficient_scope */
export async function revokeNamed(db: Database, req: Request, named: string): Promise<void> {
  const id = named.toLowerCase();
  const userId = requireUser(req);
  const caller = callerOf(req);
  if (caller.kind !== 'user' || caller.tokenId !== id) requireFull(req);
  if (isUuid(id) && (await revokeOwnToken(db, { userId, id }))) return;
  throw new RequestError(
    'token_not_found',
    'You have no token with this id, or it was revoked before. List your tokens.',
  );
}
