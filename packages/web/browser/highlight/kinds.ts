/**
 * What the page paints, in the order of the numbers that the worker sends. page.css has a colour for each.
 */
export const kinds = [
  'comment',
  'keyword',
  'string',
  'number',
  'definition',
  'call',
  'type',
  'property',
  'operator',
  'meta',
  'heading',
  'inserted',
  'deleted',
] as const;

export type Kind = (typeof kinds)[number];

const KIND_OF_TAG: Readonly<Record<string, Kind>> = {
  comment: 'comment',
  lineComment: 'comment',
  blockComment: 'comment',
  quote: 'comment',
  keyword: 'keyword',
  modifier: 'keyword',
  operatorKeyword: 'keyword',
  controlKeyword: 'keyword',
  self: 'keyword',
  string: 'string',
  'string-2': 'string',
  regexp: 'string',
  character: 'string',
  link: 'string',
  url: 'string',
  monospace: 'string',
  number: 'number',
  atom: 'number',
  bool: 'number',
  null: 'number',
  unit: 'number',
  color: 'number',
  def: 'definition',
  typeName: 'type',
  tagName: 'type',
  className: 'type',
  namespace: 'type',
  builtin: 'type',
  propertyName: 'property',
  attributeName: 'property',
  labelName: 'property',
  operator: 'operator',
  meta: 'meta',
  processingInstruction: 'meta',
  annotation: 'meta',
  documentMeta: 'meta',
  heading: 'heading',
  header: 'heading',
  inserted: 'inserted',
  positive: 'inserted',
  deleted: 'deleted',
  negative: 'deleted',
};

const numbers = new Map<string, number>();

/** The number of the kind of a mode's style, for instance `variableName.definition`; -1: plain. */
export function kindOf(style: string): number {
  let number = numbers.get(style);
  if (number === undefined) {
    number =
      style
        .split(' ')
        .map(numberOfTag)
        .find((each) => each >= 0) ?? -1;
    numbers.set(style, number);
  }
  return number;
}

function numberOfTag(tag: string): number {
  const [name = '', ...modifiers] = tag.split('.');
  if (name === 'variableName' && modifiers.includes('definition')) return kinds.indexOf('definition');
  if (name === 'variableName' && modifiers.includes('function')) return kinds.indexOf('call');
  if (name === 'variableName' && modifiers.includes('standard')) return kinds.indexOf('type');
  const kind = KIND_OF_TAG[name.replace(/^(heading|header)[-\d]*$/, '$1')];
  return kind === undefined ? -1 : kinds.indexOf(kind);
}
