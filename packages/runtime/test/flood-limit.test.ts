import { beforeEach, describe, expect, it } from '@jest/globals';
import { Writable } from 'node:stream';
import { createLogger } from '../src/index.ts';
import { FloodLimit } from '../src/logging/flood-limit.ts';

let written: [line: string, suppressed: number][];
/** What is due at the end of a second. */
let due: (() => void)[];
let limit: FloodLimit<string>;
beforeEach(() => {
  written = [];
  due = [];
  limit = new FloodLimit(
    (line, suppressed) => written.push([line, suppressed]),
    (act) => due.push(act),
  );
});

function endSecond(): void {
  for (const act of due.splice(0)) act();
}

describe('the limit on floods', () => {
  it('writes the first line at once, and after a second the last one with the number of those between', () => {
    for (let n = 1; n <= 34_030; n += 1) limit.add('import', `line ${n}`);
    expect(written).toEqual([['line 1', 0]]);
    endSecond();
    expect(written.slice(1)).toEqual([['line 34030', 34_028]]);
  });

  it('writes one line a second for as long as the flood lasts, and counts every line', () => {
    for (let second = 0; second < 60; second += 1) {
      for (let n = 0; n < 100; n += 1) limit.add('import', `line ${second}.${n}`);
      endSecond();
    }
    expect(written).toHaveLength(61);
    expect(written.length + written.reduce((sum, [, suppressed]) => sum + suppressed, 0)).toBe(6000);
  });

  it('leaves alone what comes once a second, and keeps nothing of it', () => {
    for (let n = 0; n < 5; n += 1) {
      limit.add('calm', `line ${n}`);
      endSecond();
      endSecond();
    }
    expect(written).toEqual(['line 0', 'line 1', 'line 2', 'line 3', 'line 4'].map((line) => [line, 0]));
    expect(due).toEqual([]);
  });

  it('counts kinds separately', () => {
    for (const kind of ['a', 'b', 'a', 'b']) limit.add(kind, kind);
    expect(written).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
  });

  it('writes at the exit what waits for the end of its second, once', () => {
    for (const line of ['first', 'second', 'third']) limit.add('import', line);
    limit.flush();
    limit.flush();
    endSecond();
    expect(written).toEqual([
      ['first', 0],
      ['third', 1],
    ]);
  });
});

describe('the logger', () => {
  function capture() {
    const lines: Record<string, unknown>[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        for (const line of chunk.toString().trimEnd().split('\n'))
          lines.push(JSON.parse(line) as Record<string, unknown>);
        done();
      },
    });
    return { lines, logger: createLogger({ level: 'info', format: 'json', service: 'api', stream }) };
  }

  it('limits warnings and errors, and keeps the time, the fields and the order of what it writes', () => {
    const { lines, logger } = capture();
    const before = Date.now();
    for (let n = 1; n <= 1000; n += 1) logger.child({ request_id: n }).warn('slow', { n });
    const after = Date.now();
    logger.flush();
    // More than one second may pass on a busy machine.
    expect(lines.length).toBeLessThanOrEqual(2 + Math.ceil((after - before) / 1000));
    expect(lines[0]).toMatchObject({ message: 'slow', n: 1, request_id: 1 });
    expect(lines[0]).not.toHaveProperty('suppressed');
    expect(lines.at(-1)).toMatchObject({ level: 'warn', message: 'slow', n: 1000, request_id: 1000 });
    expect(Date.parse(String(lines.at(-1)?.time))).toBeLessThanOrEqual(after);
    expect(lines.reduce((sum, { suppressed }) => sum + Number(suppressed ?? 0), lines.length)).toBe(1000);
  });

  it('writes every line at info, and every line of a child that asks for it', () => {
    const { lines, logger } = capture();
    const records = logger.child({ job_type: 'import' }, { everyLine: true });
    for (let n = 0; n < 50; n += 1) {
      logger.info('request', { n });
      records.child({ n }).warn('job attempt failed');
    }
    expect(lines).toHaveLength(100);
  });

  const atOnePlace = (message: string, options?: ErrorOptions) => new Error(message, options);

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['another sweep', { sweep: 'relay' }, { sweep: 'cleanup' }],
    ['another route', { route: '/a' }, { route: '/b' }],
    ['an error of another place', { error: new Error('x') }, { error: atOnePlace('x') }],
    ['another code', { error: withCode('23505') }, { error: withCode('23514') }],
    [
      'another cause',
      { error: atOnePlace('x', { cause: withCode('ECONNREFUSED') }) },
      { error: atOnePlace('x', { cause: withCode('ETIMEDOUT') }) },
    ],
  ])('never holds back an error for %s', (_, first, second) => {
    const { lines, logger } = capture();
    logger.error('it failed', first);
    logger.error('it failed', second);
    logger.warn('it failed', second);
    logger.error('something else failed', second);
    expect(lines).toHaveLength(4);
  });

  it('takes lines with other ids and texts for the same kind', () => {
    const { lines, logger } = capture();
    for (const text of ['a', 'b', 'c']) {
      logger.error('it failed', { request_id: text, count: text.length, error: atOnePlace(text) });
    }
    expect(lines).toHaveLength(1);
  });

  function withCode(code: string): Error {
    return Object.assign(atOnePlace('failed'), { code });
  }
});
