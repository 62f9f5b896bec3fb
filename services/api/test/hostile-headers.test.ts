import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { expect, it } from '@jest/globals';
import { boundaryOf } from '../src/http/body/multipart.ts';
import { assertPlainEncoding } from '../src/http/body/read-body.ts';
import { expectsContinue } from '../src/http/body/drain.ts';
import { acceptedEncoding, wantsPage } from '../src/http/request/accept.ts';
import { clientAddressOf, networkOf } from '../src/http/request/client-address.ts';
import { RequestError } from '../src/http/errors/request-error.ts';
import { isKnownToClient, matchesPrecondition, rangeOf } from '../src/http/request/conditional.ts';
import { mediaTypeOf } from '../src/http/request/media-type.ts';
import { createRequireHost } from '../src/http/request/host.ts';
import { contextOf } from '../src/http/request/request-context.ts';
import { idempotencyKeyOf } from '../src/idempotency/idempotency-key.ts';
import { isApiToken } from '../src/identity/api-token.ts';
import { bearerTokenOf } from '../src/identity/authorization.ts';
import { positionOf } from '../src/live/event-stream.ts';
import { preferredWait } from '../src/live/read-waiting.ts';

const requireHost = createRequireHost('https://paste.example.org');
const etag = `"${'a1'.repeat(32)}"`;
const content = { size: 100, etag };

function withHeader(name: string, value: string): Request {
  const headers = { [name]: value };
  const headersDistinct = { [name]: [value] };
  const rawHeaders = [name, value];
  return { headers, headersDistinct, rawHeaders, httpVersion: '1.1', socket: {} } as unknown as Request;
}

function parsing(name: string, parse: (req: IncomingMessage) => unknown): (value: string) => unknown {
  return (value) => parse(withHeader(name, value));
}

/** Every header that the api parses: a valid value, and its parser. */
const headers: readonly [name: string, valid: string, parse: (value: string) => unknown][] = [
  ['Range', 'bytes = 10 - 20', (range) => rangeOf({ range, ifRange: undefined }, content)],
  ['If-Range', etag, (ifRange) => rangeOf({ range: 'bytes=1-2', ifRange }, content)],
  ['If-None-Match', `W/${etag}, "b"`, (value) => isKnownToClient(value, etag)],
  ['If-Match', `${etag}, W/"b"`, (value) => matchesPrecondition(value, etag)],
  ['Content-Type', 'text/plain; charset="utf-8"', parsing('content-type', mediaTypeOf)],
  ['Content-Type of a form', 'multipart/form-data; boundary="x"', parsing('content-type', boundaryOf)],
  ['Accept', 'text/html, text/plain;q=0.5', parsing('accept', wantsPage)],
  ['Accept-Encoding', 'br, gzip;q=0.5', parsing('accept-encoding', acceptedEncoding)],
  ['Content-Encoding', 'identity', parsing('content-encoding', assertPlainEncoding)],
  ['Transfer-Encoding', 'chunked', parsing('transfer-encoding', assertPlainEncoding)],
  ['Expect', '100-continue', parsing('expect', expectsContinue)],
  ['Prefer', 'respond-async, wait = "10"; x=y', parsing('prefer', preferredWait)],
  ['Last-Event-ID', '1204.40.1a2b3c4d.end', parsing('last-event-id', positionOf)],
  ['Idempotency-Key', 'a key-1', parsing('idempotency-key', idempotencyKeyOf)],
  ['Authorization', 'Bearer pf_abc.d~e+f/g==', parsing('authorization', bearerTokenOf)],
  ['Authorization, its token', `pf_${'a'.repeat(43)}`, isApiToken],
  ['X-Request-Id', 'a.b:c-1', parsing('x-request-id', contextOf)],
  ['traceparent', `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`, parsing('traceparent', contextOf)],
  ['Host', 'paste.example.org:8080', parsing('host', requireHost)],
  ['Host, an address', '[2001:db8::1]:80', parsing('host', requireHost)],
  ['X-Forwarded-For', '[2001:db8::1]:80', (ip) => clientAddressOf({ ip, socket: {} } as Request)],
  ['X-Forwarded-For, as a network', '192.0.2.1:80', networkOf],
];

/**
 * The value after each of its characters, which is repeated and followed by a character that does not fit.
 */
function* attacks(valid: string): Generator<string> {
  const characters = new Set([...valid.split(''), ' ', '\t', '"', ',', ';', '=']);
  for (let at = 0; at <= valid.length; at += Math.ceil(valid.length / 16)) {
    for (const each of characters) yield `${valid.slice(0, at)}${each.repeat(16_384)}\u0001`;
  }
}

function isReadOrRefused(parse: (value: string) => unknown, value: string): boolean {
  try {
    parse(value);
    return true;
  } catch (error) {
    return error instanceof RequestError;
  }
}

// That no pattern takes more than linear time is proved by the lint rules of eslint-plugin-regexp.
it.each(headers)('16 KB of a header are read or refused, whatever they are: %s', (_name, valid, parse) => {
  expect(isReadOrRefused(parse, valid)).toBe(true);
  expect([...attacks(valid)].filter((value) => !isReadOrRefused(parse, value))).toEqual([]);
});
