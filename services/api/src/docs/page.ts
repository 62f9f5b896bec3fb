import { assets } from '../http/pages/page.ts';

/**
 * Shows the colours that the reader has chosen, or that the system prefers. `validatorUrl: null`: otherwise
 * Swagger UI sends the document to a validator of its makers.
 */
export const startScript = `const root = document.documentElement;
const dark = matchMedia('(prefers-color-scheme: dark)');
const showColours = () => root.classList.toggle('dark-mode', (root.dataset.theme ?? (dark.matches ? 'dark' : '')) === 'dark');
dark.addEventListener('change', showColours);
new MutationObserver(showColours).observe(root, { attributeFilter: ['data-theme'] });
showColours();
const docs = document.getElementById('docs');
const set = (selector, name, valueOf) => {
  for (const each of docs.querySelectorAll(selector + ':not([' + name + '])')) each.setAttribute(name, valueOf(each));
};
// What Swagger UI 5.35 lacks, and breaks, of the rules for screen readers and keys.
new MutationObserver(() => {
  set('.information-container, .scheme-container', 'role', () => 'region');
  set('.information-container', 'aria-label', () => 'About');
  set('.scheme-container', 'aria-label', () => 'Servers');
  set('[role=region]', 'aria-label', ({ id }) => id.replaceAll('_', ' '));
  set('pre', 'tabindex', () => 0);
  for (const level of [3, 4, 5]) set('h' + level, 'aria-level', () => level - 1);
  set('select', 'aria-label', (select) =>
    select.closest('tr')?.querySelector('.parameter__name')?.textContent
      || (select.id === 'servers' ? 'Server' : select.matches('.examples-select-element') ? 'Example' : 'Media type'));
  for (const link of docs.querySelectorAll('button a[href]')) link.removeAttribute('href'); // the button does the same
}).observe(docs, { childList: true, subtree: true });
SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  domNode: docs,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
});
`;

/**
 * Colours of the page at /docs: those of Swagger UI have contrasts from 1.5 to 4, and WCAG 2.2 AA asks for
 * 4.5. Swagger UI has dark colours of its own, for a root of the class `dark-mode`. It sets the colours of
 * JSON by script, so that only `!important` changes them (seen with 5.35).
 */
export const styles = `@layer site {
${assets.textOf('all.css')}
}
/* Swagger UI has rules for its own elements, and counts on those of the browser. */
@layer reset {
  #docs :not(svg, svg *) {
    all: revert;
  }
}
#main {
  flex: 1;
}
#docs noscript {
  display: block;
  padding: 4px 20px;
}
html.dark-mode,
html.dark-mode .swagger-ui {
  background: none;
}
.swagger-ui .info .title small {
  background: #5a616b;
}
.swagger-ui .info .title small.version-stamp {
  background: #3f6a00;
}
.swagger-ui .info .title small pre {
  color: #fff;
}
.swagger-ui :is(.info a, .info .url, .url) {
  color: #0b57b0;
}
.swagger-ui .btn.authorize,
.swagger-ui .btn.authorize span {
  color: #1d6b41;
  border-color: #1d6b41;
}
.swagger-ui .btn.authorize svg {
  fill: #1d6b41;
}
.swagger-ui .opblock.opblock .opblock-summary-method {
  background: #5a616b;
}
.swagger-ui .opblock.opblock-get .opblock-summary-method {
  background: #0b57b0;
}
.swagger-ui .opblock.opblock-post .opblock-summary-method {
  background: #1d6b41;
}
.swagger-ui .opblock.opblock-delete .opblock-summary-method {
  background: #b3261e;
}
.swagger-ui :is(.parameter__in, .parameter__type, .prop-format) {
  color: #555b63;
}
html:not(.dark-mode) .swagger-ui .response-control-media-type__accept-message {
  color: #1d6b41;
}
html:not(.dark-mode) .swagger-ui :is(.markdown, .renderedMarkdown) code {
  color: #6a0bc4;
}
.swagger-ui .microlight span[style*='211, 99, 99'] {
  color: #ff9d94 !important;
}
html.dark-mode .swagger-ui :is(.info a, .info .url, .url) {
  color: #7db3ff;
}
html.dark-mode .swagger-ui .btn.authorize,
html.dark-mode .swagger-ui .btn.authorize span {
  color: #5ccb82;
  border-color: #5ccb82;
}
html.dark-mode .swagger-ui .btn.authorize svg {
  fill: #5ccb82;
}
html.dark-mode .swagger-ui :is(.parameter__in, .parameter__type, .prop-format) {
  color: #b5bcc6;
}
html.dark-mode .swagger-ui .header-col {
  color: #e4e6e6;
}
/* The targets of fingers are at least 24 px wide and high (WCAG 2.2, 2.5.8). */
.swagger-ui .opblock-summary-path .nostyle {
  display: inline-block;
  min-width: 24px;
  line-height: 24px;
}
/* On a narrow screen the tables scroll, and not the page. */
.swagger-ui .opblock-body {
  overflow-x: auto;
}
`;
