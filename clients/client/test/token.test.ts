import { describe, expect, it } from '@jest/globals';
import { createClient } from '../src/index.ts';
import { pasteWith } from './support/paste.ts';
import { json, reset } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();
const tokens = (): unknown[] => bed.server.requests.map(({ headers }) => headers.authorization);

describe('a token', () => {
  it('is sent with each request, also by the bare api; without a token no header is sent', async () => {
    bed.server.script(json(200, pasteWith({})));
    const client = bed.client({ token: 'pf_secret' });
    await client.pastes.get('q7Zk2Lm9Xa');
    await client.api.GET('/v1/pastes/{short_code}', { params: { path: { short_code: 'q7Zk2Lm9Xa' } } });
    await bed.client().pastes.get('q7Zk2Lm9Xa');
    expect(tokens()).toEqual(['Bearer pf_secret', 'Bearer pf_secret', undefined]);
  });

  it('can be a function, which is called before each try', async () => {
    bed.server.script(reset, json(200, pasteWith({})));
    let n = 0;
    await bed.client({ token: async () => `token-${(n += 1)}` }).pastes.get('q7Zk2Lm9Xa');
    expect(tokens()).toEqual(['Bearer token-1', 'Bearer token-2']);
  });
});

it('reaches an api below a path of its host', async () => {
  bed.server.script(json(200, pasteWith({})));
  await createClient({ baseUrl: `${bed.server.url}/pasteflow/` }).pastes.get('q7Zk2Lm9Xa');
  expect(bed.server.requests[0]!.path).toBe('/pasteflow/v1/pastes/q7Zk2Lm9Xa');
});

it.each(['localhost:3000', 'paste.example.org', 'ftp://paste.example.org', ''])(
  'is refused at once without a URL of http or https: %j',
  (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(TypeError);
  },
);
