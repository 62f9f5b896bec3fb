import { PassThrough } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { readForm } from '../src/http/body/multipart.ts';
import { PartCounter } from '../src/http/body/part-counter.ts';
import { RequestError } from '../src/http/errors/request-error.ts';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { countPastes } from './support/pastes.ts';

const MIB = 1024 * 1024;
const noBudget = { timeLimitMs: 60_000, begin: () => ({ arrived: () => {}, ended: () => {} }) };
const bed = useApi();

/** Delivers the chunks one by one, for as long as readForm reads. */
async function readOf(chunks: readonly Buffer[], boundary = 'a') {
  const body = new PassThrough({ highWaterMark: 1 });
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const req = Object.assign(body, { headers }) as unknown as IncomingMessage;
  let delivered = 0;
  req.on('data', () => (delivered += 1));
  const tooLarge = () => new RequestError('content_too_large', 'Send less.');
  const res = new PassThrough() as unknown as ServerResponse; // it stays open
  const reading = readForm(req, res, {
    maxBytes: 64 * MIB,
    tooLarge,
    budget: noBudget,
    weight: 1,
  });
  for (const chunk of chunks) body.write(chunk);
  body.end();
  const outcome = await reading.then(
    (form) => ({ form }),
    (error: unknown) => ({ code: (error as RequestError).code, errors: (error as RequestError).errors }),
  );
  return { ...outcome, delivered };
}

const part = (name: string, content: string) =>
  `--a\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;

describe('a form', () => {
  it('is refused at the chunk with the 21st part, however many follow', async () => {
    const chunks = Array.from({ length: 100 }, () => Buffer.from('--a\r\n'.repeat(10)));
    expect(await readOf(chunks)).toEqual({
      code: 'validation_failed',
      errors: [{ path: '', message: 'must have at most 20 parts' }],
      delivered: 3,
    });
  });

  it('may have 20 parts, in chunks of any size', async () => {
    const parts = Array.from({ length: 19 }, (_, i) => part(`f${i}`, `v${i}`));
    const body = Buffer.from(`${parts.join('')}${part('content', 'x--a\r\r\n--b\r\n-')}--a--\r\n`);
    for (const size of [1, 2, 3, 5, 7, 64, body.length]) {
      const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
        body.subarray(i * size, (i + 1) * size),
      );
      const { form } = (await readOf(chunks)) as Awaited<ReturnType<typeof readOf>> & {
        form: Awaited<ReturnType<typeof readForm>>;
      };
      expect(form.fields.size).toBe(19);
      expect(form.content?.toString()).toBe('x--a\r\r\n--b\r\n-');
    }
    const one = Buffer.from(`${part('one', 'too many')}${body.toString()}`);
    expect(await readOf([one])).toMatchObject({ code: 'validation_failed' });
  });

  it.each(['', '""', '"b', 'x'.repeat(71), 'ä', 'a\\b'])(
    'is malformed with the boundary %j',
    async (boundary) => {
      expect(await readOf([Buffer.from('--a--')], boundary)).toMatchObject({ code: 'malformed_request' });
    },
  );

  it('of 10 MiB of delimiters is refused, and inserts no row', async () => {
    const before = await countPastes(bed.db);
    for (const line of [
      '--a\r\n',
      '--a\r\n\r\n',
      '\r\n--',
      '\r\n--a',
      '--a\r\nContent-Disposition: form-data\r\n\r\n',
    ]) {
      const response = await fetch(bed.api.url, {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=a' },
        body: Buffer.alloc(10 * MIB, line),
      });
      expect([400, 422]).toContain((await problemOf(response)).status);
    }
    expect(await countPastes(bed.db)).toBe(before);
  });
});

describe('PartCounter', () => {
  it('counts a delimiter that is split between chunks once', () => {
    const body = Buffer.from('--ab\r\nx\r\n--ac\r\n--ab--');
    for (let split = 0; split <= body.length; split += 1) {
      const parts = new PartCounter('ab');
      parts.count(body.subarray(0, split), 9);
      expect(parts.count(body.subarray(split), 9)).toBe(2);
    }
  });
});

describe('a JSON paste', () => {
  it.each<[string, string]>([
    ['empty objects', '[{},'],
    ['opening brackets', '['],
    ['members', '{"a":{"a":1},'],
    ['commas', ','],
  ])('of 12 MiB of %s is refused before it is parsed', async (_name, repeated) => {
    const parse = JSON.parse.bind(JSON);
    let largest = 0;
    JSON.parse = (text: string, ...rest: []) => {
      largest = Math.max(largest, text.length);
      return parse(text, ...rest) as unknown;
    };
    try {
      const response = await fetch(`${bed.api.url}/v1/pastes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.alloc(12 * MIB, repeated),
      });
      expect(await problemOf(response)).toMatchObject({ status: 422, code: 'validation_failed' });
    } finally {
      JSON.parse = parse;
    }
    expect(largest).toBeLessThan(10_000);
  });
});
