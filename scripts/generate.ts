// `npm run docs`: writes every file that is generated from the sources. `npm run docs:check` fails when one
// is out of date.
import './generate-client.ts';
import './generate-docs.ts';
import './generate-setting-names.ts';
