import { beforeAll, describe, expect, it } from '@jest/globals';
import { routesOf } from '../src/app.ts';
import type { ApiContext } from '../src/context.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { ownPage } from './support/http.ts';
import { limited } from './support/limits.ts';
import { BROWSER } from './support/sign-in.ts';
import { newUser, type TestUser } from './support/users.ts';
import { jobTypes } from './support/job-types.ts';

const unlimited = { requests: 0, creations: 0, misses: 0, bytes: 0, reports: 0 };
const bed = useApi({ env: { ...limited(unlimited), MAX_OPEN_JOBS_PER_USER: '100000' } });

let user: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
});

const routes = Object.entries(routesOf({ jobTypes } as ApiContext));
const forms = routes.flatMap(([path, { POST: form }]) => (form?.page === undefined ? [] : [path]));
const shown = routes.flatMap(([path, { GET: page }]) =>
  page !== undefined && 'policy' in page && page.page !== undefined ? [path] : [],
);

/** Values of a field, as they are in a form on the wire. */
const VALUES: Readonly<Record<string, string>> = {
  'an empty text': '',
  spaces: '+++',
  'a NUL': 'a%00b',
  'control characters': '%01%0d%0a%1b%7f',
  'bytes that are no UTF-8': '%ff%fe%c3%28',
  'half of a surrogate pair': '%ed%a0%80',
  'a broken escape': '%zz%',
  'a wrong direction': '%e2%80%ae',
  'another kind of number': '-1e999',
  'a long number': '9'.repeat(40),
  'no number': 'NaN',
  'a list in brackets': '[1,2]',
  'an object': '%7b%22a%22%3a1%7d',
  markup: '%3Cscript%3Ealert(1)%3C/script%3E',
  'a path of another site': '//evil.example/%5c%5cx',
  'a statement': "'%3B+DROP+TABLE+pastes%3B--",
  '12,000 letters': 'x'.repeat(12_000),
};

const NAMES = ['__proto__', 'constructor', 'toString', 'a[]', 'a[b][c]', 'a.b', '', '%00', 'x'.repeat(4000)];

interface Body {
  readonly type?: string;
  readonly bytes: string | Buffer;
  readonly encoding?: string;
}

const URL_FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=b';

const partOf = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** The fields of a form as text of a multipart body; escapes become bytes. */
function multipartOf(fields: readonly (readonly [string, string])[]): Body {
  const bytesOf = (text: string) =>
    Buffer.from(
      text.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
      'latin1',
    );
  return { type: MULTIPART, bytes: bytesOf(`${fields.map(([n, v]) => partOf(n, v)).join('')}--b--\r\n`) };
}

function urlFormOf(fields: readonly (readonly [string, string])[]): Body {
  return { type: URL_FORM, bytes: fields.map(([name, value]) => `${name}=${value}`).join('&') };
}

/** The parameters of the pages that have any. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/session': ['next'],
  '/session/oidc': ['next'],
  '/session/oidc/callback': ['state', 'code', 'error'],
  '/my/pastes': ['title', 'status', 'visibility', 'syntax', 'cursor', 'deleted'],
  '/my/jobs': ['status', 'job_type', 'cursor'],
  '/my/tokens': ['name'],
};

/** What has nothing to do with the fields of the form. */
const BODIES: Readonly<Record<string, Body>> = {
  'no body': { bytes: '' },
  'no type': { bytes: 'a=1' },
  JSON: { type: 'application/json', bytes: '{"a":[1,{"b":null}]}' },
  'a text': { type: 'text/plain', bytes: 'a=1' },
  'no media type': { type: '///;;;=', bytes: 'a=1' },
  'an encoding that is none': { type: `${URL_FORM}; charset=utf-16`, bytes: Buffer.from('a=1', 'utf16le') },
  'separators alone': { type: URL_FORM, bytes: '&&&===&=&' },
  'many fields': { type: URL_FORM, bytes: 'a=1&'.repeat(4000) },
  'more than a form may have': { type: URL_FORM, bytes: `a=${'x'.repeat(200_000)}` },
  'compressed, as it says': { type: URL_FORM, bytes: 'a=1', encoding: 'gzip' },
  'an unknown compression': { type: URL_FORM, bytes: 'a=1', encoding: 'x-none' },
  'a multipart form without a boundary': { type: 'multipart/form-data', bytes: partOf('a', '1') },
  'a multipart form without an end': { type: MULTIPART, bytes: partOf('a', '1') },
  'a multipart form that is none': { type: MULTIPART, bytes: 'a=1' },
  'a part without a name': {
    type: MULTIPART,
    bytes: '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n',
  },
  'a part without headers': { type: MULTIPART, bytes: '--b\r\n\r\nx\r\n--b--\r\n' },
  'a thousand parts': multipartOf(Array.from({ length: 1000 }, (_, n) => [`a${n}`, '1'])),
  'a file of any name': {
    type: MULTIPART,
    bytes: '--b\r\nContent-Disposition: form-data; name="x"; filename="../../\\x00""\r\n\r\nx\r\n--b--\r\n',
  },
};

