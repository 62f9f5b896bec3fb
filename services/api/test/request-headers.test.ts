import { describe, expect, it } from '@jest/globals';
import { networkOf } from '@pasteflow/http-kit';
import { loadConfig } from '@pasteflow/runtime';
import type { Request } from 'express';
import { sql } from 'kysely';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { expectsContinue } from '../src/http/body/drain.ts';
import { boundaryOf } from '../src/http/body/multipart.ts';
import { assertPlainEncoding } from '../src/http/body/read-body.ts';
import { RequestError } from '../src/http/answers/request-error.ts';
import { acceptedEncoding, wantsPage } from '../src/http/request/accept.ts';
import { clientAddressOf, trustedProxies } from '../src/http/request/client-address.ts';
import { isKnownToClient, matchesPrecondition, rangeOf } from '../src/http/request/conditional.ts';
import { createRequireHost } from '../src/http/request/host.ts';
import { mediaTypeOf } from '../src/http/request/media-type.ts';
import { contextOf } from '../src/http/request/request-context.ts';
import { idempotencyKeyOf } from '../src/http/idempotency/idempotency.ts';
import { isApiToken } from '../src/http/callers/secret.ts';
import { bearerTokenOf } from '../src/http/callers/authorization.ts';
import { positionOf } from '../src/live/event-stream.ts';
import { preferredWait } from '../src/live/read-waiting.ts';
import { type RunningApi, useApi } from './support/api.ts';
import { rawExchange } from './support/http.ts';

const bed = useApi();

/** The address under which the api counted a request with this X-Forwarded-For. */
async function callerOf({ url }: RunningApi, forwardedFor: string | null): Promise<string> {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  const headers = forwardedFor === null ? {} : { 'x-forwarded-for': forwardedFor };
  await fetch(`${url}/v1/pastes/none`, { headers });
  const rows = await bed.db.selectFrom('rate_limits').select('key').execute();
  const [caller] = rows.map(({ key }) => key).filter((key) => key.startsWith('requests:'));
  return caller!.replace('requests:address:', '');
}

/** Limits of one point, so that each request asks Postgres. */
const start = (trust: string) =>
  bed.start({ env: { TRUST_PROXY: trust, RATE_LIMIT_REQUESTS_PER_MINUTE: '99' } });

describe('TRUST_PROXY', () => {
  it('unset: the address is that of the socket, and X-Forwarded-For is ignored', async () => {
    const api = await start('');
    for (const header of [null, '192.0.2.1', '192.0.2.1, 192.0.2.2', '10.0.0.1']) {
      expect(await callerOf(api, header)).toBe('127.0.0.1');
    }
  });

  it.each<[string, string, string | null, string]>([
    ['one proxy', '1', '192.0.2.1', '192.0.2.1'],
    ['one proxy, after an address that the client invented', '1', '198.51.100.1, 192.0.2.1', '192.0.2.1'],
    ['two proxies', '2', '198.51.100.1, 192.0.2.1, 10.0.0.1', '192.0.2.1'],
    ['one proxy that says nothing', '1', null, '127.0.0.1'],
    ['no proxy', '0', '192.0.2.1', '127.0.0.1'],
    ['loopback', 'loopback', '192.0.2.1', '192.0.2.1'],
    ['loopback, after an invented address', 'loopback', '198.51.100.1, 192.0.2.1', '192.0.2.1'],
    ['a subnet behind another', 'loopback, 10.0.0.0/8', '192.0.2.1, 10.1.2.3', '192.0.2.1'],
    ['an address that is not ours', '10.0.0.1', '192.0.2.1', '127.0.0.1'],
    ['IPv4 in IPv6', 'loopback', '::ffff:192.0.2.1', '192.0.2.1'],
    ['IPv6, by its network', 'loopback', '2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['IPv4 with a port', 'loopback', '192.0.2.1:50123', '192.0.2.1'],
    ['IPv6 with a port', 'loopback', '[2001:db8::1]:50123', '2001:db8::/64'],
    ['nonsense: the proxy itself', 'loopback', 'unknown', '127.0.0.1'],
    ['nonsense of any length', 'loopback', 'x'.repeat(5000), '127.0.0.1'],
  ])('%s', async (_name, trust, header, expected) => {
    expect(await callerOf(await start(trust), header)).toBe(expected);
  });
});

describe('the setting TRUST_PROXY', () => {
  const load = (TRUST_PROXY: string): unknown =>
    loadConfig(z.object({ TRUST_PROXY: trustedProxies().optional() }), { TRUST_PROXY });

  it.each<[string, unknown]>([
    ['', undefined],
    ['2', 2],
    ['loopback', ['loopback']],
    ['loopback, linklocal,uniquelocal', ['loopback', 'linklocal', 'uniquelocal']],
    ['10.0.0.1,192.0.2.0/24, 2001:db8::/32', ['10.0.0.1', '192.0.2.0/24', '2001:db8::/32']],
  ])('accepts %j', (text, expected) => {
    expect(load(text)).toEqual({ TRUST_PROXY: expected });
  });

  it.each([
    'true',
    'yes',
    'all',
    '*',
    '-1',
    '1.5',
    'proxy.example.org',
    '10.0.0.1/33',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.1,',
    '1,2',
  ])('refuses %s, and says what to set and why not true', (text) => {
    expect(() => load(text)).toThrow(
      /TRUST_PROXY is .*; set it to the number of proxies.*never true: any client/,
    );
  });
});

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('of 48 bits is that of a site', () =>
    expect(networkOf('2001:db8:1:2:3::4', 48)).toBe('2001:db8:1::/48'));
});

