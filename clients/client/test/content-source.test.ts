import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { PasteflowConnectionError, type Content } from '../src/index.ts';
import { pasteWith } from './support/paste.ts';
import { json, problem, reset, type Handler } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();

let received: Buffer;
const store: Handler = async (req, res) => {
  received = await buffer(req);
  await json(201, pasteWith({}))(req, res);
};

const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const streamOf = (...chunks: Uint8Array[]): ReadableStream<Uint8Array> => ReadableStream.from(chunks);

describe('content', () => {
  it.each<[string, Content, Uint8Array]>([
    ['a text, as UTF-8', 'zéro € 🦊\0', Buffer.from('zéro € 🦊\0')],
    ['bytes', bytes, bytes],
    ['a part of a larger buffer', bytes.subarray(10, 20), bytes.slice(10, 20)],
    ['a Blob', new Blob([bytes]), bytes],
    ['a stream', streamOf(bytes, bytes), Buffer.concat([bytes, bytes])],
    ['a function that makes a stream', () => streamOf(bytes), bytes],
    ['a function that promises one', async () => streamOf(bytes), bytes],
  ])('can be %s, and is sent byte for byte', async (_, content, expected) => {
    bed.server.script(store);
    await bed.client().pastes.create(content, { title: 'A title & more', expires_in: 'never' });
    expect(received.equals(expected)).toBe(true);
    const [{ path, headers }] = bed.server.requests as [(typeof bed.server.requests)[0]];
    expect(path).toBe('/v1/pastes?title=A%20title%20%26%20more&expires_in=never');
    expect(headers['content-type']).toBe('application/octet-stream');
  });

  it('with a lone surrogate in a string is refused before it is sent', async () => {
    bed.server.script(store);
    await expect(bed.client().pastes.create('half a fox: \ud83e')).rejects.toThrow(TypeError);
    expect(bed.server.requests).toEqual([]);
  });
});

describe('several files', () => {
  it('are sent as a form, with the options and the languages, again for each try', async () => {
    bed.server.script(async (req, res) => {
      await buffer(req);
      await reset(req, res);
    }, store);
    const files = [
      { name: 'src/zéro.py', content: 'zéro', syntax: 'python' },
      { name: 'bytes', content: Uint8Array.of(1, 2) },
      { name: 'empty', content: new Blob([]) },
    ];
    await bed.client().pastes.create(files, { title: 'three', burn: true });
    expect(bed.server.requests.map(({ path }) => path)).toEqual(['/v1/pastes', '/v1/pastes']);
    const [, boundary = ''] =
      /^multipart\/form-data; boundary=(.+)$/.exec(bed.server.requests[1]?.headers['content-type'] ?? '') ??
      [];
    expect(received.toString().split(`--${boundary}`).slice(1, -1)).toEqual(
      [
        ['name="title"', '', 'three'],
        ['name="burn"', '', 'true'],
        ['name="file_syntaxes"', '', 'python,,'],
        ['name="file"; filename="src/zéro.py"', 'Content-Type: application/octet-stream', '', 'zéro'],
        ['name="file"; filename="bytes"', 'Content-Type: application/octet-stream', '', '\u0001\u0002'],
        ['name="file"; filename="empty"', 'Content-Type: application/octet-stream', '', ''],
      ].map((lines) => `\r\nContent-Disposition: form-data; ${lines.join('\r\n')}\r\n`),
    );
  });

  it.each([
    [{}, 'a.py'],
    [{ title: 'T' }, 'T'],
    [{ title: '' }, ''],
  ])('of which there is one and %j are a paste with a title', async (fields, title) => {
    bed.server.script(store);
    await bed.client().pastes.create([{ name: 'a.py', content: 'x' }], fields);
    expect(received.toString()).toContain(`name="title"\r\n\r\n${title}\r\n`);
  });

  it('with a lone surrogate are refused before they are sent', async () => {
    bed.server.script(store);
    const files = [{ name: 'a', content: 'half a fox: \ud83e' }];
    await expect(bed.client().pastes.create(files)).rejects.toThrow(TypeError);
    expect(bed.server.requests).toEqual([]);
  });
});

describe('a stream', () => {
  it('is sent as it is produced: the server has the first part before the rest exists', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    bed.server.script(async (req, res) => {
      req.once('data', () => arrive());
      await json(201, pasteWith({}))(req, res);
    });
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield bytes;
      await arrived;
      yield bytes;
    }
    await bed.client().pastes.create(ReadableStream.from(chunks()));
    expect(bed.server.requests).toHaveLength(1);
  });

  it('is read no faster than the server reads', async () => {
    const MIB = 1_048_576;
    let [made, taken, ahead] = [0, 0, 0];
    const content = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (made === 256 * MIB) return controller.close();
        made += MIB;
        ahead = Math.max(ahead, made - taken);
        controller.enqueue(new Uint8Array(MIB));
      },
    });
    bed.server.script(async (req, res) => {
      for await (const chunk of req) taken += (chunk as Buffer).length;
      await json(201, pasteWith({}))(req, res);
    });
    await bed.client().pastes.create(content);
    expect(taken).toBe(256 * MIB);
    // The kernel's buffers grow while the server reads: to 36 MiB with the usual settings of Linux.
    expect(ahead).toBeLessThan(128 * MIB);
  });

  it('is not sent again once some of it has been read, but cancelled', async () => {
    let cancelled: unknown;
    const content = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes),
      cancel: (reason) => void (cancelled = reason),
    });
    bed.server.script((req) => void req.once('data', () => req.socket.resetAndDestroy()));
    await expect(bed.client().pastes.create(content)).rejects.toBeInstanceOf(PasteflowConnectionError);
    expect(bed.server.requests).toHaveLength(1);
    expect(cancelled).toBeDefined();
  });

  it('is sent again as long as none of it has been read', async () => {
    bed.server.script(store);
    let tries = 0;
    const content = streamOf(bytes);
    const flaky = (request: Request): Promise<Response> => {
      tries += 1;
      return tries < 3 ? Promise.reject(new TypeError('no connection')) : fetch(request);
    };
    await bed.client({ fetch: flaky }).pastes.create(content);
    expect(tries).toBe(3);
    expect(received.equals(bytes)).toBe(true);
  });

  it('that a function returns is created again for each try', async () => {
    let made = 0;
    bed.server.script(reset, problem(503, 'dependency_unavailable', { 'retry-after': '0' }), store);
    await bed.client().pastes.create(() => {
      made += 1;
      return streamOf(bytes, bytes);
    });
    expect(made).toBe(3);
    expect(received.equals(Buffer.concat([bytes, bytes]))).toBe(true);
  });
});
