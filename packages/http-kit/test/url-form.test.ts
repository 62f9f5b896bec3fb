import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { readUrlForm, readWhole } from '../src/index.ts';

const of = (type: string | undefined) =>
  ({ headers: { 'content-type': type } }) as unknown as IncomingMessage;

describe('a form', () => {
  it.each(['application/x-www-form-urlencoded', 'Application/X-WWW-Form-Urlencoded ; charset=utf-8'])(
    'is read as %s, up to 16 KiB',
    async (type) => {
      const limits: number[] = [];
      const form = await readUrlForm(of(type), (maxBytes) => {
        limits.push(maxBytes);
        return Promise.resolve(Buffer.from('reason=a+b%26c&also=x&also=y'));
      });
      expect([...(form ?? [])]).toEqual([
        ['reason', 'a b&c'],
        ['also', 'x'],
        ['also', 'y'],
      ]);
      expect(limits).toEqual([16_384]);
    },
  );

  it.each([undefined, 'application/json', 'application/x-www-form-urlencoded-too'])(
    'is no form as %s, and its body is not read',
    async (type) => {
      expect(await readUrlForm(of(type), () => Promise.reject(new Error('read')))).toBeNull();
    },
  );
});

describe('a body', () => {
  it('is read whole up to its limit, and not beyond', async () => {
    const chunks = () => Readable.from([Buffer.from('ab'), Buffer.from('cd')]);
    expect(String(await readWhole(chunks(), 4))).toBe('abcd');
    expect(await readWhole(chunks(), 3)).toBeNull();
  });

  it('ends its stream at the limit', async () => {
    const stream = Readable.from([Buffer.from('ab'), Buffer.from('cd'), Buffer.from('ef')]);
    expect(await readWhole(stream, 1)).toBeNull();
    expect(stream.destroyed).toBe(true);
  });
});
