/** Elements that format text and can do nothing else. */
export const SIMPLE_TAGS: readonly string[] =
  'b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var'.split(
    ' ',
  );

/**
 * HTML in Markdown with the simple elements, without their attributes, and with everything else as text. The
 * page's policy forbids styles and handlers already when markup is parsed, so that cleaning them afterwards
 * would report them.
 */
export function withSimpleTags(markup: string): string {
  return withoutComment(markup).replaceAll(
    /<(\/?)([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>|</gi,
    (found: string, slash: string | undefined, name: string | undefined) =>
      name !== undefined && SIMPLE_TAGS.includes(name.toLowerCase())
        ? `<${slash ?? ''}${name}>`
        : `&lt;${found.slice(1)}`,
  );
}

function withoutComment(markup: string): string {
  if (!markup.trimStart().startsWith('<!--')) return markup;
  const end = markup.indexOf('-->');
  return end === -1 ? '' : markup.slice(end + 3);
}
