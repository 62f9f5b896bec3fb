import { contentHashOf } from '@pasteflow/service-kit';

/** The paste in the examples of the OpenAPI document. The tests create it and send the examples. */
export const example = {
  shortCode: 'q7Zk2Lm9Xa',
  /** Of a paste with the same content that is deleted when it is read. */
  burnCode: 'bUrn2Lm9Xa',
  /** Of a paste that is made from it. */
  childCode: 'cHild2Lm9X',
  /** Of a paste with the same content, which are two files. */
  filesCode: 'fiLes2Lm9X',
  files: [
    { name: 'hello.txt', offset: 0, size: 7, syntax: null },
    { name: 'src/world.txt', offset: 7, size: 7, syntax: null },
  ],
  /** Of the first one. */
  slug: 'greeting',
  content: 'Hello, world!\n',
  title: 'Greeting',
  syntax: 'text',
  expiresIn: 3600,
  contentHash: contentHashOf(Buffer.from('Hello, world!\n')),
  deleteToken: 'nIhCSYPzJ5u0mC2HcVY7bq8UuVbPFo3tT0dV1yqkzWQ',
} as const;
