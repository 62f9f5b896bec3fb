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

/**
 * @param folder the folder of the page's files, relative to the page, so that it works behind any prefix of
 * PUBLIC_URL
 */
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
 * Shows the colours that the reader's system prefers. `validatorUrl: null`: otherwise Swagger UI sends the document to a validator of its
 * makers.
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
