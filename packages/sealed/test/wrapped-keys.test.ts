import { describe, expect, it, jest } from '@jest/globals';
import { CipherSuite, Aes256Gcm, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';
import {
  BrokenLinkError,
  newRequestKeys,
  publicPartOf,
  unwrapKey,
  wrapKey,
  WrongRequestKeyError,
} from '../src/wrapped-keys.ts';

const id = 'a'.repeat(22);
const key = crypto.getRandomValues(new Uint8Array(32));

describe('the key of a deposit', () => {
  it('opens with the private part of the pair, and has the lengths that the links and the table have', async () => {
    const { publicPart, privatePart } = await newRequestKeys();
    const wrapped = await wrapKey(key, id, `#${publicPart}`);
    expect([publicPart.length, privatePart.length, wrapped.length]).toEqual([87, 130, 151]);
    expect(await unwrapKey(wrapped, id, privatePart)).toEqual(key);
    expect(await wrapKey(key, id, publicPart)).not.toBe(wrapped);
  });

  it('opens for no other request, with no other key, and not when a bit was changed', async () => {
    const { publicPart, privatePart } = await newRequestKeys();
    const wrapped = await wrapKey(key, id, publicPart);
    const changed = `${wrapped.startsWith('B') ? 'B' : wrapped[0]}${wrapped.slice(1, -2)}${wrapped.endsWith('AA') ? 'BB' : 'AA'}`;
    const other = await newRequestKeys();
    await expect(unwrapKey(wrapped, 'b'.repeat(22), privatePart)).rejects.toThrow(WrongRequestKeyError);
    await expect(unwrapKey(wrapped, id, other.privatePart)).rejects.toThrow(WrongRequestKeyError);
    await expect(unwrapKey(changed, id, privatePart)).rejects.toThrow(WrongRequestKeyError);
  });

  it.each([
    '',
    '#',
    'L12',
    'x'.repeat(87),
    'A'.repeat(87),
    'A'.repeat(86),
    'A'.repeat(130),
    `${'A'.repeat(100_000)}`,
  ])('is not wrapped for a link that is broken: %.20s', async (part) => {
    await expect(wrapKey(key, id, part)).rejects.toThrow(BrokenLinkError);
    await expect(unwrapKey('A'.repeat(151), id, part)).rejects.toThrow(BrokenLinkError);
  });

  /** RFC 9180 and nothing of our own: what the suite itself has sealed is opened. */
  it('is HPKE in mode base with the id of the request as info', async () => {
    const suite = new CipherSuite({
      kem: new DhkemP256HkdfSha256(),
      kdf: new HkdfSha256(),
      aead: new Aes256Gcm(),
    });
    const { publicPart, privatePart } = await newRequestKeys();
    const recipientPublicKey = await suite.kem.deserializePublicKey(Buffer.from(publicPart, 'base64url'));
    const { enc, ct } = await suite.seal({ recipientPublicKey, info: new TextEncoder().encode(id) }, key);
    const wrapped = Buffer.concat([Buffer.from(enc), Buffer.from(ct)]).toString('base64url');
    expect(await unwrapKey(wrapped, id, privatePart)).toEqual(key);
  });
});

describe('the pair of a request', () => {
  it('needs one link only', async () => {
    const { publicPart, privatePart } = await newRequestKeys();
    expect(publicPartOf(`#${privatePart}`)).toBe(publicPart);
    expect(() => publicPartOf('#L12')).toThrow(BrokenLinkError);
  });

  it('opens in a browser that exports no private key which it has imported, as Firefox does', async () => {
    const pairs = await Promise.all(Array.from({ length: 20 }, () => newRequestKeys()));
    const wrapped = await Promise.all(pairs.map(({ publicPart }) => wrapKey(key, id, publicPart)));
    const { subtle } = crypto;
    const exportKey = subtle.exportKey.bind(subtle) as (...values: unknown[]) => Promise<ArrayBuffer>;
    const asFirefox = jest
      .spyOn(subtle, 'exportKey')
      .mockImplementation((format: string, exported: unknown) =>
        format === 'jwk' ? Promise.reject(new Error('no')) : exportKey(format, exported),
      );
    try {
      for (const [index, { privatePart }] of pairs.entries())
        expect(await unwrapKey(wrapped[index]!, id, privatePart)).toEqual(key);
    } finally {
      asFirefox.mockRestore();
    }
  });
});