async function answerWith(...headers: readonly string[]): Promise<{ status: number; code?: string }> {
  const lines = ['GET /healthz HTTP/1.1', ...headers, 'Connection: close', '', ''];
  const { status, body } = await rawExchange(bed.api.port, lines.join('\r\n'));
  const { code } = JSON.parse(body) as { code?: string };
  return { status, ...(code !== undefined && { code }) };
}

describe('the Host header', () => {
  it.each([
    'x',
    'paste.example.org',
    'PASTE.example.org:8080',
    'my_service.default.svc.',
    '127.0.0.1:3000',
    '[2001:db8::1]:3000',
    'xn--bcher-kva.example:',
    'b%C3%BCcher.example',
  ])('may be %s', async (host) => {
    expect(await answerWith(`Host: ${host}`)).toEqual({ status: 200 });
  });

  it.each([
    ['empty', 'Host:'],
    ['with a path', 'Host: example.org/path'],
    ['with user information', 'Host: user@example.org'],
    ['with a space', 'Host: example.org evil.example'],
    ['a list', 'Host: example.org, evil.example'],
    ['with two ports', 'Host: example.org:80:81'],
    ['with a port that is no number', 'Host: example.org:http'],
    ['an open bracket', 'Host: [::1'],
    ['with a percent sign alone', 'Host: 100%'],
    ['not ASCII', 'Host: bücher.example'],
    ['of 261 characters', `Host: ${'x'.repeat(261)}`],
  ])('is malformed when it is %s', async (_name, host) => {
    expect(await answerWith(host)).toEqual({ status: 400, code: 'malformed_request' });
  });

  it.each([
    ['equal', 'Host: example.org', 'Host: example.org'],
    ['different', 'Host: example.org', 'host: evil.example'],
    ['one of them empty', 'Host: example.org', 'Host:'],
    ['far apart', 'Host: example.org', ...Array.from({ length: 3000 }, () => 'a:'), 'Host: evil.example'],
  ])('must not occur twice: %s', async (_name, ...hosts) => {
    expect(await answerWith(...hosts)).toEqual({ status: 400, code: 'malformed_request' });
  });

  it('may be missing in HTTP/1.0, and must be valid there too', async () => {
    const status = async (header: string) =>
      (await rawExchange(bed.api.port, `GET /healthz HTTP/1.0\r\n${header}\r\n`)).status;
    expect([await status(''), await status('Host: x\r\n'), await status('Host: a b\r\n')]).toEqual([
      200, 200, 400,
    ]);
  });
});

describe('the Host header, where PUBLIC_URL is set,', () => {
  const statusAt = async (host: string, path = '/healthz', publicUrl = 'https://paste.example.org/p') => {
    const api = await bed.start({ env: { PUBLIC_URL: publicUrl } });
    return await rawExchange(api.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  };

  it.each([
    'paste.example.org',
    'PASTE.example.org.:8443',
    '10.0.0.7:3000', // as load balancers and Kubernetes ask for the health
    '[::1]:3000',
    'localhost:3000',
  ])('may be %s', async (host) => {
    expect((await statusAt(host)).status).toBe(200);
  });

  it.each([
    'evil.example',
    'paste.example.org.evil.example',
    'localhost.evil.example',
    '10.0.0.7.evil.example',
    'x',
  ])('is refused when it is %s, with what to do', async (host) => {
    for (const path of ['/', '/v1/pastes/x', '/docs', '/healthzz']) {
      const { status, body } = await statusAt(host, path);
      expect([path, status]).toEqual([path, 400]);
      expect(JSON.parse(body)).toMatchObject({
        code: 'malformed_request',
        detail: expect.stringContaining('This service has the address https://paste.example.org/p'),
      });
    }
  });

  it.each(['pasteflow-api', 'api.default.svc.cluster.local:3000'])(
    'may be %s in probes, which use the name of a service',
    async (host) => {
      for (const path of ['/healthz', '/readyz', '/healthz?verbose'])
        expect([path, (await statusAt(host, path)).status]).toEqual([path, 200]);
    },
  );

  it('may have letters of another script, as browsers send them', async () => {
    const publicUrl = 'https://bücher.example';
    expect((await statusAt('xn--bcher-kva.example', '/', publicUrl)).status).toBe(200);
  });

  it('may be missing in HTTP/1.0', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'https://paste.example.org' } });
    expect((await rawExchange(api.port, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

describe('the headers after the 2,000th', () => {
  it('count: a request with an invalid token at its end is not anonymous', async () => {
    const many = 'a:\r\n'.repeat(3000);
    const request = `GET /v1/pastes/x HTTP/1.1\r\nHost: x\r\n${many}Authorization: Bearer wrong\r\nConnection: close\r\n\r\n`;
    expect((await rawExchange(bed.api.port, request)).status).toBe(401);
  });
});

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
