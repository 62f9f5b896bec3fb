import { describe, expect, it } from '@jest/globals';
import { networkOf } from '../src/index.ts';

describe('the network that counts as one client', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['no address', 'no address', 'no address'],
  ])('of %s', (address, device, site) => {
    expect(networkOf(address)).toBe(device);
    expect(networkOf(address, 48)).toBe(site);
  });

  it('is not looked for in a text that is too long for an address', () => {
    const text = '1'.repeat(1_000_000);
    expect(networkOf(text)).toBe(text);
  });
});