/** Each of the fields missing, repeated, and with each value; and fields that the form does not have. */
function* changesOf(fields: readonly (readonly [string, string])[], write: typeof urlFormOf) {
  for (const [at, [name]] of fields.entries()) {
    const others = fields.toSpliced(at, 1);
    yield [`without ${name}`, write(others)] as const;
    yield [`with ${name} twice`, write([...fields, fields[at]!])] as const;
    for (const [what, value] of Object.entries(VALUES))
      yield [`with ${name}: ${what}`, write([...others, [name, value]])] as const;
  }
  for (const name of NAMES) yield [`with ${name.slice(0, 20)}`, write([...fields, [name, '1']])] as const;
}

/** A page with words, or the way to another page; never an error of the service. */
async function expectPage(response: Response, what: string): Promise<void> {
  const text = await response.text();
  const said = { what, status: response.status, type: response.headers.get('content-type') };
  if ([302, 303].includes(response.status)) {
    const next = new URL(response.headers.get('location')!, bed.api.url);
    expect({ ...said, next: next.origin }).toEqual({ ...said, next: new URL(bed.api.url).origin });
    return;
  }
  const isOk = response.status < 500 || [503, 507].includes(response.status);
  const isPage = said.type === 'text/html; charset=utf-8' && /<h1[ >]/.test(text);
  expect({ ...said, isOk, isPage }).toEqual({ ...said, isOk: true, isPage: true });
}

/** A reveal has a body in a browser alone, so that its operation has no answer that refuses the body. */
function forgetRefusedForms(undocumented: string[]): void {
  const others = undocumented.filter((each) => !/: 41[35]: this status is not documented$/.test(each));
  undocumented.splice(0, undocumented.length, ...others);
}

describe.each(forms)('the form of %s', (path) => {
  it('answers whatever is sent with a page', async () => {
    const { path: address, init } = await accessTable[`POST ${path}`]![0]!.prepare(bed, user);
    const form = init?.body instanceof FormData || path === '/' ? 'multipart' : 'url';
    const valid = init?.body instanceof URLSearchParams || init?.body instanceof FormData ? init.body : [];
    const fields = [...valid].map(
      ([name, value]) => [name, typeof value === 'string' ? value : 'x'] as const,
    );
    const write = form === 'url' ? urlFormOf : multipartOf;
    const bodies = [
      ...Object.entries(BODIES),
      ...changesOf(fields.length === 0 ? [['key', 'x']] : fields, write),
    ];
    for (const [what, { type, bytes, encoding }] of bodies) {
      const headers = new Headers({ ...BROWSER, ...ownPage(bed.api.url), ...user.headers });
      if (type !== undefined) headers.set('content-type', type);
      if (encoding !== undefined) headers.set('content-encoding', encoding);
      const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
      const sent = { method: 'POST', headers, body: new Uint8Array(body), redirect: 'manual' } as const;
      await expectPage(await fetch(bed.api.url + address, sent), what);
    }
    if (path === '/:short_code') forgetRefusedForms(bed.api.undocumented);
    expect(bed.api.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe.each(shown)('the page %s', (path) => {
  it('answers whatever is asked with a page', async () => {
    const { path: address } = await accessTable[`GET ${path}`]![0]!.prepare(bed, user);
    const [route] = address.split('?');
    const names = [...(QUERIES[path] ?? []), '__proto__', 'a[]'];
    const queries = names.flatMap((name) => [
      ...Object.values(VALUES).map((value) => `${name}=${value.slice(0, 4000)}`),
      `${name}=a&${name}=b`,
    ]);
    for (const query of queries) {
      const headers = { ...BROWSER, ...ownPage(bed.api.url), ...user.headers };
      const response = await fetch(`${bed.api.url}${route}?${query}`, { headers, redirect: 'manual' });
      await expectPage(response, query.slice(0, 60));
    }
    expect(bed.api.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
