import { expect, test } from '@jest/globals';
import { decodeMessage } from '../src/message.ts';

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
