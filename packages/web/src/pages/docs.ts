import { html } from '../html/html.ts';
import { page, type Site } from '../html/layout.ts';

/** The API's documentation, by Swagger UI, whose files are below `/docs/`. Its texts are English. */
export function docsPage(site: Site): string {
  const { base, words } = site;
  return page(site, {
    title: words.documentation,
    place: '/docs',
    isOfLibrary: true,
    head: html`<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
<link rel="stylesheet" href="${base}/docs/page.css">
<script src="${base}/docs/swagger-ui-bundle.js" defer></script>
<script src="${base}/docs/start.js" defer></script>
`,
    main: html`<div id="docs" lang="en" dir="ltr"><noscript><p>This page needs JavaScript. The document that it shows is at <a href="${base}/openapi.json">/openapi.json</a>.</p></noscript></div>`,
  });
}
