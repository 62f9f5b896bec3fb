import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError } from '@pasteflow/runtime';
import { makePastes } from '@pasteflow/postgres/testing';
import { loadJanitorConfig } from '../../src/config.ts';
import { createWorld, type World } from '../world.ts';
import { openPage, READ_TOKEN, TOKEN, type Call, type OpenPage } from './open-page.ts';

let world: World;
let page: OpenPage;
let code = '';
beforeAll(async () => {
  world = await createWorld();
  page = await openPage(world);
  const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED' });
  code = paste!.shortCode;
});
afterAll(async () => {
  await page.stop();
  await world.stop();
});

const takenDown = async () =>
  (await world.db.selectFrom('takedowns').select('short_code').execute()).map(({ short_code }) => short_code);
const takedown = (call: Call = {}) =>
  page.call('/act/takedown', { form: { subject: code, count: '1', reason: 'x', class: 'spam' }, ...call });

it('counts each wrong token, and logs the address and the name once for many', async () => {
  world.log.lines.length = 0;
  const { metrics } = page;
  for (let n = 0; n < 30; n += 1) expect((await page.call('/', { token: `guess ${n}` })).status).toBe(401);
  expect((await page.call('/', { token: null })).status).toBe(401); // asks for the token
  expect(await metrics.text()).toMatch(/^janitor_operator_tokens_refused_total(\{[^}]*\})? 30$/m);
  const lines = world.log.lines.filter(({ message }) => message === 'token of an operator refused');
  expect(lines).toHaveLength(1);
  expect(lines[0]!.fields).toMatchObject({ address: '127.0.0.1', operator: 'alice' });
  expect(JSON.stringify(lines)).not.toContain('guess');
});

