import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { BodyBytes, freeMemory } from '../src/http/body/body-bytes.ts';
import { drain } from '../src/http/body/drain.ts';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseStorableJson } from '../src/http/body/json-body.ts';
import { readBody } from '../src/http/body/read-body.ts';
import { RequestError } from '../src/http/answers/request-error.ts';

const CONTENT = randomBytes(300_000);

/** The content in chunks of so many bytes, each with memory of its own. */
function chunksOf(size: number): Buffer[] {
  const count = Math.ceil(CONTENT.length / size);
  return Array.from({ length: count }, (_, n) => Buffer.from(CONTENT.subarray(n * size, (n + 1) * size)));
}

describe('the bytes of a body', () => {
  it.each([
    ['an unknown number', 0],
    ['as many as expected', CONTENT.length],
    ['fewer than expected', CONTENT.length * 2],
    ['more than expected', 1000],
  ])('are all there, in their order: %s', (_, expected) => {
    for (const size of [777, 65_536, CONTENT.length]) {
      const body = new BodyBytes(expected);
      for (const chunk of chunksOf(size)) {
        body.add(chunk);
        freeMemory(chunk);
      }
      expect(body.bytes.equals(CONTENT)).toBe(true);
    }
  });

  it('give their memory back at once when the body is refused', () => {
    const body = new BodyBytes();
    body.add(CONTENT);
    const { buffer } = body.bytes;
    body.free();
    expect([buffer.byteLength, body.bytes.length]).toEqual([0, 0]);
  });

  it('are none when no chunk has arrived', () => {
    expect(new BodyBytes(10).bytes).toHaveLength(0);
  });

  it('take no memory before they arrive, however many are expected', () => {
    const body = new BodyBytes(100_000_000);
    body.add(Buffer.from('x'));
    expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(65_536); // of Node's pool
  });

  it('are in memory once: a buffer that became too small is freed', () => {
    const body = new BodyBytes();
    body.add(randomBytes(100_000));
    const before = body.bytes;
    body.add(randomBytes(1));
    expect(before).toHaveLength(0);
    expect(body.bytes).toHaveLength(100_001);
  });
});

describe('memory that is not needed any more', () => {
  it('is freed at once', () => {
    const bytes = Buffer.allocUnsafeSlow(100_000);
    freeMemory(bytes);
    expect(bytes).toHaveLength(0);
  });

  it('is kept when other bytes are in it', () => {
    const pair = Buffer.from('twice');
    const [first, second] = [pair.subarray(0, 2), pair.subarray(2)];
    freeMemory(first);
    freeMemory(pair); // short: from the pool of Node
    expect(`${first.toString()}${second.toString()}`).toBe('twice');
  });

  it('may be freed twice, and may be none', () => {
    const bytes = Buffer.allocUnsafeSlow(100_000);
    for (const each of [bytes, bytes, Buffer.alloc(0)]) freeMemory(each);
    expect(bytes).toHaveLength(0);
  });
});

describe('a body on a connection', () => {
  const noBudget = { timeLimitMs: 60_000, begin: () => ({ arrived: () => {}, ended: () => {} }) };
  const server = createServer();
  let socket: Socket;
  let req: IncomingMessage;
  let res: ServerResponse;
  beforeEach(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    req.on('error', () => {});
  });
  afterEach(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });

  const read = (timeLimitMs = 60_000) =>
    readBody(req, res, {
      maxBytes: 1000,
      tooLarge: () => new RequestError('content_too_large', 'It is too large.'),
      budget: { ...noBudget, timeLimitMs },
      weight: 1,
    });
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

  describe('the read of a body', () => {
    it('ends at once, and keeps no timer, when the client left before it began', async () => {
      const closed = new Promise((resolve) => req.once('close', resolve));
      socket.resetAndDestroy();
      await closed;
      const timersBefore = timers();
      await expect(read()).rejects.toMatchObject({ code: 'request_incomplete' });
      expect(timers()).toBe(timersBefore);
    });

    it('frees each chunk when its bytes have been copied', async () => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk)); // sees each chunk before readBody does
      const reading = read();
      socket.write('x'.repeat(96));
      expect(String(await reading)).toBe(`half${'x'.repeat(96)}`);
      expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0));
    });

    it('ends when less arrives than would end the body within the time limit, also of 100 bytes', async () => {
      await expect(read(120)).rejects.toMatchObject({
        code: 'request_timeout',
        message: expect.stringContaining('fewer than 34 bytes in 0.04 s'),
      });
    });

    it('counts what has arrived while the process was busy for longer than a window', async () => {
      const reading = read(900); // windows of 300 ms
      await new Promise((resolve) => socket.write('x'.repeat(96), resolve));
      const until = performance.now() + 400;
      while (performance.now() < until);
      expect(await reading).toHaveLength(100);
    });

    it('ends when the request is answered meanwhile', async () => {
      const reading = read();
      res.end();
      await expect(reading).rejects.toMatchObject({ code: 'request_incomplete' });
    });

    it('ends at once when the request was answered before it began', async () => {
      res.end();
      await once(res, 'close');
      await expect(read()).rejects.toMatchObject({ code: 'request_incomplete' });
    });
  });

  describe('the rest of a refused body', () => {
    it('is freed as it arrives', async () => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      const drained = new Promise<void>((done) => drain(req, done));
      socket.write('x'.repeat(96));
      await drained;
      expect(chunks.length).toBeGreaterThan(0);
      expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0));
    });
  });
});

