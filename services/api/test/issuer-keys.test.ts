import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { errors, exportJWK, generateKeyPair, type JWK } from 'jose';
import { IssuerKeys } from '../src/sessions/issuer-keys.ts';
import { until } from './support/until.ts';

const MINUTE_MS = 60_000;

let server: Server;
let issuer: string;
/** The answers by path; any other path is answered 500. */
let published: Record<string, unknown>;
let asked: string[];
let nowMs: number;
let told: unknown[];
let keys: IssuerKeys;

beforeEach(async () => {
  asked = [];
  told = [];
  nowMs = 0;
  server = createServer((req, res) => {
    asked.push(req.url ?? '');
    const body = published[req.url ?? ''];
    if (body === undefined) res.writeHead(500).end();
    else res.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  publish([await newKey('one')]);
  keys = new IssuerKeys({
    issuer,
    now: () => nowMs,
    onError: (error) => told.push(error),
    onUnusableKey: () => {},
  });
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

async function newKey(kid: string): Promise<JWK> {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' };
}

const METADATA = '/.well-known/openid-configuration';

function publish(set: readonly JWK[], metadata: object = {}): void {
  published = {
    [METADATA]: { issuer, jwks_uri: `${issuer}/keys`, ...metadata },
    '/keys': { keys: set },
  };
}

const find = async (kid: string) => await keys.keyFor({ alg: 'ES256', kid }, { payload: '', signature: '' });

async function isFound(kid: string): Promise<boolean> {
  try {
    await find(kid);
    return true;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return false;
    throw error;
  }
}

describe('the keys of an issuer', () => {
  it('are fetched at their first use, once for all concurrent callers', async () => {
    expect(asked).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => find('one')));
    expect(asked).toEqual([METADATA, '/keys']);
  });

  it('are fetched again for an unknown key, at most every ten seconds', async () => {
    await find('one');
    publish([await newKey('two')]);
    expect(await isFound('two')).toBe(false);
    nowMs += 10_000;
    expect(await isFound('two')).toBe(true);
    expect(await isFound('one')).toBe(false);
    for (let n = 0; n < 20; n += 1) expect(await isFound(`bogus ${n}`)).toBe(false);
    expect(asked).toHaveLength(4);
  });

  it('are renewed after ten minutes, and used meanwhile', async () => {
    await find('one');
    publish([await newKey('two')]);
    nowMs += 10 * MINUTE_MS + 1;
    expect(await isFound('one')).toBe(true);
    await until(
      () => isFound('one'),
      (found) => !found,
    );
    expect(await isFound('two')).toBe(true);
    expect(asked).toHaveLength(4);
  });

  it('follow the metadata to another URL', async () => {
    await find('one');
    publish([], { jwks_uri: `${issuer}/moved` });
    published['/moved'] = { keys: [await newKey('two')] };
    nowMs += 10_000;
    expect(await isFound('two')).toBe(true);
  });

  it('are used for at most an hour while the issuer is down, which is reported', async () => {
    await find('one');
    published = {};
    nowMs += 30 * MINUTE_MS;
    expect(await isFound('one')).toBe(true);
    await until(() => told.length > 0);
    expect(told).toEqual([expect.any(DependencyUnavailableError)]);
    nowMs += 30 * MINUTE_MS + 1;
    await expect(find('one')).rejects.toThrow(DependencyUnavailableError);
    publish([await newKey('one')]);
    nowMs += 1000;
    expect(await isFound('one')).toBe(true);
    expect(await isFound('unknown')).toBe(false);
  });

  it('are renewed and reported once for all callers while the issuer hangs', async () => {
    await find('one');
    nowMs += 11 * MINUTE_MS;
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    server.removeAllListeners('request').on('request', (_req, res: ServerResponse) => {
      void answered.then(() => res.writeHead(500).end());
    });
    for (let n = 0; n < 20; n += 1) expect(await isFound('one')).toBe(true);
    answer();
    await until(() => told.length > 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toHaveLength(1);
  });

  it('are not reported as unknown while the issuer is down', async () => {
    await find('one');
    published = {};
    nowMs += 10_000;
    for (let n = 0; n < 3; n += 1) await expect(find('two')).rejects.toThrow(DependencyUnavailableError);
    expect(asked).toHaveLength(3);
    expect(await isFound('one')).toBe(true);
  });

  it('are fetched once a second, not by every caller, while the issuer is down', async () => {
    published = {};
    for (let n = 0; n < 20; n += 1) await expect(find('one')).rejects.toThrow(DependencyUnavailableError);
    expect(asked).toHaveLength(1);
    nowMs += 1000;
    await expect(find('one')).rejects.toThrow(DependencyUnavailableError);
    expect(asked).toHaveLength(2);
  });

  it.each<[string, () => void, RegExp]>([
    [
      'metadata of another issuer',
      () => publish([], { issuer: `${issuer}/` }),
      /is the metadata of .*\/\. Set OIDC_ISSUER to exactly that/,
    ],
    ['metadata without keys', () => publish([], { jwks_uri: undefined }), /jwks_uri/],
    ['keys that are no URL', () => publish([], { jwks_uri: '/keys' }), /jwks_uri/],
    ['keys in a file', () => publish([], { jwks_uri: 'file:///etc/passwd' }), /jwks_uri/],
    ['metadata that is no JSON', () => (published[METADATA] = '<html>'), /JSON/],
    ['keys that are none', () => (published['/keys'] = { keys: 'none' }), /JSON Web Key Set/],
    ['no keys there', () => (published['/keys'] = undefined), /keys answered 500/],
  ])('are unavailable from %s', async (_name, change, why) => {
    change();
    const error = await find('one').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DependencyUnavailableError);
    expect((error as Error).cause).toMatchObject({ message: expect.stringMatching(why) });
  });

  it('are not fetched from where the issuer redirects', async () => {
    const elsewhere = createServer((_req, res) => {
      asked.push('elsewhere');
      res.end('{}');
    }).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    server.removeAllListeners('request').on('request', (_req, res: ServerResponse) => {
      res.writeHead(302, { location }).end();
    });
    await expect(find('one')).rejects.toThrow(DependencyUnavailableError);
    expect(asked).toEqual([]);
    elsewhere.close();
  });
});
