import { beforeEach, describe, expect, it } from '@jest/globals';
import { loadConfig } from '@pasteflow/runtime';
import { sql } from 'kysely';
import { networkOf, trustedProxies } from '../src/http/request/client-address.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { z } from 'zod';

const bed = useApi();

beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
});

/** The address under which the api counted a request with this X-Forwarded-For. */
async function callerOf({ url }: RunningApi, forwardedFor: string | null): Promise<string> {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  const headers = forwardedFor === null ? {} : { 'x-forwarded-for': forwardedFor };
  await fetch(`${url}/v1/pastes/none`, { headers });
  const rows = await bed.db.selectFrom('rate_limits').select('key').execute();
  const [caller] = rows.map(({ key }) => key).filter((key) => key.startsWith('requests:'));
  return caller!.replace('requests:address:', '');
}

/** Limits of one point, so that each request asks Postgres. */
const start = (trust: string) =>
  bed.start({ env: { TRUST_PROXY: trust, RATE_LIMIT_REQUESTS_PER_MINUTE: '99' } });

describe('TRUST_PROXY', () => {
  it('unset: the address is that of the socket, and X-Forwarded-For is ignored', async () => {
    const api = await start('');
    for (const header of [null, '192.0.2.1', '192.0.2.1, 192.0.2.2', '10.0.0.1']) {
      expect(await callerOf(api, header)).toBe('127.0.0.1');
    }
  });

  it.each<[string, string, string | null, string]>([
    ['one proxy', '1', '192.0.2.1', '192.0.2.1'],
    ['one proxy, after an address that the client invented', '1', '198.51.100.1, 192.0.2.1', '192.0.2.1'],
    ['two proxies', '2', '198.51.100.1, 192.0.2.1, 10.0.0.1', '192.0.2.1'],
    ['one proxy that says nothing', '1', null, '127.0.0.1'],
    ['no proxy', '0', '192.0.2.1', '127.0.0.1'],
    ['loopback', 'loopback', '192.0.2.1', '192.0.2.1'],
    [
      'loopback, after an address that the client invented',
      'loopback',
      '198.51.100.1, 192.0.2.1',
      '192.0.2.1',
    ],
    ['a subnet behind another', 'loopback, 10.0.0.0/8', '192.0.2.1, 10.1.2.3', '192.0.2.1'],
    ['an address that is not ours', '10.0.0.1', '192.0.2.1', '127.0.0.1'],
    ['IPv4 in IPv6', 'loopback', '::ffff:192.0.2.1', '192.0.2.1'],
    ['IPv6, by its network', 'loopback', '2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['IPv4 with a port', 'loopback', '192.0.2.1:50123', '192.0.2.1'],
    ['IPv6 with a port', 'loopback', '[2001:db8::1]:50123', '2001:db8::/64'],
    ['nonsense: the proxy itself', 'loopback', 'unknown', '127.0.0.1'],
    ['nonsense of any length', 'loopback', 'x'.repeat(5000), '127.0.0.1'],
  ])('%s', async (_name, trust, header, expected) => {
    expect(await callerOf(await start(trust), header)).toBe(expected);
  });
});

describe('the setting TRUST_PROXY', () => {
  const load = (TRUST_PROXY: string): unknown =>
    loadConfig(z.object({ TRUST_PROXY: trustedProxies().optional() }), { TRUST_PROXY });

  it.each<[string, unknown]>([
    ['', undefined],
    ['2', 2],
    ['loopback', ['loopback']],
    ['loopback, linklocal,uniquelocal', ['loopback', 'linklocal', 'uniquelocal']],
    ['10.0.0.1,192.0.2.0/24, 2001:db8::/32', ['10.0.0.1', '192.0.2.0/24', '2001:db8::/32']],
  ])('accepts %j', (text, expected) => {
    expect(load(text)).toEqual({ TRUST_PROXY: expected });
  });

  it.each([
    'true',
    'yes',
    'all',
    '*',
    '-1',
    '1.5',
    'proxy.example.org',
    '10.0.0.1/33',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.1,',
    '1,2',
  ])('refuses %s, and says what to set and why not true', (text) => {
    expect(() => load(text)).toThrow(
      /TRUST_PROXY is .*; set it to the number of proxies.*never true: any client/,
    );
  });
});

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