/** The parsed value, or the code and the first field error of the RequestError. */
function outcome(text: string | Buffer): unknown {
  try {
    return parseStorableJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return [
      error.code,
      ...(error.errors?.slice(0, 1).map(({ path, message }) => `${path}: ${message}`) ?? []),
    ];
  }
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('parseStorableJson', () => {
  it.each([
    '{"a":[1,"b",null,true,{"c":-0.5e3}]}',
    '"\\\\"',
    '"\\"[[[\\\\\\"{"',
    '[]',
    ' 1 ',
    '{"ä":"😀"}',
    '"\\ud83d\\ude00"',
  ])('returns what JSON.parse returns: %s', (text) => {
    expect(outcome(text)).toEqual(JSON.parse(text));
  });

  it.each(['', '{', '"', '"\\', '[1,]', '{"a":1}}', 'NaN', Buffer.from([0x22, 0xff, 0x22])])(
    'refuses invalid JSON: %s',
    (text) => {
      expect(outcome(text)).toEqual(['malformed_request']);
    },
  );

  it.each([
    ['{"a":{"b":["x","y\\u0000"]}}', 'a.b.1: must not have NUL characters'],
    ['{"a":{"\\u0000":1}}', 'a.\0: must not have NUL characters'],
    ['{"a":"\\ud800"}', 'a: must be well-formed Unicode, without lone surrogates'],
    ['{"\\udc00":1}', '\udc00: must be well-formed Unicode, without lone surrogates'],
    ['{"a":[1e400]}', 'a.0: must be a number below 1.8e308'],
    ['-1e400', ': must be a number below 1.8e308'],
  ])('names the path of a value that Postgres refuses or changes: %j', (text, fieldError) => {
    expect(outcome(text)).toEqual(['validation_failed', fieldError]);
  });

  it(`accepts ${MAX_JSON_DEPTH} levels and refuses one more`, () => {
    expect(outcome(nested(MAX_JSON_DEPTH))).toHaveLength(1);
    const refused = ['validation_failed', `: must be nested at most ${MAX_JSON_DEPTH} levels deep`];
    expect(outcome(nested(MAX_JSON_DEPTH + 1))).toEqual(refused);
    expect(outcome(nested(8_000_000))).toEqual(refused);
    // Brackets inside a string are not levels; brackets after it are.
    expect(outcome(JSON.stringify(`"${nested(1000)}`))).toBe(`"${nested(1000)}`);
    expect(outcome(`["\\\\",${nested(1000)}]`)).toEqual(refused);
  });

  it(`accepts ${MAX_JSON_VALUES} values and refuses one more`, () => {
    const list = (length: number) => `[${Array(length).fill('1').join(',')}]`;
    expect(outcome(list(MAX_JSON_VALUES - 1))).toHaveLength(MAX_JSON_VALUES - 1);
    const refused = ['validation_failed', `: must have at most ${MAX_JSON_VALUES} values`];
    expect(outcome(list(MAX_JSON_VALUES))).toEqual(refused);
    expect(outcome(`[${Array(MAX_JSON_VALUES).fill('{}').join(',')}]`)).toEqual(refused);
    expect(outcome(`"${','.repeat(MAX_JSON_VALUES)}"`)).toHaveLength(MAX_JSON_VALUES);
  });

  it('names at most 100 field errors', () => {
    const errors: unknown[] = [];
    try {
      parseStorableJson(Buffer.from(JSON.stringify(Array(5000).fill('\0'))));
    } catch (error) {
      errors.push(...(error as RequestError).errors!);
    }
    expect(errors).toHaveLength(100);
  });
});
