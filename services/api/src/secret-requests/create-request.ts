import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import {
  DEFAULT_REQUEST_SECONDS,
  DURATION,
  MAX_DEPOSITS,
  MAX_OPEN_REQUESTS,
  MAX_REQUEST_SECONDS,
  MIN_EXPIRY_SECONDS,
  REQUEST_CODE_LENGTH,
  secondsOf,
  shortCodeFrom,
} from '@pasteflow/domain';
import { createSecretRequest, isErased } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { jsonBodyErrors, readJson } from '../http/body/json-body.ts';
import { invalidToken } from '../http/callers/authorization.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { contextOf } from '../http/request/request-context.ts';
import { messageField } from './message.ts';
import { exampleRequest, ownRequestSchema, viewOfOwn } from './request-view.ts';

const EXPIRY_RULE = `must be whole seconds from ${MIN_EXPIRY_SECONDS} to ${MAX_REQUEST_SECONDS}, or a time such as "12h" or "7d"`;
const seconds = z.int(EXPIRY_RULE).min(MIN_EXPIRY_SECONDS, EXPIRY_RULE).max(MAX_REQUEST_SECONDS, EXPIRY_RULE);

const DEPOSITS_RULE = `must be a whole number from 1 to ${MAX_DEPOSITS}`;

const newRequestSchema = z
  .strictObject({
    message: messageField
      .nullish()
      .transform((text) => text || null)
      .meta({
        description:
          'What is asked for, in one line without links: line breaks become spaces, and invisible characters are left out. Everybody with the link reads it.',
      }),
    deposits: z.int(DEPOSITS_RULE).min(1, DEPOSITS_RULE).max(MAX_DEPOSITS, DEPOSITS_RULE).default(1).meta({
      description: 'How many deposits the request takes.',
    }),
    expires_in: z
      .union(
        [seconds, z.string().regex(DURATION, EXPIRY_RULE).transform(secondsOf).pipe(seconds)],
        EXPIRY_RULE,
      )
      .default(DEFAULT_REQUEST_SECONDS)
      .meta({ description: 'How long the request takes deposits: seconds, or a time such as `7d`.' }),
  })
  .meta({ id: 'NewSecretRequest', description: 'What its user chooses of a request for secrets.' });

/** A message in UTF-8 with escapes, and two numbers. */
const MAX_BYTES = 16_384;

/** POST /v1/requests. The keys are made by the client, and none of them comes here. */
export function createRequest(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'createRequest',
      tag: 'requests',
      access: 'user',
      summary: 'Asks for secrets.',
      description:
        'Make a pair of keys first (P-256, for HPKE). Send `url`, `#` and the public key to whoever is to give you a secret, and keep the ' +
        'private key: without it nobody can read what is deposited. This service gets neither key.',
      body: {
        required: true,
        content: {
          'application/json': {
            schema: newRequestSchema,
            example: { message: exampleRequest.message, deposits: 1, expires_in: exampleRequest.expiresIn },
          },
        },
      },
      answers: {
        201: jsonResponse('The request takes deposits.', ownRequestSchema, {
          Location: headers.requestLocation,
        }),
      },
      errors: ['request_limit_reached', ...jsonBodyErrors, 'dependency_unavailable'],
    },
    handle: (req, res) => create(api, req, res),
  };
}

async function create(api: ApiContext, req: Request, res: Response): Promise<void> {
  const userId = requireUser(req);
  const limit = { what: 'the request', maxBytes: MAX_BYTES, budget: api.bodies, weight: 1 };
  const sent = await readJson(req, res, newRequestSchema, limit);
  const { message, deposits: places, expires_in: expiresInSeconds } = sent;
  const claim = await api.idempotency.claim(req, res, JSON.stringify(sent));
  if (claim === null) return;
  const code = newRequestCode();
  const { answer } = await claim.commit(async (db) => {
    const made = await createSecretRequest(db, { code, userId, message, places, expiresInSeconds });
    if (made === null) throw (await isErased(db, userId)) ? invalidToken() : tooManyOpen();
    const view = viewOfOwn({ code, message, places, taken: 0, status: 'OPEN', ...made }, api.publicUrl());
    return { answer: jsonAnswer(201, view, { Location: `${api.publicUrl()}/v1/requests/${code}` }) };
  });
  contextOf(req).secretRequest = code;
  sendAnswer(res, answer);
}

function newRequestCode(): string {
  for (;;) {
    const code = shortCodeFrom(randomBytes(64), REQUEST_CODE_LENGTH);
    if (code !== null) return code;
  }
}

function tooManyOpen(): RequestError {
  return new RequestError(
    'request_limit_reached',
    `You have ${MAX_OPEN_REQUESTS} requests that take deposits, which is the limit. Cancel one, or wait until one has expired.`,
  );
}
