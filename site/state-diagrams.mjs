// GitHub draws the diagrams of docs/state-machines.md with Mermaid, which is 20 MB for a browser. The site has
// them as pictures, drawn when it is built.
import { instance } from '@viz-js/viz';

const viz = await instance();

/** A plugin of markdown-it: draws each ```mermaid block, of which it knows `[*]` and arrows alone. */
export function stateDiagrams(markdown) {
  const fence = markdown.renderer.rules.fence;
  markdown.renderer.rules.fence = (tokens, index, ...more) =>
    tokens[index].info.trim() === 'mermaid'
      ? `<div v-pre class="state-diagram">${draw(tokens[index].content)}</div>\n`
      : fence(tokens, index, ...more);
}

function draw(text) {
  const [kind, ...lines] = text.trim().split('\n');
  const arrows = lines.map((line) => /^\s*(\S+) --> (\S+)$/.exec(line));
  if (kind !== 'stateDiagram-v2' || arrows.includes(null))
    throw new Error(`site/state-diagrams.mjs can't draw this diagram:\n${text}`);
  const edges = arrows.map(
    ([, from, to]) => `"${from === '[*]' ? '^' : from}" -> "${to === '[*]' ? '$' : to}"`,
  );
  const graph = `digraph {
    bgcolor = transparent
    node [shape = box, style = rounded, fontname = "sans-serif", fontsize = 12]
    edge [arrowsize = 0.7]
    "^" [shape = circle, style = filled, label = "", width = 0.15, fillcolor = black]
    "$" [shape = doublecircle, style = filled, label = "", width = 0.12, fillcolor = black]
    ${edges.join('\n')}
  }`;
  // The colour of text is not the same in the dark.
  return viz
    .renderString(graph, { format: 'svg' })
    .replace(/^[\s\S]*?<svg/, '<svg fill="currentColor"')
    .replaceAll('"black"', '"currentColor"')
    .replaceAll(/<title>.*<\/title>\n/g, '')
    .replaceAll('\n', '');
}
