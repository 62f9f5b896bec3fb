import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Every reference of a built page that leads nowhere, or that loads something from another host. */
export function deadLinks(site: string, base: string): readonly string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: site }).map((path) => [path, readFileSync(join(site, path), 'utf8')]),
  );
  return [...pages].flatMap(([page, html]) =>
    [...html.matchAll(/<(\w+)\b[^>]*?\s(?:href|src)="([^"]*)"/g)]
      .filter(([, element = '', reference = '']) => !isGood(element, reference, page))
      .map(([, , reference = '']) => `${page}: ${reference}`),
  );

  function isGood(element: string, reference: string, page: string): boolean {
    if (/^(?:https?:|mailto:|\/\/)/.test(reference)) return element === 'a';
    const [path = '', anchor = ''] = reference.split('#');
    const target = path === '' ? page : targetOf(path, page);
    if (target === undefined || !existsSync(join(site, target))) return false;
    return anchor === '' || pages.get(target)?.includes(`id="${decodeURIComponent(anchor)}"`) === true;
  }

  function targetOf(path: string, page: string): string | undefined {
    const absolute = posix.join('/', posix.resolve(`${base}${posix.dirname(page)}`, path));
    if (!`${absolute}/`.startsWith(base)) return undefined;
    const target = absolute.slice(base.length);
    return (
      [target, `${target}.html`, posix.join(target, 'index.html')].find((each) => pages.has(each)) ?? target
    );
  }
}
