import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { problemCodes } from '../src/http/answers/problem-codes.ts';
import { buildApp, routesOf } from '../src/app.ts';
import type { ApiContext } from '../src/context.ts';
import { asTemplate } from '../src/http/openapi/document.ts';
import { example as exampleJob } from '../src/jobs/job-view.ts';
import { useApi } from './support/api.ts';
import { wholeDocument, type Document } from './support/document.ts';
import { exampleRequests, examplesOf } from './support/example-requests.ts';
import {
  putExampleJob,
  putExampleOwnToken,
  putExamplePaste,
  putExampleRequest,
  putExampleWebhook,
} from './support/examples.ts';
import { ownPage } from './support/http.ts';
import { OPERATIONS } from './support/operations.ts';
import { undocumentedIn } from './support/undocumented.ts';
import { newUser, type TestUser } from './support/users.ts';
import { jobTypes } from './support/job-types.ts';

const bed = useApi({ house: { links: { abuse: 'abuse@example.org' } } });
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

async function served(url: string): Promise<Document> {
  const response = await fetch(`${url}/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await response.json()) as Document;
}

const { document, faultsOf, schemaAt } = wholeDocument();

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

let user: TestUser;

beforeAll(async () => {
  user = await newUser(bed.db);
  await putExampleJob(bed, user);
});

describe('GET /openapi.json', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const api = await served(bed.api.url);
    const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(api).toMatchObject({ openapi: '3.1.0', info: { version } });
    expect(await new Validator().validate({ ...api })).toEqual({ valid: true });
  });

  it('has only patterns that regular expressions of other languages know', () => {
    const found = patternsIn(document);
    expect(found.length).toBeGreaterThan(10);
    // Python's `re` has no \p, Rust's and Go's have no lookaround and no back-references.
    expect(found.filter((pattern) => /\\[pPk1-9]|\(\?(?!:)/.test(pattern))).toEqual([]);
    for (const pattern of found) expect(() => new RegExp(pattern)).not.toThrow();
  });

  function patternsIn(node: unknown): string[] {
    if (typeof node !== 'object' || node === null) return [];
    return Object.entries(node).flatMap(([key, value]: [string, unknown]) =>
      key === 'pattern' && typeof value === 'string' ? [value] : patternsIn(value),
    );
  }

  it('has no Idempotency-Key, which Swagger UI would send for every reader', () => {
    const keys = operations.flatMap(({ operation }) =>
      operation.parameters.filter(({ name }) => name === 'Idempotency-Key'),
    );
    expect(keys.length).toBeGreaterThan(5);
    expect(
      keys.filter((key) => /"(?:example|examples|default|const|enum)":/.test(JSON.stringify(key))),
    ).toEqual([]);
  });

  it('takes the server from PUBLIC_URL and the limit from MAX_PASTE_BYTES', async () => {
    expect((await served(bed.api.url)).servers).toEqual([{ url: bed.api.url }]);
    const env = { PUBLIC_URL: 'https://paste.example.org/p', MAX_PASTE_BYTES: '12345' };
    const { servers, paths } = await served((await bed.start({ env })).url);
    expect(servers).toEqual([{ url: 'https://paste.example.org/p' }]);
    expect(paths['/v1/pastes']!.post!.requestBody!.description).toContain('12345 bytes');
  });

  it('has exactly these operations, and none of a page', () => {
    const listed = operations.map(
      ({ path, method, operation }) => `${method.toUpperCase()} ${path} ${operation.operationId}`,
    );
    expect(listed.toSorted()).toEqual(OPERATIONS);
  });

  it('is of the routes of the Express app, each once', () => {
    const { router } = buildApp({ headers: {}, jobTypes } as ApiContext);
    const paths = router.stack.flatMap(({ route }) => (route === undefined ? [] : [route.path]));
    expect(paths).toEqual(Object.keys(routesOf({ jobTypes } as ApiContext)));
    const described = Object.entries(routesOf({ jobTypes } as ApiContext)).flatMap(([path, methods]) =>
      Object.values(methods).some((endpoint) => 'operation' in endpoint) ? [asTemplate(path)] : [],
    );
    expect(Object.keys(document.paths)).toEqual(described);
  });

  it('has exactly the methods that the api answers at each path', async () => {
    for (const [path, methods] of Object.entries(routesOf({ jobTypes } as ApiContext))) {
      const url = bed.api.url + path.replace(':short_code', 'doesNotExist');
      const answers = await Promise.all(METHODS.map(async (method) => await fetch(url, { method })));
      const answered = METHODS.filter((_method, i) => answers[i]!.status !== 405);
      expect([path, ...answered.toSorted()]).toEqual([path, ...Object.keys(methods).toSorted()]);
      const item = Object.keys(document.paths[asTemplate(path)] ?? {});
      const described = Object.entries(methods).flatMap(([method, endpoint]) =>
        'operation' in endpoint ? [method.toLowerCase()] : [],
      );
      expect([path, ...item]).toEqual([path, ...described]);
    }
  });

  it('gives each operation an id, and each operation and answer a sentence', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation } of operations) {
      expect(operation.summary).toMatch(/^[A-Z].*\.$/);
      for (const { description } of Object.values(operation.responses))
        expect(description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('has every code that can become a problem document', () => {
    const text = JSON.stringify({ ...document.paths, ...document.components.responses });
    expect(problemCodes.filter((code) => !text.includes(`(\`${code}\`)`))).toEqual([
      'invalid_transition',
      'execution_taken',
      'invitation_not_found', // pages, which are not in the document
      'invitation_ended',
      'malformed_message',
    ]);
  });

  it('has examples that match their schemas', () => {
    for (const [name, { examples = [] }] of Object.entries(document.components.schemas)) {
      for (const each of examples) expect(faultsOf(each, 'components', 'schemas', name)).toEqual([]);
    }
    for (const { path, method, operation } of operations) {
      const at = ['paths', path, method];
      for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
        const schema = [...at, 'requestBody', 'content', type, 'schema'];
        if (media.schema === undefined) continue;
        for (const each of examplesOf(media)) expect(faultsOf(each, ...schema)).toEqual([]);
      }
      for (const [i, { name, example }] of operation.parameters.entries()) {
        if (name === 'Idempotency-Key') continue;
        expect(faultsOf(example, ...at, 'parameters', String(i), 'schema')).toEqual([]);
      }
    }
  });

  it('has an example of each problem of each answer', () => {
    for (const { path, method, operation } of operations) {
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        const type = 'application/problem+json';
        const at = ['paths', path, method, 'responses', status, 'content', type, 'schema'];
        for (const [code, { $ref }] of Object.entries(content[type]?.examples ?? {})) {
          expect($ref).toBe(`#/components/examples/${code}`);
          expect(faultsOf(document.components.examples[code]!.value, ...at)).toEqual([]);
        }
      }
    }
  });

  it('distinguishes jobs by their type', () => {
    const { schema } = document.paths['/v1/jobs']!.post!.requestBody!.content['application/json']!;
    const mapping = Object.fromEntries(
      jobTypes.names.map((name) => [name, expect.stringMatching(/^#\/components\/schemas\/New\w+Job$/)]),
    );
    expect(schema).toMatchObject({ discriminator: { propertyName: 'job_type', mapping } });
    expect(jobTypes.names).toEqual(['export', 'import']);
  });

  it.each<[string, object, boolean]>([
    ...[...jobTypes.byName.values()].map(({ name, example }): [string, object, boolean] => [
      name,
      { job_type: name, parameters: example },
      true,
    ]),
    ['an unknown type', { job_type: 'x', parameters: {} }, false],
    ['no type', { parameters: {} }, false],
    ['no parameters', { job_type: 'export' }, false],
    ['an unknown parameter', { job_type: 'export', parameters: { x: 1 } }, false],
    ['an unknown field', { job_type: 'export', parameters: {}, x: 1 }, false],
  ])('accepts as a job exactly what the api accepts: %s', async (_name, body, allowed) => {
    const schema = ['paths', '/v1/jobs', 'post', 'requestBody', 'content', 'application/json', 'schema'];
    const { status } = await fetch(`${bed.api.url}/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...user.headers },
      body: JSON.stringify(body),
    });
    expect({ status, allowed: schemaAt(...schema)(body) }).toEqual({ status: allowed ? 202 : 422, allowed });
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
  ])('accepts as JSON exactly what the api accepts: %s', async (_name, body, allowed) => {
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
  // support/undocumented.ts checks the answers, in every test.
  const byOperation = Map.groupBy(exampleRequests(document), ({ operationId }) => operationId);
  it.each([...byOperation])('of %s are accepted', async (_operationId, requests) => {
    for (const { name, path, init, as } of requests) {
      await putExampleOwnToken(bed.db, user);
      await putExampleRequest(bed.db, user);
      await putExampleWebhook(bed.db, user);
      await bed.db.updateTable('jobs').set({ retried_as: null }).execute(); // the job of the examples is retried twice
      await bed.db.deleteFrom('jobs').where('id', '<>', exampleJob.id).execute(); // a user has three open exports
      await putExamplePaste(bed, as === 'user' ? user : null);
      const headers = new Headers(init.headers);
      for (const [field, value] of Object.entries(ownPage(bed.api.url))) headers.set(field, value);
      if (as === 'user') headers.set('Authorization', `Bearer ${user.token}`);
      const { status } = await fetch(bed.api.url + path, { ...init, headers, redirect: 'manual' });
      expect({ name, ok: [200, 201, 202, 204, 206, 304].includes(status) }).toEqual({ name, ok: true });
    }
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

  it('accepts a documented answer', () => {
    expect(undocumentedIn(answer)).toEqual([]);
  });

  it.each([
    ['a status', { status: 418 }],
    ['a status of another method', { method: 'DELETE' }],
    ['a status of another route', { path: '/healthz' }],
    ['a code', { body: Buffer.from(JSON.stringify({ ...problem, code: 'unauthorized' })) }],
    ['a field', { body: Buffer.from(JSON.stringify({ ...problem, stack: 'x' })) }],
    ['a type', { headers: { ...headers, 'content-type': 'text/css' } }],
    ['an empty body', { headers: { 'x-request-id': 'a' }, body: Buffer.alloc(0) }],
    ['a header', { headers: { ...headers, etag: '"x"' } }],
    ['a header that is missing', { headers: { 'content-type': 'application/problem+json' } }],
  ])('reports an undocumented %s', (_name, change) => {
    expect(undocumentedIn({ ...answer, ...change })).not.toEqual([]);
  });
});
