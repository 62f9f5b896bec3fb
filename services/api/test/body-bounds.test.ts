import { PassThrough } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { seededRandom } from '@pasteflow/dev-stack/testing';
import { readForm } from '../src/http/body/multipart.ts';
import { PartCounter } from '../src/http/body/part-counter.ts';
import { RequestError } from '../src/http/answers/request-error.ts';
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

const formOf = (outcome: object) => (outcome as { form: Awaited<ReturnType<typeof readForm>> }).form;

const part = (name: string, content: string) =>
  `--a\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;

describe('a form', () => {
  it('is refused at the chunk with the 121st part, however many follow', async () => {
    const chunks = Array.from({ length: 100 }, () => Buffer.from('--a\r\n'.repeat(10)));
    expect(await readOf(chunks)).toEqual({
      code: 'validation_failed',
      errors: [{ path: '', message: 'must have at most 120 parts' }],
      delivered: 13,
    });
  });

  it('may have 120 parts, in chunks of any size', async () => {
    const parts = Array.from({ length: 119 }, (_, i) => part(`f${i}`, `v${i}`));
    const body = Buffer.from(`${parts.join('')}${part('content', 'x--a\r\r\n--b\r\n-')}--a--\r\n`);
    for (const size of [1, 2, 3, 5, 7, 64, body.length]) {
      const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
        body.subarray(i * size, (i + 1) * size),
      );
      const { form } = (await readOf(chunks)) as Awaited<ReturnType<typeof readOf>> & {
        form: Awaited<ReturnType<typeof readForm>>;
      };
      expect(form.fields.size).toBe(119);
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

describe('a form of which a part would be lost', () => {
  const content = part('content', 'x');
  const option = part('visibility', 'private');
  it.each([
    ['blanks after a delimiter', `${content}${option.replace('--a\r\n', '--a \t\r\n')}--a--`],
    ['blanks before the first delimiter', ` ${option}${content}--a--`],
    ['a text before the first delimiter', `preamble\r\n${option}${content}--a--`],
    ['a part after the last delimiter', `${content}--a--\r\n${option}--a--`],
    ['a delimiter without CR', `${content.trimEnd()}\n${option}--a--`],
    ['a delimiter with two more hyphens in the middle', `${content}--a-\r\n${option.slice(5)}--a--`],
    ['a longer boundary', `${content}${option.replace('--a', '--ab')}--a--`],
    ['a part without Content-Disposition', `${content}--a\r\nX: y\r\n\r\nprivate\r\n--a--`],
    ['a part of another disposition', `${content}${option.replace('form-data', 'attachment')}--a--`],
    [
      'a part without an empty line',
      `${content}--a\r\nContent-Disposition: form-data; name="visibility"\r\n--a--`,
    ],
    ['a part whose name has a newline', `${content}${option.replace('visibility', 'visi\nbility')}--a--`],
    [
      'a part behind 20 headers',
      `${content}${option.replace('--a\r\n', `--a\r\n${'X: y\r\n'.repeat(20)}`)}--a--`,
    ],
    ['no last delimiter', `${content}${option}`],
    ['only spaces', '   '],
  ])('is malformed: %s', async (_name, body) => {
    for (const size of [1, 7, body.length]) {
      const bytes = Buffer.from(body);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await readOf(chunks)).toMatchObject({ code: 'malformed_request' });
    }
  });

  it.each([
    ['an empty line before the first delimiter', (body: string) => `\r\n${body}`],
    ['newlines after the last delimiter', (body: string) => `${body}\r\n\r\n`],
    ['nothing after the last delimiter', (body: string) => body],
  ])('is none with %s', async (_name, write) => {
    const body = Buffer.from(write(`${content}${option}--a--`));
    const outcome = await readOf([...body].map((byte) => Buffer.from([byte])));
    expect(outcome).toMatchObject({ form: { content: Buffer.from('x') } });
    expect(formOf(outcome).fields.get('visibility')).toBe('private');
  });

  it('is refused, or else has all its parts, however it was changed', async () => {
    const pieces = [
      '--a\r\n',
      '--a--',
      '\r\n',
      '\n',
      '\r',
      ' ',
      '\t',
      '-',
      '--a',
      '--a \r\n',
      '--',
      'x',
      '\r\n--a\r\n',
    ];
    const random = seededRandom(27);
    const any = (below: number) => Math.floor(random() * below);
    const outcomes = { whole: 0, refused: 0 };
    for (let n = 0; n < 3000; n += 1) {
      let body = `${content}${option}${part('title', 't')}--a--\r\n`;
      for (let changes = any(3); changes > 0; changes -= 1) {
        const at = any(body.length);
        body = body.slice(0, at) + pieces[any(pieces.length)]! + body.slice(at + (any(2) === 0 ? 0 : any(4)));
      }
      const outcome = await readOf([Buffer.from(body.slice(0, 30)), Buffer.from(body.slice(30))]);
      if ('code' in outcome) outcomes.refused += 1;
      else {
        // What is a part for another parser is one here: its header names it.
        const { fields, content: found } = formOf(outcome);
        const got = fields.size + (found === null ? 0 : 1);
        expect([body, got]).toEqual([body, partsByLines(body)]);
        outcomes.whole += 1;
      }
    }
    expect(outcomes.whole).toBeGreaterThan(500);
    expect(outcomes.refused).toBeGreaterThan(500);
  });
});

describe('the files of a form', () => {
  const file = (fileName: string, content: string) =>
    `--a\r\nContent-Disposition: form-data; name="f"; filename="${fileName}"\r\n\r\n${content}\r\n`;

  it('are in order, with their paths, one after the other in one content, in chunks of any size', async () => {
    const random = seededRandom(41);
    const sizes = Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? 0 : Math.floor(random() * 400)));
    const contents = sizes.map((size, n) => String.fromCharCode(33 + (n % 90)).repeat(size));
    const body = Buffer.from(
      `${part('title', 't')}${contents.map((content, n) => file(`src/${n}.ts`, content)).join('')}${part('text', '')}--a--`,
    );
    for (const size of [1, 7, 64, 1000, 16_384, body.length]) {
      const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, n) =>
        body.subarray(n * size, (n + 1) * size),
      );
      const { content, files } = formOf(await readOf(chunks));
      expect(files).toEqual(sizes.map((each, n) => ({ name: `src/${n}.ts`, size: each })));
      expect(content?.toString()).toBe(contents.join(''));
    }
  });

  it('are none where a browser has sent an empty one without a name', async () => {
    const { content, files } = formOf(await readOf([Buffer.from(`${file('', '')}${file('a', 'x')}--a--`)]));
    expect({ content, files }).toEqual({ content: Buffer.from('x'), files: [{ name: 'a', size: 1 }] });
    expect(formOf(await readOf([Buffer.from(`${file('', '')}--a--`)]))).toMatchObject({ files: [] });
    expect(formOf(await readOf([Buffer.from(`${file('', 'x')}--a--`)]))).toMatchObject({
      files: [{ name: '', size: 1 }],
    });
  });

  it.each([
    ['101 of them', Array.from({ length: 101 }, (_, n) => file(`${n}`, 'x')).join(''), 'files'],
    ['a field content before them', part('content', 'x') + file('a', 'x'), 'content'],
    ['a field content behind them', file('a', '') + part('content', ''), 'content'],
  ])('are refused: %s', async (_name, parts, path) => {
    expect(await readOf([Buffer.from(`${parts}--a--`)])).toMatchObject({
      code: 'validation_failed',
      errors: [{ path }],
    });
  });

  it('are refused with a name that is not UTF-8', async () => {
    const body = Buffer.from(`${file('a', 'x')}${file('caf\u00e9', 'x')}--a--`, 'latin1');
    expect(await readOf([body])).toMatchObject({
      code: 'validation_failed',
      errors: [{ path: 'files.1.name', message: 'must be UTF-8' }],
    });
  });
});

/** The parts of a body with the boundary `a`, as RFC 2046 defines them, blanks after a delimiter included. */
function partsByLines(body: string): number {
  const lines = `\r\n${body}`.split(/(?:\r?\n)(?=--a)/);
  return lines.filter((line) => /^--a[ \t]*\r?\n/.test(line)).length;
}

it.each([
  ['{"content":"x","visibility":"private","visibility":"unlisted"}', 'visibility'],
  ['{"content":"x","title":"a" , "\\u0074itle" :"b"}', 'title'],
  ['{"title":{"a":1,"b":[{"a":1},{"a":1}],"a":2}}', 'a'],
])('JSON with a repeated name is refused: %s', async (body, path) => {
  const response = await fetch(`${bed.api.url}/v1/pastes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(await problemOf(response)).toMatchObject({
    status: 422,
    errors: [{ path, message: 'must not be repeated' }],
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
