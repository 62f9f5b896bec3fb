import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Sha256 } from '../../src/signed-requests/sha256.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const hex = async (hash: Sha256, text: string) => {
  hash.update(bytes(text));
  return Buffer.from(await hash.digest()).toString('hex');
};
const expected = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

describe('the digest of the signer', () => {
  it('is SHA-256, as FIPS 180-2 publishes it', async () => {
    expect(await hex(new Sha256(), 'abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('is HMAC with a secret, as RFC 4231 publishes it', async () => {
    expect(await hex(new Sha256('Jefe'), 'what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
    expect(await hex(new Sha256(new Uint8Array(20).fill(0x0b)), 'Hi There')).toBe(
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    );
  });

  it('follows the secret when it changes, and comes back to an earlier one', async () => {
    for (const secret of ['one', 'two', 'one', 'äöü', 'two'])
      expect(await hex(new Sha256(secret), 'text')).toBe(expected(secret, 'text'));
  });

  it('tells keys of bytes apart, also those that share a buffer', async () => {
    const both = bytes('onetwo');
    const [one, two] = [both.subarray(0, 3), both.subarray(3)];
    for (const [key, secret] of [
      [one, 'one'],
      [two, 'two'],
      [one, 'one'],
    ] as const)
      expect(await hex(new Sha256(key), 'text')).toBe(expected(secret, 'text'));
    expect(await hex(new Sha256(both.buffer), 'text')).toBe(expected('onetwo', 'text'));
  });
});