describe('reading', () => {
  it.each([
    ['with the token of operators', {}, 200],
    ['with the token of readers', { token: READ_TOKEN }, 200],
    ['without a token', { token: null }, 401],
    ['with a wrong token', { token: `${TOKEN}x` }, 401],
    ['with a malformed header', { token: null, headers: { authorization: 'Basic !' } }, 401],
    ['under the name localhost', { headers: { host: 'localhost:PORT' } }, 200],
    ['under a name that somebody else pointed here', { headers: { host: 'evil.example:PORT' } }, 421],
    [
      'under a name that begins like the right one',
      { headers: { host: '127.0.0.1.evil.example:PORT' } },
      421,
    ],
    ['with another port in its Host', { headers: { host: '127.0.0.1:1' } }, 421],
    ['with a strange method', { method: 'DELETE' }, 405],
  ] as const)('%s is answered', async (_name, call: Call, status) => {
    const headers = Object.fromEntries(
      Object.entries(call.headers ?? {}).map(([name, value]) => [
        name,
        value.replace('PORT', String(page.port)),
      ]),
    );
    const answer = await page.call('/', { ...call, headers });
    expect(answer.status).toBe(status);
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(answer.headers['cache-control']).toBe('no-store');
    if (status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
    if (status !== 200) {
      expect(answer.body).not.toContain('id="live"');
      expect(answer.body).not.toContain('<footer'); // says what the visitor may do, which is not known here
    }
  });

  it('offers readers no action', async () => {
    const { body } = await page.call(`/pastes/${code}`, { token: READ_TOKEN });
    expect(body).not.toContain('/confirm/');
    expect((await page.call(`/pastes/${code}`)).body).toContain(`/confirm/takedown?subject=${code}`);
    expect((await page.call(`/confirm/takedown?subject=${code}`, { token: READ_TOKEN })).status).toBe(403);
  });
});

describe('acting', () => {
  it.each([
    ['without a token', { token: null }, 401],
    ['with the token of readers', { token: READ_TOKEN }, 403],
    ['from another origin', { headers: { origin: 'https://evil.example' } }, 403],
    ['from another port of this host', { headers: { origin: 'http://127.0.0.1:1' } }, 403],
    ['from a page without an origin', { headers: { origin: 'null' } }, 403],
    ['from another site, whatever its origin says', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ['from another host of the same site', { headers: { 'sec-fetch-site': 'same-site' } }, 403],
    ['under another name', { headers: { host: 'evil.example', origin: 'http://evil.example' } }, 421],
    ['with another content type', { headers: { 'content-type': 'text/plain' } }, 415],
  ] as const)('%s is refused, and changes nothing', async (_name, call: Call, status) => {
    expect((await takedown(call)).status).toBe(status);
    expect(await takenDown()).toEqual([]);
  });

  it.each([
    ['a blank reason', { reason: '  ' }, 422],
    ['a reason of 501 characters', { reason: 'x'.repeat(501) }, 422],
    ['a reason with a NUL', { reason: 'a\0b' }, 422],
    ['a form of 20 KB', { reason: 'x'.repeat(20_000) }, 413],
    ['an unknown class', { class: 'rude' }, 422],
    ['no count', { count: '' }, 422],
    ['a smaller count', { count: '0' }, 409],
    ['an unknown paste', { subject: 'nothing' }, 404],
    ['an empty code', { subject: '' }, 404],
    ['a code that is SQL', { subject: "'; DROP TABLE pastes" }, 404],
  ])('with %s is refused, and changes nothing', async (_name, wrong, status) => {
    const form = { subject: code, count: '1', reason: 'x', class: 'spam', ...wrong };
    expect((await page.call('/act/takedown', { form })).status).toBe(status);
    expect(await takenDown()).toEqual([]);
    expect(await world.db.selectFrom('operator_actions').selectAll().execute()).toEqual([]);
  });

  it('with an unknown action is refused', async () => {
    const form = { subject: code, count: '1', reason: 'x', class: 'spam' };
    for (const path of ['/act/unheard-of', '/act/', '/', '/act/__proto__'])
      expect([path, [404, 405].includes((await page.call(path, { form })).status)]).toEqual([path, true]);
  });
});

it('a path prefix is in every link, whether a proxy removes it from the path or not', async () => {
  const prefixed = await openPage(world, { OPS_URL: 'https://ops.example.org/pasteflow/' });
  for (const path of [`/pasteflow/pastes/${code}`, `/pastes/${code}`]) {
    const headers = { host: 'ops.example.org' };
    const { status, body } = await prefixed.call(path, { headers });
    expect(status).toBe(200);
    const links = [...body.matchAll(/(?:href|src|action)="([^"#]*)"/g)].map(([, link]) => link!);
    expect(links.filter((link) => !link.startsWith('/pasteflow/'))).toEqual([]);
    const [asset] = links.filter((link) => link.endsWith('.css'));
    expect((await prefixed.call(asset!, { headers, token: null })).headers['content-type']).toContain(
      'text/css',
    );
    const form = { subject: code, count: '0', reason: 'x', class: 'spam' };
    const origin = 'https://ops.example.org';
    expect((await prefixed.call('/act/takedown', { form, headers: { ...headers, origin } })).status).toBe(
      409,
    );
    expect((await prefixed.call('/act/takedown', { form, headers })).status).toBe(403);
  }
  await prefixed.stop();
});

it('on this machine alone, no token is needed', async () => {
  const open = await openPage(world, { OPS_TOKEN: '', OPS_READ_TOKEN: '' });
  expect((await open.call('/', { token: null })).status).toBe(200);
  await open.stop();
});

describe('the settings of the page', () => {
  const load = (env: Record<string, string>) => loadJanitorConfig({ ...world.env, ...env });

  it('are off without OPS_PORT', () => {
    expect(load({ OPS_TOKEN: TOKEN }).operations).toBeNull();
  });

  it.each([
    [{ OPS_HOST: '0.0.0.0', OPS_URL: 'https://ops.example.org' }, /OPS_TOKEN is missing/],
    [{ OPS_HOST: '10.0.0.1', OPS_URL: 'https://ops.example.org' }, /OPS_TOKEN is missing/],
    [{ OPS_HOST: '::', OPS_URL: 'https://ops.example.org' }, /OPS_TOKEN is missing/],
    [{ OPS_HOST: 'janitor.internal', OPS_URL: 'https://ops.example.org' }, /OPS_TOKEN is missing/],
    [{ OPS_HOST: '0.0.0.0', OPS_TOKEN: TOKEN }, /OPS_URL is missing/],
    [{ OPS_TOKEN: 'short' }, /OPS_TOKEN is not valid \(the value is not shown\); set it to 16 or more/],
    [{ OPS_TOKEN: TOKEN, OPS_READ_TOKEN: TOKEN }, /OPS_READ_TOKEN is the same as OPS_TOKEN/],
  ])('%j are refused at the start', (env, message) => {
    expect(() => load({ OPS_PORT: '9467', ...env })).toThrow(ConfigError);
    expect(() => load({ OPS_PORT: '9467', ...env })).toThrow(message);
  });

  it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('need no token on %s', (OPS_HOST) => {
    expect(load({ OPS_PORT: '9467', OPS_HOST }).operations).toMatchObject({ host: OPS_HOST, token: null });
  });
});

it('430 connections of one address with half a request each keep nobody out', async () => {
  const sockets: Socket[] = [];
  for (let n = 0; n < 430; n += 1) {
    const socket = connect({ host: '127.0.0.1', port: page.port, localAddress: '127.0.0.2' });
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: x');
  }
  for (let n = 0; n < 30; n += 1) expect((await page.call('/')).status).toBe(200);
  sockets.forEach((socket) => socket.destroy());
});
