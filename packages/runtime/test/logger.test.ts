import { describe, expect, it } from '@jest/globals';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger, type LogConfig, type Logger } from '../src/index.ts';

function capture(config: Partial<LogConfig> = {}): {
  logger: Logger;
  text: () => string;
  lines: () => unknown[];
  /** What was written at a time, so far. */
  writes: readonly string[];
} {
  const writes: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString());
      done();
    },
  });
  const logger = createLogger({
    level: 'info',
    format: 'json',
    service: 'api',
    instance: 'api/h-1-ab12',
    stream,
    ...config,
  });
  const text = (): string => {
    logger.flush();
    return writes.join('');
  };
  const lines = (): unknown[] =>
    text()
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
  return { logger, text, lines, writes };
}

describe('the logger', () => {
  it('writes one JSON object per line, with time, level, service and instance', () => {
    const { logger, lines } = capture();
    logger.info('paste created', { short_code: 'abc', bytes: 3 });
    logger.warn('slow');
    expect(lines()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: 'info',
        message: 'paste created',
        service: 'api',
        instance: 'api/h-1-ab12',
        short_code: 'abc',
        bytes: 3,
      },
      expect.objectContaining({ level: 'warn', message: 'slow' }),
    ]);
  });

  it('writes the lines of a turn of the event loop together', async () => {
    const { logger, lines, writes } = capture();
    const fields = { n: 1 };
    logger.info('one', fields);
    fields.n = 2;
    logger.child({ request_id: 'r1' }).info('two', fields);
    expect(writes).toEqual([]);
    await nextTurn();
    expect(writes).toHaveLength(1);
    logger.info('three');
    await nextTurn();
    expect(writes).toHaveLength(2);
    expect(lines()).toMatchObject([
      { message: 'one', n: 1 },
      { message: 'two', n: 2, request_id: 'r1' },
      { message: 'three' },
    ]);
  });

  it('writes a warning at once, after the lines that wait', () => {
    const { logger, writes } = capture();
    logger.info('one');
    logger.warn('two');
    logger.child({}, { everyLine: true }).error('three');
    const messages = writes.join('').matchAll(/"message":"(\w+)"/g);
    expect([...messages].map(([, message]) => message)).toEqual(['one', 'two', 'three']);
  });

  it('writes no more whole lines together than a pipe takes without mixing them with those of another process', async () => {
    const { logger, writes, lines } = capture();
    for (let n = 0; n < 100; n += 1) logger.info('é'.repeat(n * 10));
    logger.info('x'.repeat(10_000));
    logger.info('the last');
    await nextTurn();
    expect(lines()).toHaveLength(102);
    expect(writes.length).toBeLessThan(60);
    expect(writes.filter((text) => !text.endsWith('\n'))).toEqual([]);
    const tooLong = writes.filter((text) => Buffer.byteLength(text) > 4096);
    expect(tooLong.map((text) => text.match(/\n/g)!.length)).toEqual([1]);
  });

  it('counts the lines that its stream refuses, and writes their number when a line is written again', () => {
    let isFull = true;
    const written: string[] = [];
    const stream = {
      write(line: string, done: (error?: Error) => void): boolean {
        const messages = line.matchAll(/"message":"([^"]+)"/g);
        if (!isFull) written.push(...[...messages].map(([, message = '']) => message));
        done(isFull ? new Error('ENOSPC') : undefined);
        return true;
      },
    } as unknown as NodeJS.WritableStream;
    const logger = createLogger({ level: 'info', format: 'json', service: 'api', stream });
    for (const message of ['one', 'two']) logger.info(message);
    logger.flush();
    isFull = false;
    for (const message of ['three', 'four']) {
      logger.info(message);
      logger.flush();
    }
    expect(logger.lostLines()).toBe(2);
    expect(written).toEqual(['three', 'log works again', 'four']);
  });

  it('writes no message below its level', () => {
    const { logger, text } = capture({ level: 'warn' });
    logger.info('below the level');
    logger.debug('also below the level');
    expect(text()).toBe('');
  });

  it('writes the fields of a child logger only on lines of that logger and of its children', () => {
    const { logger, lines } = capture();
    const child = logger.child({ request_id: 'r1' });
    child.child({ short_code: 'abc' }).info('both');
    child.info('one', { request_id: 'r2' });
    logger.info('none');
    expect(lines()).toEqual([
      expect.objectContaining({ message: 'both', request_id: 'r1', short_code: 'abc' }),
      expect.objectContaining({ message: 'one', request_id: 'r2' }),
      expect.not.objectContaining({ request_id: expect.anything() }),
    ]);
  });

  it('does not let a field overwrite the message, the level or the time', () => {
    const { logger, lines } = capture();
    logger.info('message', { message: 'field', level: 'error', time: 'never' });
    expect(lines()).toEqual([
      expect.objectContaining({ message: 'message', level: 'info', time: expect.stringMatching(/Z$/) }),
    ]);
  });

  it('writes an error with its code, stack and causes', () => {
    const { logger, lines } = capture();
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    logger.error('no database', { error: new TypeError('cannot connect', { cause }) });
    expect(lines()).toEqual([
      expect.objectContaining({
        error: {
          name: 'TypeError',
          message: 'cannot connect',
          stack: expect.stringContaining('logger.test.ts'),
          cause: expect.objectContaining({ name: 'Error', message: 'refused', code: 'ECONNREFUSED' }),
        },
      }),
    ]);
  });

  it('redacts the message and the fields', () => {
    const { logger, text } = capture();
    logger.info('token pf_abcdef0123 used', { header: { Authorization: 'Bearer x' } });
    expect(text()).not.toMatch(/abcdef0123|Bearer/);
  });

  it('writes a readable line for a terminal, followed by the stack of an error and of its cause', () => {
    const { logger, text } = capture({ format: 'pretty' });
    logger.info('paste created', { short_code: 'abc', title: 'two words', counts: { a: 1 } });
    logger.error('put failed', { error: new Error('outer', { cause: new Error('inner') }) });
    expect(text()).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}api: paste created short_code=abc title="two words" counts=\{ a: 1 \}\n/,
    );
    expect(text()).toMatch(
      /ERROR api: put failed\n {2}Error: outer\n {6}at [^]*\n {2}caused by:\n {2}Error: inner\n/,
    );
  });
});
