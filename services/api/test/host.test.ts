import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { rawExchange } from './support/http.ts';

const bed = useApi();

async function answerWith(...headers: readonly string[]): Promise<{ status: number; code?: string }> {
  const lines = ['GET /healthz HTTP/1.1', ...headers, 'Connection: close', '', ''];
  const { status, body } = await rawExchange(bed.api.port, lines.join('\r\n'));
  const { code } = JSON.parse(body) as { code?: string };
  return { status, ...(code !== undefined && { code }) };
}

describe('the Host header', () => {
  it.each([
    'x',
    'paste.example.org',
    'PASTE.example.org:8080',
    'my_service.default.svc.',
    '127.0.0.1:3000',
    '[2001:db8::1]:3000',
    'xn--bcher-kva.example:',
    'b%C3%BCcher.example',
  ])('may be %s', async (host) => {
    expect(await answerWith(`Host: ${host}`)).toEqual({ status: 200 });
  });

  it.each([
    ['empty', 'Host:'],
    ['with a path', 'Host: example.org/path'],
    ['with user information', 'Host: user@example.org'],
    ['with a space', 'Host: example.org evil.example'],
    ['a list', 'Host: example.org, evil.example'],
    ['with two ports', 'Host: example.org:80:81'],
    ['with a port that is no number', 'Host: example.org:http'],
    ['an open bracket', 'Host: [::1'],
    ['with a percent sign alone', 'Host: 100%'],
    ['not ASCII', 'Host: bücher.example'],
    ['of 261 characters', `Host: ${'x'.repeat(261)}`],
  ])('is malformed when it is %s', async (_name, host) => {
    expect(await answerWith(host)).toEqual({ status: 400, code: 'malformed_request' });
  });

  it.each([
    ['equal', 'Host: example.org', 'Host: example.org'],
    ['different', 'Host: example.org', 'host: evil.example'],
    ['one of them empty', 'Host: example.org', 'Host:'],
    ['far apart', 'Host: example.org', ...Array.from({ length: 3000 }, () => 'a:'), 'Host: evil.example'],
  ])('must not occur twice: %s', async (_name, ...hosts) => {
    expect(await answerWith(...hosts)).toEqual({ status: 400, code: 'malformed_request' });
  });

  it('may be missing in HTTP/1.0, and must be valid there too', async () => {
    const status = async (header: string) =>
      (await rawExchange(bed.api.port, `GET /healthz HTTP/1.0\r\n${header}\r\n`)).status;
    expect([await status(''), await status('Host: x\r\n'), await status('Host: a b\r\n')]).toEqual([
      200, 200, 400,
    ]);
  });
});

describe('the Host header, where PUBLIC_URL is set,', () => {
  const statusAt = async (host: string, path = '/healthz', publicUrl = 'https://paste.example.org/p') => {
    const api = await bed.start({ env: { PUBLIC_URL: publicUrl } });
    return await rawExchange(api.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  };

  it.each([
    'paste.example.org',
    'PASTE.example.org.:8443',
    '10.0.0.7:3000', // as load balancers and Kubernetes ask for the health
    '[::1]:3000',
    'localhost:3000',
  ])('may be %s', async (host) => {
    expect((await statusAt(host)).status).toBe(200);
  });

  it.each([
    'evil.example',
    'paste.example.org.evil.example',
    'localhost.evil.example',
    '10.0.0.7.evil.example',
    'x',
  ])('is refused when it is %s, with what to do', async (host) => {
    for (const path of ['/', '/v1/pastes/x', '/docs', '/healthzz']) {
      const { status, body } = await statusAt(host, path);
      expect([path, status]).toEqual([path, 400]);
      expect(JSON.parse(body)).toMatchObject({
        code: 'malformed_request',
        detail: expect.stringContaining('This service has the address https://paste.example.org/p'),
      });
    }
  });

  it.each(['pasteflow-api', 'api.default.svc.cluster.local:3000'])(
    'may be %s in probes, which use the name of a service',
    async (host) => {
      for (const path of ['/healthz', '/readyz', '/healthz?verbose'])
        expect([path, (await statusAt(host, path)).status]).toEqual([path, 200]);
    },
  );

  it('may have letters of another script, as browsers send them', async () => {
    const publicUrl = 'https://bücher.example';
    expect((await statusAt('xn--bcher-kva.example', '/', publicUrl)).status).toBe(200);
  });

  it('may be missing in HTTP/1.0', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'https://paste.example.org' } });
    expect((await rawExchange(api.port, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

describe('the headers after the 2,000th', () => {
  it('count: a request with an invalid token at its end is not anonymous', async () => {
    const many = 'a:\r\n'.repeat(3000);
    const request = `GET /v1/pastes/x HTTP/1.1\r\nHost: x\r\n${many}Authorization: Bearer wrong\r\nConnection: close\r\n\r\n`;
    expect((await rawExchange(bed.api.port, request)).status).toBe(401);
  });
});
