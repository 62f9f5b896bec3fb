import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { errors, exportJWK, generateKeyPair, type JWK } from 'jose';
import { IssuerKeys } from '../src/identity/issuer-keys.ts';
import { until } from './support/until.ts';

const MINUTE_MS = 60_000;

let server: Server;
let issuer: string;
/** Path → what is answered; nothing: 500. */
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
  keys = new IssuerKeys({ issuer, now: () => nowMs, onError: (error) => told.push(error) });
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
  it('are asked for when they are first needed, and once by all who need them at once', async () => {
    expect(asked).toEqual([]);
    await Promise.all(Array.from({ length: 20 }, () => find('one')));
    expect(asked).toEqual([METADATA, '/keys']);
  });

  it('are asked for anew for an unknown one, at most every ten seconds', async () => {
    await find('one');
    publish([await newKey('two')]);
    expect(await isFound('two')).toBe(false);
    nowMs += 10_000;
    expect(await isFound('two')).toBe(true);
    expect(await isFound('one')).toBe(false);
    for (let n = 0; n < 20; n += 1) expect(await isFound(`bogus ${n}`)).toBe(false);
    expect(asked).toHaveLength(4);
  });

  it('are renewed after ten minutes, while those at hand are used', async () => {
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

  it('may move, as the metadata says', async () => {
    await find('one');
    publish([], { jwks_uri: `${issuer}/moved` });
    published['/moved'] = { keys: [await newKey('two')] };
    nowMs += 10_000;
    expect(await isFound('two')).toBe(true);
  });

  it('are used for an hour when the issuer is down, which is told, and no longer', async () => {
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

  it('are renewed once for all who come while the issuer hangs, and that is told once', async () => {
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

  it('that are not at hand are not unknown while the issuer is down', async () => {
    await find('one');
    published = {};
    nowMs += 10_000;
    for (let n = 0; n < 3; n += 1) await expect(find('two')).rejects.toThrow(DependencyUnavailableError);
    expect(asked).toHaveLength(3);
    expect(await isFound('one')).toBe(true);
  });

  it('are asked for once a second, not by everybody, while the issuer is down', async () => {
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
      /is the metadata of .*\/: set OIDC_ISSUER to just that/,
    ],
    ['metadata without keys', () => publish([], { jwks_uri: undefined }), /jwks_uri/],
    ['keys that are no URL', () => publish([], { jwks_uri: '/keys' }), /jwks_uri/],
    ['keys in a file', () => publish([], { jwks_uri: 'file:///etc/passwd' }), /jwks_uri/],
    ['metadata that is no JSON', () => (published[METADATA] = '<html>'), /JSON/],
    ['keys that are none', () => (published['/keys'] = { keys: 'none' }), /JSON Web Key Set/],
    ['no keys there', () => (published['/keys'] = undefined), /keys answered 500/],
  ])('are not to be had from %s', async (_name, change, why) => {
    change();
    const error = await find('one').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DependencyUnavailableError);
    expect((error as Error).cause).toMatchObject({ message: expect.stringMatching(why) });
  });

  it('are not asked for where the issuer redirects to', async () => {
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
