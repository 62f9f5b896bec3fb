import { expect, test } from '@jest/globals';
import { decodeMessage, encodeMessage, messageOfFiles } from '../src/message.ts';

const urlOf = (text: string) => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`;

const attachmentsOf = (fields: object) =>
  decodeMessage(JSON.stringify(fields)).attachments.map(({ name, bytes }) => [
    name,
    Buffer.from(bytes).toString(),
  ]);

test('each attachment of a message keeps its own name, also beside attachments and names that are empty', () => {
  expect(
    attachmentsOf({
      attachment: [urlOf('first'), '', urlOf('third'), urlOf('fourth')],
      attachment_name: ['', 'second.txt', 'third.txt'],
    }),
  ).toEqual([
    ['attachment', 'first'],
    ['third.txt', 'third'],
    ['attachment', 'fourth'],
  ]);
  expect(attachmentsOf({ attachment: urlOf('one'), attachment_name: 'one.txt' })).toEqual([
    ['one.txt', 'one'],
  ]);
  expect(attachmentsOf({ paste: 'a text' })).toEqual([]);
});

const encoder = new TextEncoder();
const a = { name: 'src/a.py', bytes: encoder.encode('print(1)\n'), syntax: 'python' };
const b = { name: 'b.bin', bytes: new Uint8Array([0, 255]), syntax: null };
const empty = { name: 'empty', bytes: new Uint8Array(), syntax: null };

test('several files become attachments in their order, in two lists that PrivateBin reads', () => {
  const json = encodeMessage(messageOfFiles([a, b, empty], 'three'));
  expect(JSON.parse(json)).toEqual({
    paste: '',
    attachment: [
      'data:application/octet-stream;base64,cHJpbnQoMSkK',
      'data:application/octet-stream;base64,AP8=',
      'data:application/octet-stream;base64,',
    ],
    attachment_name: ['src/a.py', 'b.bin', 'empty'],
    attachment_syntax: ['python', null, null],
    title: 'three',
  });
  expect(decodeMessage(json)).toEqual({
    text: '',
    attachments: [a, b, empty],
    title: 'three',
    syntax: null,
  });
});

test('one file is no list: a text is the text, and any other file the attachment', () => {
  expect(messageOfFiles([a], null)).toEqual({
    text: 'print(1)\n',
    attachments: [],
    title: null,
    syntax: 'python',
  });
  expect(JSON.parse(encodeMessage(messageOfFiles([b], null)))).toEqual({
    paste: '',
    attachment: 'data:application/octet-stream;base64,AP8=',
    attachment_name: 'b.bin',
  });
});

test('an empty file of PrivateBin is empty, as each browser writes it', () => {
  for (const url of ['data:', 'data:;base64,', 'data:application/octet-stream;base64,'])
    expect(attachmentsOf({ attachment: [url, urlOf('x')], attachment_name: ['empty', 'x'] })).toEqual([
      ['empty', ''],
      ['x', 'x'],
    ]);
});

test('a message of a million empty attachments is not opened', () => {
  const message = (count: number) =>
    JSON.stringify({ attachment: Array.from({ length: count }, () => 'data:,') });
  expect(decodeMessage(message(1000)).attachments).toHaveLength(1000);
  expect(() => decodeMessage(message(1001))).toThrow('more than 1000 attachments');
});
