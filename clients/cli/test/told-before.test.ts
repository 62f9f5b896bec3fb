import { expect, it } from '@jest/globals';
import { json, pasteWith, problem, useBed } from './support/bed.ts';
import { route } from './support/jobs.ts';

const bed = useBed();

const CODE = 'q7Zk2Lm9Xa';

it.each([
  [
    json(200, { person: { name: 'Anna\u001b[2J', issuer: 'https://login.example.org/a' } }),
    ', Anna\\u{1b}[2J, as login.example.org says,',
  ],
  [json(200, { person: { name: 'a script', issuer: null } }), ', a script,'],
  [json(200, { user: 'of an earlier server' }), ''],
  [problem(500, 'internal_error', 'No.'), ''],
])('tells a user beforehand what the owner will see', async (usage, who) => {
  route(bed, {
    'GET /v1/usage': usage,
    [`GET /v1/pastes/${CODE}`]: json(200, pasteWith({ burn: true, encrypted: false, size_bytes: 4 })),
    [`POST /v1/pastes/${CODE}/reveal`]: (_request, res) => void res.end('text'),
  });
  const { code, stderr } = await bed.run(['cat', '--reveal', CODE], { env: { PASTEFLOW_TOKEN: 'pf_token' } });
  expect([code, stderr]).toEqual([0, expect.stringContaining(`will see that you${who} fetched it.\n`)]);
});
