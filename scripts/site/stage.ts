import { cpSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Where the files outside of docs/ are, such as https://github.com/owner/name, and the branch or tag. */
export interface Repository {
  readonly url: string;
  readonly ref: string;
}

const LINK = /(?<=\]\()(?!https?:|#)([^)#\s]+)(#[^)\s]*)?(?=\))/g;

/**
 * Copies docs/ to `pages`, as the site has it: README.md is the index of its folder, and a link out of docs/
 * goes to the repository.
 */
export function stage(root: string, pages: string, repository: Repository): void {
  rmSync(pages, { recursive: true, force: true });
  cpSync(join(root, 'docs'), pages, { recursive: true });
  for (const path of globSync('**/*.md', { cwd: pages })) {
    const text = readFileSync(join(pages, path), 'utf8');
    rmSync(join(pages, path));
    writeFileSync(join(pages, asPage(path)), withLinks(text, posix.dirname(path), root, repository));
  }
}

function asPage(path: string): string {
  return path.replace(/(?<=^|\/)README\.md$/, 'index.md');
}

function withLinks(text: string, folder: string, root: string, { url, ref }: Repository): string {
  return text.replaceAll(LINK, (_link, path: string, anchor = '') => {
    const target = posix.join('docs', folder, path);
    if (target.startsWith('docs/')) return `${asPage(path)}${anchor}`;
    const kind = statSync(join(root, target)).isDirectory() ? 'tree' : 'blob';
    return `${url}/${kind}/${ref}/${target}${anchor}`;
  });
}
