/**
 * For the page of /docs alone, in place of the policy on every other answer: what it loads comes from here, and it talks to nobody else. Of
 * data: are the images in Swagger UI's stylesheet; its styles it sets by script, which is no inline style (seen with 5.35 in Chromium).
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

/** @param folder where the page's files are, seen from the page: relative, so that it holds behind any prefix of PUBLIC_URL */
export function pageHtml(folder: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Pasteflow's API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${folder}swagger-ui.css">
  </head>
  <body>
    <div id="docs"><noscript>This page needs JavaScript; the document that it shows is at /openapi.json.</noscript></div>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script src="${folder}start.js"></script>
  </body>
</html>
`;
}

/** `validatorUrl: null`: else Swagger UI has the document judged by a service of its makers. */
export const startScript = `SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  domNode: document.getElementById('docs'),
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
});
`;
