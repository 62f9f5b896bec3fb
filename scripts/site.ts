// `npm run site`: builds the documents as a web site in site/dist, and fails for a link that leads nowhere.
// `npm run site -- /pasteflow/` builds it for that folder of a host.
import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiDocument } from './api-document.ts';
import { apiReference } from './site/api-reference.ts';
import { deadLinks } from './site/dead-links.ts';
import { stage } from './site/stage.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = join(root, 'site');
const base = `/${process.argv[2] ?? ''}/`.replaceAll(/\/+/g, '/');
// GitHub's workflows say where they run.
const {
  GITHUB_SERVER_URL: server = 'https://git.example.org',
  GITHUB_REPOSITORY: repository = 'pasteflow',
  GITHUB_REF_NAME: ref = 'main',
} = process.env;
const url = `${server}/${repository}`;

stage(root, join(site, 'pages'), { url, ref });
cpSync(join(root, 'packages/web/styles/icon.svg'), join(site, 'pages/public/icon.svg'));
writeFileSync(join(site, 'pages/api-reference.md'), apiReference(apiDocument()));
const { status } = spawnSync(join(site, 'node_modules/.bin/vitepress'), ['build', site], {
  stdio: 'inherit',
  env: { ...process.env, SITE_BASE: base, SITE_REPOSITORY: url },
});
if (status !== 0) process.exit(status ?? 1);
const dead = deadLinks(join(site, 'dist'), base);
for (const each of dead) console.error(`✕ ${each} leads nowhere`);
process.exit(dead.length === 0 ? 0 : 1);
