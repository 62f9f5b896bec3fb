import {
  findPastes,
  listDeposits,
  listSecretRequests,
  type Deposit,
  type PasteRow,
} from '@pasteflow/postgres';
import { MAX_DEPOSITS, pasteUpload, statesOf } from '@pasteflow/domain';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { instant, jsonResponse } from '../http/openapi/formats.ts';
import { nextCursor, nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import {
  closedFor,
  findErrors,
  findNamedRequest,
  findOwnRequest,
  isOwn,
  namedRequest,
} from './find-request.ts';
import { openRequestSchema, ownRequestSchema, viewOfOpen, viewOfOwn } from './request-view.ts';

const query = z.strictObject(pageFields);

const listSchema = z
  .object({ requests: z.array(ownRequestSchema), next_cursor: nextCursor })
  .meta({ id: 'SecretRequestList', description: 'A page of requests for secrets, newest first.' });

/** GET /v1/requests: the caller's requests, in any state. */
export function listRequests({ db, publicUrl }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'listRequests',
      tag: 'requests',
      access: 'user',
      summary: "Lists the caller's requests for secrets, newest first.",
      description: 'A request is listed for 30 days after its expiry, and for as long as it has deposits.',
      params: { query },
      answers: { 200: jsonResponse('A page of requests.', listSchema) },
      errors: ['validation_failed', 'dependency_unavailable'],
    },
    handle: async (req, res) => {
      const page = pageRequestOf(readQuery(req, query));
      const found = await listSecretRequests(db, requireUser(req), page);
      res.json({
        requests: found.rows.map((request) => viewOfOwn(request, publicUrl())),
        next_cursor: nextCursorOf(found),
      } satisfies z.output<typeof listSchema>);
    },
  };
}

/** GET /v1/requests/:id */
export function readRequest(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readRequest',
      tag: 'requests',
      access: 'anyone',
      summary: 'Reads a request for secrets.',
      description:
        'Its user reads it in any state. Everybody else reads who asks and for what while it takes deposits, and then only that it takes none.',
      params: { path: namedRequest },
      answers: {
        200: jsonResponse('The request.', z.union([ownRequestSchema, openRequestSchema])),
      },
      errors: [...findErrors, 'request_closed', 'request_used_up'],
    },
    handle: async (req, res) => {
      const request = await findNamedRequest(api.db, req);
      if (isOwn(request, req)) {
        res.json(viewOfOwn(request, api.publicUrl()));
        return;
      }
      const closed = closedFor(request);
      if (closed !== null) throw closed;
      res.json(viewOfOpen(request, api));
    },
  };
}

const depositSchema = z
  .object({
    short_code: z
      .string()
      .meta({ description: 'Of the paste that the deposit is; the receipt of who deposited it.' }),
    url: z.url().meta({ description: 'The page of the paste. It works with `#` and its key behind it.' }),
    wrapped_key: z
      .string()
      .regex(/^[\w-]{151}$/)
      .meta({
        description:
          'The key of the paste: HPKE (RFC 9180) of the key in base mode, with the suite DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, ' +
          'and the id of the request as info. In base64url, the encapsulated key (65 bytes) and the ciphertext (48).',
      }),
    created_at: instant,
    expires_at: instant.nullable(),
    status: z.enum(statesOf(pasteUpload)).meta({ description: 'The state of the upload.' }),
    size_bytes: z.int().positive(),
    is_there: z.boolean().meta({ description: 'It can be read: it was not deleted, and has not expired.' }),
  })
  .meta({ id: 'Deposit', description: 'What somebody has deposited for a request.' });

const depositList = z
  .object({ deposits: z.array(depositSchema).max(MAX_DEPOSITS) })
  .meta({ id: 'DepositList', description: 'The deposits of a request, oldest first.' });

/** GET /v1/requests/:id/deposits */
export function readDeposits(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readDeposits',
      tag: 'requests',
      access: 'user',
      summary: 'Lists what was deposited for a request of the caller, oldest first.',
      description:
        'A deposit is a private and encrypted paste of the caller. It is listed until its paste is removed, which is 30 days after the deletion.',
      params: { path: namedRequest },
      answers: { 200: jsonResponse('The deposits.', depositList) },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const { id } = await findOwnRequest(api.db, req);
      res.json({ deposits: await depositsOf(api, id) } satisfies z.output<typeof depositList>);
    },
  };
}

/** The deposits whose pastes have rows, oldest first. @param requestId of the row */
export async function depositsOf(
  { db, publicUrl }: Pick<ApiContext, 'db' | 'publicUrl'>,
  requestId: string,
): Promise<z.output<typeof depositSchema>[]> {
  const deposits = await listDeposits(db, requestId);
  const pastes = await findPastes(
    db,
    deposits.map(({ shortCode }) => shortCode),
  );
  return deposits.flatMap((deposit) => {
    const paste = pastes.get(deposit.shortCode);
    return paste === undefined ? [] : [viewOfDeposit(deposit, paste, publicUrl())];
  });
}

function viewOfDeposit(
  { shortCode, wrappedKey, createdAt }: Deposit,
  paste: PasteRow,
  publicUrl: string,
): z.output<typeof depositSchema> {
  return {
    short_code: shortCode,
    url: `${publicUrl}/${shortCode}`,
    wrapped_key: wrappedKey.toString('base64url'),
    created_at: createdAt.toISOString(),
    expires_at: paste.expires_at?.toISOString() ?? null,
    status: paste.status,
    size_bytes: paste.size_bytes,
    is_there: !paste.gone && paste.status !== 'FAILED',
  };
}
