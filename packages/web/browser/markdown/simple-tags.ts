/** Elements that format text and can do nothing else. */
export const SIMPLE_TAGS: readonly string[] =
  'b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var'.split(
    ' ',
  );

/** The attributes of links and images, which are shown as the same in Markdown would be. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'id', 'name'],
  img: ['src', 'alt'],
};

/** Of a picture only the image is shown, which it has for browsers that don't know pictures. */
const LEFT_OUT = new Set(['picture', 'source']);

/**
 * HTML in Markdown with the simple elements, without their attributes, links and images, and with everything
 * else as text. The page's policy forbids styles and handlers already when markup is parsed, so that cleaning
 * them afterwards would report them.
 */
export function withSimpleTags(markup: string): string {
  return withoutComments(markup).replaceAll(
    /<(\/?)([a-z][a-z0-9]*)((?:[\s/][^<>]*)?)>|</gi,
    (found: string, slash: string | undefined, named: string | undefined, attributes: string | undefined) => {
      const name = named?.toLowerCase() ?? '';
      if (LEFT_OUT.has(name)) return '';
      const kept = ATTRIBUTES[name];
      if (kept !== undefined && slash === '') return `<${name}${attributesOf(attributes ?? '', kept)}>`;
      if (kept === undefined && !SIMPLE_TAGS.includes(name)) return `&lt;${found.slice(1)}`;
      const [, level] = /^h([1-6])$/.exec(name) ?? [];
      return `<${slash ?? ''}${level === undefined ? named : `h${levelBelow(Number(level))}`}>`;
    },
  );
}

/** `name` is an old way to write `id`. */
function attributesOf(text: string, kept: readonly string[]): string {
  const found = new Map<string, string>();
  for (const [, name = '', double, single, bare] of text.matchAll(
    /(?<![\w:-])([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/gi,
  )) {
    const key = name.toLowerCase();
    const id = key === 'name' ? 'id' : key;
    if (kept.includes(key) && !found.has(id)) found.set(id, double ?? single ?? bare ?? '');
  }
  return [...found].map(([name, value]) => ` ${name}="${value.replaceAll('"', '&quot;')}"`).join('');
}

/** Headings of a text are below that of the page, its h1. */
export const levelBelow = (level: number): number => Math.min(level + 1, 6);

/** One without an end hides the rest. */
function withoutComments(markup: string): string {
  const [text = '', ...comments] = markup.split('<!--');
  return text + comments.map((each) => each.split('-->').slice(1).join('-->')).join('');
}
