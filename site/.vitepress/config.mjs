// scripts/site.ts puts the pages into pages/, and says in the environment where the site will be.
import { readdirSync, readFileSync } from 'node:fs';
import { stateDiagrams } from '../state-diagrams.mjs';

const pages = new URL('../pages/', import.meta.url);
const read = (path) => readFileSync(new URL(path, pages), 'utf8');

export default {
  title: 'Pasteflow',
  description: 'A paste service that operators can trust.',
  lang: 'en',
  base: process.env.SITE_BASE,
  srcDir: 'pages',
  outDir: 'dist',
  metaChunk: true,
  head: [
    ['link', { rel: 'icon', href: `${process.env.SITE_BASE}icon.svg` }],
    // The name of a language beside its code is too pale to read.
    ['style', {}, 'html:root { --vp-code-lang-color: var(--vp-c-text-2) }'],
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Shiki has no colours for it.
    languages: [{ name: 'promql', scopeName: 'source.promql', patterns: [], repository: {} }],
    // The anchors that GitHub makes, because the documents are read there, too.
    anchor: { slugify: anchorOf },
    config: stateDiagrams,
  },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [{ text: 'Repository', link: process.env.SITE_REPOSITORY }],
    sidebar: groups(),
  },
};

function anchorOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** The index is the table of contents, in its order. The reference follows the guide, because the site alone has it. */
function groups() {
  return read('index.md')
    .split(/^## /m)
    .slice(1)
    .map((group) => ({
      text: group.slice(0, group.indexOf('\n')),
      items: [...group.matchAll(/^- \[(.+?)\]\((.+?)\.md\)/gm)].flatMap(([, text, path]) => {
        if (path === 'http-api')
          return [
            { text, link: '/http-api' },
            { text: 'API reference', link: '/api-reference' },
          ];
        if (path === 'adr/index') return { text, link: '/adr/', collapsed: true, items: decisions() };
        return { text, link: `/${path}` };
      }),
    }));
}

function decisions() {
  return readdirSync(new URL('adr/', pages))
    .filter((name) => /^\d/.test(name))
    .map((name) => ({ text: /^# (.*)$/m.exec(read(`adr/${name}`))[1], link: `/adr/${name.slice(0, -3)}` }));
}
