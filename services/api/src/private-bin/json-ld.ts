/**
 * The JSON-LD contexts that PrivateBin serves at `?jsonld=`, as far as clients read them: PBinCLI takes the version of the format from
 * `@context.v.@value` of `paste`, and version 1 from a server without it.
 */
const contexts: Readonly<Record<string, object>> = {
  paste: {
    '@context': {
      so: 'https://schema.org/',
      status: { '@type': 'so:Integer' },
      id: { '@type': 'so:name' },
      deletetoken: { '@type': 'so:Text' },
      url: { '@type': 'so:url' },
      v: { '@type': 'so:Integer', '@value': 2 },
      ct: { '@type': 'so:Text' },
      adata: { '@container': '@list' },
      meta: { '@type': '?jsonld=pastemeta' },
      comments: { '@container': '@list' },
      comment_count: { '@type': 'so:Integer' },
      comment_offset: { '@type': 'so:Integer' },
    },
  },
  pastemeta: {
    '@context': {
      so: 'https://schema.org/',
      expire: { '@type': 'so:Text' },
      time_to_live: { '@type': 'so:Integer' },
    },
  },
};

/** An empty object for a context that is not known, as PrivateBin answers. */
export function jsonLdOf(name: string): object {
  return (Object.hasOwn(contexts, name) ? contexts[name] : undefined) ?? {};
}
