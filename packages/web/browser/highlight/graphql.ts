import { simpleMode } from '@codemirror/legacy-modes/mode/simple-mode';

const KEYWORDS =
  /(?:query|mutation|subscription|fragment|on|schema|extend|scalar|type|interface|union|enum|input|directive|implements|repeatable)\b(?!\s*[:(])/;

/** GraphQL's requests and schemas. Its only grammar that is kept comes with a language server. */
export const graphql = simpleMode({
  start: [
    { regex: /#.*/, token: 'comment' },
    { regex: /"""/, token: 'string', next: 'block' },
    { regex: /"(?:[^"\\]|\\.)*"?/, token: 'string' },
    { regex: KEYWORDS, token: 'keyword' },
    { regex: /(?:true|false|null)\b/, token: 'atom' },
    { regex: /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/, token: 'number' },
    { regex: /\$\w+/, token: 'def' },
    { regex: /@\w+/, token: 'meta' },
    { regex: /[A-Z]\w*/, token: 'typeName' },
    { regex: /\w+(?=\s*[:(])/, token: 'propertyName' },
    { regex: /\w+/, token: null },
    { regex: /\.\.\.|[!=|&]/, token: 'operator' },
  ],
  block: [
    { regex: /.*?"""/, token: 'string', next: 'start' },
    { regex: /.*/, token: 'string' },
  ],
});
