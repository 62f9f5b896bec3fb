// `npm run audit`: fails when an advisory of severity high or critical names a package of a lockfile, unless
// scripts/audit-exceptions.json excepts it, with a reason and for a time. Without an answer of the registry
// nothing is known: that fails with --required, as in a release, and is otherwise reported.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Advisory {
  readonly github_advisory_id: string;
  readonly severity: string;
  readonly module_name: string;
  readonly title: string;
  readonly patched_versions: string;
}

interface Exception {
  readonly advisory: string;
  readonly reason: string;
  /** The last day, as 2026-12-31. */
  readonly until: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const exceptions = readExceptions(process.env['AUDIT_EXCEPTIONS'] ?? `${root}scripts/audit-exceptions.json`);
const today = new Date().toISOString().slice(0, 10);
const problems = exceptions.flatMap(({ advisory, reason, until }) => {
  if (!reason?.trim()) return `the exception for ${advisory} has no reason`;
  if (!/^\d{4}-\d\d-\d\d$/.test(until))
    return `the exception for ${advisory} has no day "until", as 2026-12-31`;
  return until < today ? `the exception for ${advisory} expired on ${until}: upgrade, or decide anew` : [];
});

const unknown: string[] = [];
for (const folder of ['.', 'infra', 'site']) {
  const advisories = ask(folder);
  if (advisories === undefined) unknown.push(`${folder}/pnpm-lock.yaml`);
  for (const each of advisories ?? [])
    if (
      /^(high|critical)$/.test(each.severity) &&
      !exceptions.some(({ advisory }) => advisory === each.github_advisory_id)
    )
      problems.push(
        `${folder}/pnpm-lock.yaml: ${each.module_name}: ${each.severity}: ${each.title} (${each.github_advisory_id}); ` +
          `upgrade to ${each.patched_versions}`,
      );
}
for (const each of problems) console.error(`✕ ${each}`);
if (unknown.length > 0)
  console.error(
    `○ audit: the registry answered nothing about ${unknown.join(' and ')}, which are NOT checked`,
  );
else if (problems.length === 0) console.log('✓ audit: no advisory of severity high or critical');
process.exit(problems.length > 0 || (unknown.length > 0 && process.argv.includes('--required')) ? 1 : 0);

/** undefined: the registry didn't answer. */
function ask(folder: string): readonly Advisory[] | undefined {
  const { stdout } = spawnSync('pnpm', ['--dir', root + folder, 'audit', '--json'], { encoding: 'utf8' });
  try {
    const { advisories } = JSON.parse(stdout) as { advisories?: Record<string, Advisory> };
    return advisories && Object.values(advisories);
  } catch {
    return undefined;
  }
}

function readExceptions(file: string): readonly Exception[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Exception[];
}
