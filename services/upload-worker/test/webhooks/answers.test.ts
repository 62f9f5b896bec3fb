import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { writeForEver } from '../support/raw-servers.ts';
import { answering, fails, useServers, works } from '../support/sending.ts';

const { serve, sendToServer } = useServers();

describe('an answer 2xx delivers an event', () => {
  it.each([
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['with one', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    [
      'after an interim answer',
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n',
    ],
    ['of HTTP 1.0', 'HTTP/1.0 201 Created\r\n\r\n'],
  ])('%s', async (_, bytes) => {
    const status = Number(/ (2\d\d) /.exec(bytes)?.[1]);
    const closes = bytes.startsWith('HTTP/1.0');
    expect(
      await sendToServer((socket) =>
        socket.once('data', () => (closes ? socket.end(bytes) : socket.write(bytes))),
      ),
    ).toEqual(works(status));
  });

  it('that comes byte by byte', async () => {
    const verdict = await sendToServer((socket) => {
      const rest = Array.from('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello');
      const next = (): void => {
        const byte = rest.shift();
        if (byte !== undefined) socket.write(byte, () => setImmediate(next));
      };
      socket.once('data', next);
    });
    expect(verdict).toEqual(works(200));
  });

  // The status has said everything, and a second delivery would be worse.
  it.each([
    ['ends too early', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort', true],
    ['is longer than it says', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nmuch longer', true],
    ['breaks its chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', false],
    ['never ends', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort', false],
  ])('whose body %s', async (_, bytes, closes) => {
    const verdict = await sendToServer(
      (socket) => socket.once('data', () => (closes ? socket.end(bytes) : socket.write(bytes))),
      { timeoutMs: 500 },
    );
    expect(verdict).toEqual(works(200));
  });

  it('whose body is endless, and is not read to the end', async () => {
    const closed = Promise.withResolvers<number>();
    const verdict = await sendToServer((socket) => {
      socket.on('close', () => closed.resolve(socket.bytesWritten));
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n');
        writeForEver(socket, 'x'.repeat(65_536));
      });
    });
    expect(verdict).toEqual(works(200));
    // What the kernels hold is written as well.
    expect(await closed.promise).toBeLessThan(64 * 1024 * 1024);
  });

  it('that is a bomb of gzip, which nobody inflates', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
    expect(await sendToServer(answering(Buffer.concat([Buffer.from(head), bomb])))).toEqual(works(200));
  });
});

describe('an answer with another status fails', () => {
  const answer = async (status: number, header = '') =>
    await sendToServer(answering(`HTTP/1.1 ${status} X\r\n${header}content-length: 0\r\n\r\n`));

  it.each([400, 401, 404, 500, 503, 599])('%i', async (status) => {
    expect(await answer(status)).toEqual(fails(`answered ${status}`, status));
  });

  it.each([301, 302, 303, 307, 308])('%i, and the redirect is not followed', async (status) => {
    let reached = 0;
    const elsewhere = await serve(() => (reached += 1));
    expect(await answer(status, `location: http://${elsewhere}/\r\n`)).toEqual(
      fails(`answered ${status}, and redirects are not followed`, status),
    );
    expect(reached).toBe(0);
  });

  it('410, for ever', async () => {
    expect(await answer(410)).toEqual({
      outcome: {
        kind: 'failed',
        error: 'endpoint failed: answered 410, so that it is gone for ever',
        isFinal: true,
      },
      answered: 410,
      endpoint: 'gone',
    });
  });

  it.each([
    [429, '120', 120_000],
    [503, '0', 0],
    [503, '999999999', 86_400_000],
    [503, 'Wed, 21 Oct 2015 07:28:00 GMT', 0],
    [429, 'Wed, 21 Oct 2115 07:28:00 GMT', 86_400_000],
    [429, '-5', undefined],
    [429, '1e9', undefined],
    [503, 'soon', undefined],
    [503, '2030', 2_030_000],
    [500, '120', undefined],
  ])('%i with Retry-After: %s waits for %s ms', async (status, header, notBeforeMs) => {
    const { outcome } = await answer(status, `retry-after: ${header}\r\n`);
    expect(outcome).toEqual({
      kind: 'failed',
      error: `endpoint failed: answered ${status}`,
      ...(notBeforeMs !== undefined && { notBeforeMs }),
    });
  });
});
