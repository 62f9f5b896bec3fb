import { MAX_DEPOSITS, secretRequest, statesOf } from '@pasteflow/domain';
import type { SecretRequest } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { personOf, personSchema } from '../http/callers/person.ts';
import { instant } from '../http/openapi/formats.ts';

/** In the examples of the OpenAPI document. */
export const exampleRequest = {
  code: '3mVxQ9bTr5LkW2hYc8NfZd',
  message: 'The password of the staging database, please.',
  receipt: 'dEpos2Lm9X',
  expiresIn: 604_800,
  deposit: {
    content:
      '{"v":2,"adata":[["ldfMimOmcX/x8qCvjcriNQ==","6qM/dEwUZco=",600000,256,128,"aes","gcm","zlib"],"plaintext",0,0],' +
      '"ct":"nlmnn98JWOR/L9DmNWrroP2/WefhSducAqRYOQpGQ0p4moQz3Q=="}',
    wrapped_key:
      'BJvcz_GxRTZxvPIb7e4bDpldB4HJcpZG-JtYWScG07r2LOvgyvcnxwQlu1tm9tEUuFttQNSBDdroPMyxQ7gw9eC7mRvzJxaar2rov36W4pzxnNapMyFqdgIgS2wac4KL3y-sHRPRbxIPjQnVqROjFKc',
  },
} as const;

const shared = {
  id: z.string().meta({ description: '22 characters of base62.' }),
  url: z.url().meta({
    description:
      'The page for depositors. It works with `#` and the public key of who asks behind it, which this service never gets.',
  }),
  status: z
    .enum(statesOf(secretRequest))
    .meta({ description: 'An `OPEN` request takes deposits until `expires_at`.' }),
  message: z.string().nullable().meta({ description: 'What is asked for; null: nothing is said.' }),
  deposits: z.int().min(1).max(MAX_DEPOSITS).meta({ description: 'How many deposits the request takes.' }),
  deposits_left: z.int().min(0).max(MAX_DEPOSITS),
  expires_at: instant,
};

const exampleShared = {
  id: exampleRequest.code,
  url: `https://paste.example.org/requests/${exampleRequest.code}`,
  status: 'OPEN',
  message: exampleRequest.message,
  deposits: 1,
  deposits_left: 1,
  expires_at: '2026-11-28T12:00:00.000Z',
};

/** A request as its user sees it. */
export const ownRequestSchema = z.object({ ...shared, created_at: instant }).meta({
  id: 'SecretRequest',
  description: 'A request for secrets, for its user.',
  examples: [{ ...exampleShared, created_at: '2026-11-21T12:00:00.000Z' }],
});

/** A request as depositors see it, for as long as it takes deposits. */
export const openRequestSchema = z
  .object({
    ...shared,
    from: personSchema,
    max_bytes: z.int().positive().meta({ description: 'The largest content of a deposit.' }),
  })
  .meta({
    id: 'OpenSecretRequest',
    description: 'A request for secrets, for who may deposit one.',
    examples: [
      { ...exampleShared, from: { name: 'Ann', issuer: 'https://id.example.org' }, max_bytes: 10_485_760 },
    ],
  });

export type OwnRequestView = Readonly<z.output<typeof ownRequestSchema>>;
export type OpenRequestView = Readonly<z.output<typeof openRequestSchema>>;

type Shown = Pick<
  SecretRequest,
  'code' | 'message' | 'places' | 'taken' | 'status' | 'createdAt' | 'expiresAt'
>;

export function viewOfOwn(request: Shown, publicUrl: string): OwnRequestView {
  return { ...viewOfShared(request, publicUrl), created_at: request.createdAt.toISOString() };
}

export function viewOfOpen(
  request: SecretRequest,
  { publicUrl, maxPasteBytes }: Pick<ApiContext, 'publicUrl' | 'maxPasteBytes'>,
): OpenRequestView {
  return { ...viewOfShared(request, publicUrl()), from: personOf(request), max_bytes: maxPasteBytes };
}

function viewOfShared({ code, message, places, taken, status, expiresAt }: Shown, publicUrl: string) {
  return {
    id: code,
    url: `${publicUrl}/requests/${code}`,
    status,
    message,
    deposits: places,
    deposits_left: places - taken,
    expires_at: expiresAt.toISOString(),
  };
}
