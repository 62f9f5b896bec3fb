import type { LookupAddress, LookupOptions } from 'node:dns';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import {
  ForbiddenAddressError,
  isPublicAddress,
  publicLookup,
  readEndpointUrl,
  type Resolve,
} from '../../src/webhooks/endpoint-address.ts';

const none: ReadonlySet<string> = new Set();

describe('the URL of an endpoint', () => {
  it.each([
    'https://hooks.example.com/a?b=c',
    'https://hooks.example.com:443/',
    'https://HOOKS.example.com./',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1::1]/',
    'https://bücher.example/',
  ])('%s is taken', (url) => {
    expect(readEndpointUrl(url, none)).toMatchObject({ isListed: false });
  });

  it.each([
    // Loopback, in every form that a URL may have.
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://１２７.０.０.１/',
    'https://127。0。0。1/',
    'https://%31%32%37.0.0.1/',
    'https://127.0.0.1./',
    'https://0.0.0.0/',
    'https://0/',
    'https://[::]/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    // An IPv4 address within an IPv6 one: mapped, compatible, translated, NAT64, 6to4, Teredo.
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::a00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    // Private, link-local with the metadata of clouds, shared, multicast, reserved.
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::ffff:169.254.169.254]/',
    'https://[fd00:ec2::254]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fec0::1]/',
    'https://100.64.0.1/',
    'https://192.0.2.1/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
    'https://[100::1]/',
    // Names of inner networks.
    'https://postgres/',
    'https://metadata.google.internal/',
    'https://printer.local/',
    'https://router.home.arpa/',
  ])('%s is not public', (url) => {
    expect(readEndpointUrl(url, none)).toBe('is not public');
  });

  it.each([
    ['http://hooks.example.com/', 'is not https on port 443'],
    ['https://hooks.example.com:8443/', 'is not https on port 443'],
    ['ftp://hooks.example.com/', 'is not https on port 443'],
    ['file:///etc/passwd', 'is not https on port 443'],
    ['javascript:alert(1)', 'is not https on port 443'],
    ['https://user@hooks.example.com/', 'has a user name or a password'],
    ['https://:secret@hooks.example.com/', 'has a user name or a password'],
    ['https://hooks.example.com/#a', 'has a fragment'],
    ['hooks.example.com', 'is not a URL'],
    ['https://', 'is not a URL'],
    ['https://[fe80::1%25eth0]/', 'is not a URL'],
    ['https://[::1', 'is not a URL'],
    ['https://256.1.1.1/', 'is not a URL'],
    ['https://hooks example.com/', 'is not a URL'],
    [`https://hooks.example.com/${'a'.repeat(2000)}`, 'is too long'],
  ])('%s %s', (url, problem) => {
    expect(readEndpointUrl(url, none)).toBe(problem);
  });

  it('is taken as it is when its origin is listed, and only then', () => {
    const listed = new Set(['http://127.0.0.1:9999', 'https://hooks.internal']);
    expect(readEndpointUrl('http://127.0.0.1:9999/a', listed)).toMatchObject({ isListed: true });
    expect(readEndpointUrl('https://hooks.internal:443/a', listed)).toMatchObject({ isListed: true });
    expect(readEndpointUrl('http://127.0.0.1:9998/a', listed)).toBe('is not https on port 443');
    expect(readEndpointUrl('http://hooks.internal/', listed)).toBe('is not https on port 443');
    expect(readEndpointUrl('blob:http://127.0.0.1:9999/a', listed)).toBe('is not https on port 443');
    expect(readEndpointUrl('https://hooks.internal.evil.example/', listed)).toMatchObject({
      isListed: false,
    });
    expect(readEndpointUrl('http://a@127.0.0.1:9999/', listed)).toBe('has a user name or a password');
  });
});

describe('an address', () => {
  it.each([
    'fe80::1%eth0',
    '::1%lo',
    '1.1.1.1%eth0',
    '::ffff:10.0.0.1',
    '::10.0.0.1',
    '::a00:1',
    '127.1',
    '',
    'hooks.example.com',
    '3fff::1',
    '5f00::1',
    '192.88.99.1',
    '2620:4f:8000::1',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
  it.each(['1.1.1.1', '2606:4700::1111', '::ffff:1.1.1.1'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('the look-up of a connection', () => {
  const v4 = (address: string): LookupAddress => ({ address, family: 4 });
  const v6 = (address: string): LookupAddress => ({ address, family: 6 });

  const look = (resolve: Resolve, options: LookupOptions = { all: true }) =>
    new Promise((done, fail) => {
      publicLookup(resolve)('hooks.example.com', options, (error, ...found) =>
        error === null ? done(found) : fail(error),
      );
    });

  it('gives the addresses of a name that has only public ones', async () => {
    const found = [v4('93.184.216.34'), v6('2606:4700::1111')];
    expect(await look(async () => found)).toEqual([found]);
    expect(await look(async () => found, {})).toEqual(['93.184.216.34', 4]);
  });

  it.each([
    ['a private address', [v4('10.0.0.1')]],
    ['the address of metadata', [v4('169.254.169.254')]],
    ['a mapped address', [v6('::ffff:127.0.0.1')]],
    ['an address with a zone', [v6('fe80::1%eth0')]],
    ['a public and a private address', [v4('93.184.216.34'), v4('127.0.0.1')]],
    ['a public address, and a private one of the other family', [v4('93.184.216.34'), v6('::1')]],
    ['no address', []],
    ['something that is no address', [v4('hooks.internal')]],
  ])('refuses a name that has %s', async (_, found) => {
    const error = await look(async () => found).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ForbiddenAddressError);
    expect(String(error)).not.toMatch(/\d/);
  });

  it('passes the error of a name without addresses on', async () => {
    const error = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
    await expect(look(async () => Promise.reject(error))).rejects.toBe(error);
  });

  it('looks once for a connection, which uses what was looked at, so that an answer that changes finds nothing', async () => {
    const inner = createServer();
    let reached = 0;
    inner.on('connection', (socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
    const { port } = inner.address() as AddressInfo;
    let asked = 0;
    // 192.0.2.0/24 is for documentation. The first answer stands in for a public one that leads nowhere.
    const changing: Resolve = async () => {
      asked += 1;
      return [v4(asked === 1 ? '93.184.216.34' : '127.0.0.1')];
    };
    const used: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const socket = connect({
        host: 'hooks.example.com',
        port,
        lookup: publicLookup(changing),
        autoSelectFamilyAttemptTimeout: 100,
      });
      await new Promise<void>((resolve) => {
        socket.on('lookup', (error, address) => {
          used.push(error === null ? address : error.name);
          socket.destroy();
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve());
      });
    }
    expect([used, asked, reached]).toEqual([
      ['93.184.216.34', 'ForbiddenAddressError', 'ForbiddenAddressError'],
      3,
      0,
    ]);
    await new Promise((resolve) => inner.close(resolve));
  });
});
