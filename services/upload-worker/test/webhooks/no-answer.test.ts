import type { Socket } from 'node:net';
import { setDefaultCACertificates } from 'node:tls';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { ClaimedDelivery } from '@pasteflow/postgres';
import { publicLookup } from '@pasteflow/service-kit';
import { createPostEvent } from '../../src/webhooks/post-event.ts';
import { sendEvent } from '../../src/webhooks/send-event.ts';
import { expired, good, ofAnotherName, privateKey } from '../support/certificates.ts';
import { writeForEver } from '../support/raw-servers.ts';
import {
  answering,
  deliveryTo,
  fails,
  none,
  sendTo,
  useServers,
  works,
  type Sending,
} from '../support/sending.ts';
import { WEBHOOK_KEY } from '../support/webhooks.ts';

const { serve, sendToServer } = useServers();

describe('no answer fails', () => {
  it.each([
    ['nothing', () => {}],
    ['half a header', answering('HTTP/1.1 200 OK\r\ncontent-')],
    ['a header that does not end', answering('HTTP/1.1 200 OK\r\na: ')],
    ['an interim answer alone', answering('HTTP/1.1 100 Continue\r\n\r\n')],
  ] as const)('when the server sends %s', async (_, serving) => {
    expect(await sendToServer(serving, { timeoutMs: 300 })).toEqual(fails('it did not answer within 15 s'));
  });

  it.each([
    ['closes at once', (socket: Socket) => socket.destroy()],
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy()],
    ['closes after the request', (socket: Socket) => socket.once('data', () => socket.end())],
    [
      'switches the protocol',
      answering('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('when the server %s', async (_, serving) => {
    expect(await sendToServer(serving)).toEqual(fails('it closed the connection without an answer'));
  });

  it.each([
    ['garbage', answering('SSH-2.0-OpenSSH_9.6\r\n')],
    ['an impossible status', answering('HTTP/1.1 99999 X\r\n\r\n')],
    ['two lengths', answering('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab')],
    [
      'headers without end',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        writeForEver(socket, 'a: b\r\n');
      },
    ],
    [
      'a header of many megabytes',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\na: ');
        writeForEver(socket, 'x'.repeat(1000));
      },
    ],
  ] as const)('when the server sends %s', async (_, serving) => {
    expect(await sendToServer(serving)).toEqual(fails('its answer is not HTTP'));
  });

  it('when the server sends interim answers without end', async () => {
    expect(await sendToServer((socket) => writeForEver(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'))).toEqual(
      fails('it sent interim answers (1xx) without end'),
    );
  });

  it('when nobody listens', async () => {
    expect(await sendTo('http://127.0.0.1:1/')).toEqual(fails('it refused the connection'));
  });
});

describe('TLS', () => {
  afterAll(() => setDefaultCACertificates([]));
  const ok = answering('HTTP/1.1 204 No Content\r\n\r\n');
  const sendBy = async (cert: string) =>
    await sendTo(`https://${await serve(ok, { key: privateKey, cert })}/`);

  it('must be spoken', async () => {
    const garbage = `https://${await serve(answering('HTTP/1.1 204 No Content\r\n\r\n'))}/`;
    expect(await sendTo(garbage)).toEqual(fails('TLS failed'));
    const old = await serve(ok, {
      key: privateKey,
      cert: good,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    expect(await sendTo(`https://${old}/`)).toEqual(fails('TLS failed'));
  });

  it('needs a certificate that is trusted, valid, and for this name', async () => {
    expect(await sendBy(good)).toEqual(fails('its certificate is not trusted'));
    setDefaultCACertificates([good, ofAnotherName, expired]);
    expect(await sendBy(good)).toEqual(works(204));
    expect(await sendBy(ofAnotherName)).toEqual(fails('its certificate is for another name'));
    expect(await sendBy(expired)).toEqual(fails('its certificate is not valid at this time'));
  });
});

describe('a name', () => {
  const to = (lookup: ReturnType<typeof publicLookup>, sending: Sending = {}) =>
    sendTo('https://hooks.example.com/secret-path', { listed: false, lookup, ...sending });
  const failing = (code: string) =>
    publicLookup(() =>
      Promise.reject(Object.assign(new Error(`queryA ${code} hooks.example.com`), { code })),
    );

  it('with an address that is not public is not connected to', async () => {
    let reached = 0;
    const [, port] = (await serve(() => (reached += 1))).split(':');
    const lookup = publicLookup(async () => [{ address: '127.0.0.1', family: 4 }]);
    expect(await to(lookup)).toEqual(fails('its name has an address that is not public'));
    // The same on a port where somebody listens: the agent looks names up as it is told to.
    const post = createPostEvent({ lookup });
    const url = new URL(`http://hooks.example.com:${port}/`);
    await expect(post({ url, isListed: false }, { headers: {}, body: '{}' }, none)).rejects.toThrow(
      'not public',
    );
    expect(reached).toBe(0);
  });

  it.each([
    ['ENOTFOUND', 'its name has no address'],
    ['ENODATA', 'its name has no address'],
    ['ESERVFAIL', 'its name could not be looked up'],
    ['ETIMEOUT', 'its name could not be looked up'],
  ])('without an answer (%s) fails', async (code, text) => {
    expect(await to(failing(code))).toEqual(fails(text));
  });

  it('is looked up within the time of the answer', async () => {
    expect(
      await to(
        publicLookup(() => new Promise(() => {})),
        { timeoutMs: 100 },
      ),
    ).toEqual(fails('it did not answer within 15 s'));
  });

  it('says nothing of the endpoint when this process has no files left', async () => {
    expect(await to(failing('EMFILE'))).toEqual({
      outcome: { kind: 'postponed', error: 'internal: the worker could open no connection' },
      answered: null,
      endpoint: null,
    });
  });
});

it.each([
  ['http://127.0.0.1:1/', 'is not https on port 443'],
  ['https://127.0.0.1/', 'is not public'],
  ['https://[::ffff:a00:1]/', 'is not public'],
])('reads the URL again for each attempt: %s %s any more', async (url, problem) => {
  expect(await sendTo(url, { listed: false })).toEqual(fails(`its URL ${problem}`));
});

it('sends nothing to an endpoint that is off, and no event of another release', async () => {
  const send = async (delivery: ClaimedDelivery) =>
    await sendEvent(
      { key: WEBHOOK_KEY, origins: new Set() },
      () => Promise.reject(new Error('sent')),
      delivery,
      none,
    );
  expect(await send({ ...deliveryTo('https://hooks.example.com/'), endpoint: null })).toEqual({
    outcome: {
      kind: 'failed',
      error: 'endpoint off: it was removed or switched off before this attempt',
      isFinal: true,
    },
    answered: null,
    endpoint: null,
  });
  const unknown = { ...deliveryTo('https://hooks.example.com/'), type: 'paste.improved' as 'paste.stored' };
  expect(await send(unknown)).toEqual({
    outcome: { kind: 'failed', error: "internal: This version has no event 'paste.improved'." },
    answered: null,
    endpoint: null,
  });
});

it('is interrupted when the attempt is over, also during the answer', async () => {
  const over = new AbortController();
  const verdict = sendToServer((socket) => socket.once('data', () => over.abort()), { signal: over.signal });
  expect(await verdict).toEqual({ outcome: { kind: 'interrupted' }, answered: null, endpoint: null });
});
