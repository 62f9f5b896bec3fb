import { MAX_ENTRIES, SourceRefusedError } from './archive-rules.ts';
import { type Entry, type EntryPaste, type Input, InvalidEntryError } from './input.ts';

/**
 * A paste has some twenty fields, and 100 files of three. An object with many more values is not a paste, and
 * millions of values would block the parser for seconds.
 */
const MAX_VALUES = 1000;

/** Including blank lines: each costs some hundred nanoseconds, and they are scanned without a pause. */
const MAX_LINES = 10 * MAX_ENTRIES;

const NEWLINE = 0x0a;
const BLANK = /^[\t\r ]*$/;

/**
 * The entries of an NDJSON source: one for each line that is not blank. An entry's position is the number of
 * its line, from 0. The length of a line is not limited, because the whole source is one paste in memory.
 * @throws SourceRefusedError for too many lines
 */
export function ndjsonInput(
  source: Buffer,
  pasteOf: (object: Readonly<Record<string, unknown>>) => EntryPaste,
): Input {
  let total = 0;
  for (const _ of linesOf(source)) {
    total += 1;
    if (total > MAX_ENTRIES) throw new SourceRefusedError(`it has more than ${MAX_ENTRIES} entries`);
  }
  return {
    total,
    *entries(): Generator<Entry> {
      for (const { line, position } of linesOf(source))
        yield { position, name: null, read: () => pasteOf(objectOf(line)) };
    },
  };
}

function* linesOf(source: Buffer): Generator<{ line: Buffer; position: number }> {
  let position = 0;
  for (let start = 0; start < source.length; position += 1) {
    if (position === MAX_LINES)
      throw new SourceRefusedError(`it has more than ${MAX_LINES} lines, including blank ones`);
    const newline = source.indexOf(NEWLINE, start);
    const end = newline === -1 ? source.length : newline;
    const line = source.subarray(start, end);
    if (!isBlank(line)) yield { line, position };
    start = end + 1;
  }
}

function isBlank(line: Buffer): boolean {
  return line.length < 1000 && BLANK.test(line.toString('latin1'));
}

function objectOf(line: Buffer): Readonly<Record<string, unknown>> {
  if (valuesIn(line) > MAX_VALUES)
    throw new InvalidEntryError('must be one JSON object with the fields of a paste');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    throw new InvalidEntryError('must be JSON in UTF-8, one object on each line');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidEntryError('must be a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

/** An upper bound of the number of values, from the bytes alone. Stops counting above MAX_VALUES. */
function valuesIn(json: Buffer): number {
  let values = 1;
  for (let i = 0; i < json.length && values <= MAX_VALUES; i += 1) {
    const byte = json[i];
    if (byte === 0x22) i = endOfString(json, i);
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1; // , [ {
  }
  return values;
}

/** The index of the quote that closes the string starting at `start`. */
function endOfString(json: Buffer, start: number): number {
  for (let i = start + 1; i < json.length; i += 1) {
    if (json[i] === 0x22) return i;
    if (json[i] === 0x5c) i += 1; // skip a backslash and the character that it escapes
  }
  return json.length;
}
