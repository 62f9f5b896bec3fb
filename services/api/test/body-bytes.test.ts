import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { BodyBytes, freeMemory } from '../src/http/body/body-bytes.ts';

const CONTENT = randomBytes(300_000);

/** The content in chunks of so many bytes, each with memory of its own. */
function chunksOf(size: number): Buffer[] {
  const count = Math.ceil(CONTENT.length / size);
  return Array.from({ length: count }, (_, n) => Buffer.from(CONTENT.subarray(n * size, (n + 1) * size)));
}

describe('the bytes of a body', () => {
  it.each([
    ['an unknown number', 0],
    ['as many as expected', CONTENT.length],
    ['fewer than expected', CONTENT.length * 2],
    ['more than expected', 1000],
  ])('are all there, in their order: %s', (_, expected) => {
    for (const size of [777, 65_536, CONTENT.length]) {
      const body = new BodyBytes(expected);
      for (const chunk of chunksOf(size)) {
        body.add(chunk);
        freeMemory(chunk);
      }
      expect(body.bytes.equals(CONTENT)).toBe(true);
    }
  });

  it('give their memory back at once when the body is refused', () => {
    const body = new BodyBytes();
    body.add(CONTENT);
    const { buffer } = body.bytes;
    body.free();
    expect([buffer.byteLength, body.bytes.length]).toEqual([0, 0]);
  });

  it('are none when no chunk has arrived', () => {
    expect(new BodyBytes(10).bytes).toHaveLength(0);
  });

  it('take no memory before they arrive, however many are expected', () => {
    const body = new BodyBytes(100_000_000);
    body.add(Buffer.from('x'));
    expect(body.bytes.buffer.byteLength).toBeLessThanOrEqual(65_536); // of Node's pool
  });

  it('are in memory once: a buffer that became too small is freed', () => {
    const body = new BodyBytes();
    body.add(randomBytes(100_000));
    const before = body.bytes;
    body.add(randomBytes(1));
    expect(before).toHaveLength(0);
    expect(body.bytes).toHaveLength(100_001);
  });
});

describe('memory that is not needed any more', () => {
  it('is freed at once', () => {
    const bytes = Buffer.allocUnsafeSlow(100_000);
    freeMemory(bytes);
    expect(bytes).toHaveLength(0);
  });

  it('is kept when other bytes are in it', () => {
    const pair = Buffer.from('twice');
    const [first, second] = [pair.subarray(0, 2), pair.subarray(2)];
    freeMemory(first);
    freeMemory(pair); // short: from the pool of Node
    expect(`${first.toString()}${second.toString()}`).toBe('twice');
  });

  it('may be freed twice, and may be none', () => {
    const bytes = Buffer.allocUnsafeSlow(100_000);
    for (const each of [bytes, bytes, Buffer.alloc(0)]) freeMemory(each);
    expect(bytes).toHaveLength(0);
  });
});
