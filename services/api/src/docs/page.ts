/**
 * The policy of the page at /docs, which replaces the policy of every other answer: the page loads and
 * connects to this origin only. `data:` is for the images in Swagger UI's stylesheet. Swagger UI sets styles
 * by script, which needs no inline styles (seen with 5.35 in Chromium).
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** @param folder of the page's files, relative to the page: PUBLIC_URL may have any prefix */
export function pageHtml(folder: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Pasteflow's API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${folder}swagger-ui.css">
    <link rel="stylesheet" href="${folder}page.css">
  </head>
  <body>
    <div id="docs"><noscript>This page needs JavaScript. The document that it shows is at /openapi.json.</noscript></div>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script src="${folder}start.js"></script>
  </body>
</html>
`;
}

/**
 * Shows the colours that the reader's system prefers. `validatorUrl: null`: otherwise Swagger UI sends the
 * document to a validator of its makers.
 */
export const startScript = `const dark = matchMedia('(prefers-color-scheme: dark)');
const showColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', showColours);
showColours();
SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  domNode: document.getElementById('docs'),
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
export const styles = `body {
  margin: 0;
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
