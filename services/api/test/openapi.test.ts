import { createPaste } from '@pasteflow/postgres';
import { describe, expect, it } from '@jest/globals';
import { errorCodes } from '@pasteflow/domain';
import { Validator } from '@seriousme/openapi-schema-validator';
import { buildApp, routesOf, type AppDependencies } from '../src/app.ts';
import { asTemplate } from '../src/openapi/document.ts';
import { example } from '../src/pastes/example.ts';
import { useApi } from './support/api.ts';
import { document, faultsOf, schemaAt, type Document } from './support/document.ts';
import { exampleRequests } from './support/example-requests.ts';
import { sha256, upload } from './support/pastes.ts';
import { faultsOfAnswer } from './support/undocumented.ts';

const bed = useApi();
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

async function served(url: string): Promise<Document> {
  const response = await fetch(`${url}/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await response.json()) as Document;
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** The example paste, PROCESSED; when it is there already, it has been deleted at worst. */
async function putExample(): Promise<void> {
  const { numUpdatedRows } = await bed.db
    .updateTable('pastes')
    .set({ expires_at: null })
    .where('short_code', '=', example.shortCode)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) return;
  await createPaste(bed.db, {
    shortCode: example.shortCode,
    content: Buffer.from(example.content),
    contentHash: example.contentHash,
    title: example.title,
    syntax: example.syntax,
    expiresInSeconds: example.expiresIn,
    deleteTokenHash: sha256(example.deleteToken),
  });
  await upload(bed.db, bed.store, example.shortCode, example.content);
}

describe('GET /openapi.json', () => {
  it('is a valid document of OpenAPI 3.1', async () => {
    const api = await served(bed.api.url);
    expect(api.openapi).toBe('3.1.0');
    expect(await new Validator().validate({ ...api })).toEqual({ valid: true });
  });

  it('names the server by PUBLIC_URL and the limit by MAX_PASTE_BYTES', async () => {
    expect((await served(bed.api.url)).servers).toEqual([{ url: bed.api.url }]);
    const env = { PUBLIC_URL: 'https://paste.example.org/p', MAX_PASTE_BYTES: '12345' };
    const { servers, paths } = await served((await bed.start({ env })).url);
    expect(servers).toEqual([{ url: 'https://paste.example.org/p' }]);
    expect(paths['/v1/pastes']!.post!.requestBody!.description).toContain('12345 bytes');
  });

  it('has exactly the routes that Express has, each once', () => {
    const { router } = buildApp({} as AppDependencies);
    const paths = router.stack.flatMap(({ route }) => (route === undefined ? [] : [asTemplate(route.path)]));
    expect(Object.keys(document.paths)).toEqual(paths);
    expect(paths).toEqual(Object.keys(routesOf({} as AppDependencies)).map(asTemplate));
  });

  it.each(Object.entries(document.paths))(
    'has exactly the methods that are answered at %s',
    async (path, item) => {
      const url = bed.api.url + path.replace('{short_code}', 'doesNotExist');
      const answers = await Promise.all(METHODS.map(async (method) => await fetch(url, { method })));
      const answered = METHODS.filter((_method, i) => answers[i]!.status !== 405);
      expect(answered.map((method) => method.toLowerCase()).toSorted()).toEqual(Object.keys(item).toSorted());
    },
  );

  it('tells operations apart, and has a sentence for each and for each answer', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations) {
      expect(operation.summary).toMatch(/^[A-Z].*\.$/);
      for (const { description } of Object.values(operation.responses))
        expect(description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('has every code but those that never become a problem document', () => {
    const text = JSON.stringify({ ...document.paths, ...document.components.responses });
    expect(errorCodes.filter((code) => !text.includes(`(\`${code}\`)`))).toEqual([
      'invalid_transition',
      'paste_in_progress', // the body is empty
      'malformed_message',
    ]);
  });

  it('has examples that fit their schemas', () => {
    for (const [name, { examples = [] }] of Object.entries(document.components.schemas)) {
      for (const each of examples) expect(faultsOf(each, 'components', 'schemas', name)).toEqual([]);
    }
    for (const { path, method, operation } of operations) {
      const at = ['paths', path, method];
      for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
        const schema = [...at, 'requestBody', 'content', type, 'schema'];
        if (media.schema !== undefined) expect(faultsOf(media.example, ...schema)).toEqual([]);
      }
      for (const [i, parameter] of operation.parameters.entries()) {
        expect(faultsOf(parameter.example, ...at, 'parameters', String(i), 'schema')).toEqual([]);
      }
    }
  });

  it.each<[string, object, boolean]>([
    ['a title of 200 characters', { content: 'x', title: '😀'.repeat(200) }, true],
    ['a title of 201 characters', { content: 'x', title: 'x'.repeat(201) }, false],
    ['a title of two lines', { content: 'x', title: 'a\nb' }, false],
    ['no title and an empty syntax', { content: 'x', title: null, syntax: '' }, true],
    ['expires_in 60', { content: 'x', expires_in: 60 }, true],
    ['expires_in 59', { content: 'x', expires_in: 59 }, false],
    ['expires_in 60.5', { content: 'x', expires_in: 60.5 }, false],
    ['expires_in never', { content: 'x', expires_in: 'never' }, true],
    ['expires_in null', { content: 'x', expires_in: null }, false],
    ['empty content', { content: '' }, false],
    ['no content', {}, false],
    ['an unknown field', { content: 'x', colour: 'red' }, false],
  ])('allows in JSON just what the api takes: %s', async (_name, body, allowed) => {
    const schema = ['paths', '/v1/pastes', 'post', 'requestBody', 'content', 'application/json', 'schema'];
    const { status } = await fetch(`${bed.api.url}/v1/pastes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect({ status, allowed: schemaAt(...schema)(body) }).toEqual({ status: allowed ? 201 : 422, allowed });
  });
});

describe('the examples', () => {
  // What the answers have to be is checked for every test by support/undocumented.ts.
  it.each(exampleRequests(document))('can be sent: $name', async ({ path, init }) => {
    await putExample();
    const { status } = await fetch(bed.api.url + path, init);
    expect([200, 201, 204, 206, 304]).toContain(status);
  });
});

describe('the check of every answer in these tests', () => {
  const headers = {
    'x-request-id': 'a',
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  };
  const problem = {
    type: 'urn:pasteflow:problem:paste_gone',
    title: 'Gone',
    status: 410,
    detail: 'Gone.',
    instance: '/x',
    code: 'paste_gone',
  };
  const answer = {
    method: 'GET',
    path: '/x',
    status: 410,
    headers,
    body: Buffer.from(JSON.stringify(problem)),
  };

  it('lets what is documented pass', () => {
    expect(faultsOfAnswer(answer)).toEqual([]);
  });

  it.each([
    ['a status', { status: 418 }],
    ['a status of another method', { method: 'POST' }],
    ['a status of another route', { path: '/healthz' }],
    ['a code', { body: Buffer.from(JSON.stringify({ ...problem, code: 'unauthorized' })) }],
    ['a field', { body: Buffer.from(JSON.stringify({ ...problem, stack: 'x' })) }],
    ['a type', { headers: { ...headers, 'content-type': 'text/html' } }],
    ['an empty body', { headers: { 'x-request-id': 'a' }, body: Buffer.alloc(0) }],
    ['a header', { headers: { ...headers, etag: '"x"' } }],
    ['a header that is missing', { headers: { 'content-type': 'application/problem+json' } }],
  ])('complains about %s that is not documented', (_name, change) => {
    expect(faultsOfAnswer({ ...answer, ...change })).not.toEqual([]);
  });
});
