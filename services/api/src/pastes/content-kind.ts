import { BEGINNING_BYTES, kindOf, type ContentKind } from '@pasteflow/web';

/**
 * What the bytes are, and the bytes again. Reads only what is needed to know that. Call `discard` instead of
 * reading the bytes.
 */
export async function withKind(body: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<{
  readonly kind: ContentKind;
  readonly bytes: AsyncGenerator<Buffer, void>;
  readonly discard: () => Promise<unknown>;
}> {
  const pieces = passed(body);
  const first: Buffer[] = [];
  let length = 0;
  while (length < BEGINNING_BYTES) {
    const { value, done } = await pieces.next();
    if (done === true || value === undefined) break;
    first.push(value);
    length += value.length;
  }
  const beginning = Buffer.concat(first);
  return { kind: kindOf(beginning), bytes: joined(beginning, pieces), discard: () => pieces.return() };
}

async function* passed(body: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield* body;
}

async function* joined(beginning: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  try {
    yield beginning;
    yield* rest;
  } finally {
    await rest.return();
  }
}
