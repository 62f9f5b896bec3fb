// The commands of docs/one-machine.md, as they stand there, under a real systemd: npm run proof -- one-machine.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../src/entries.ts';
import { installPrograms } from '../src/index.ts';
import { MachineWithSystemd, missingForMachine } from './support/machine-with-systemd.ts';

const page = readFileSync(join(ROOT, 'docs/one-machine.md'), 'utf8');

/** The blocks of commands of a section. */
function blocksOf(section: string): readonly string[] {
  const text = page.split(/^## /m).find((each) => each.startsWith(section)) ?? '';
  return [...text.matchAll(/^```\n([^]*?)^```$/gm)].map(([, block]) => block!);
}

const [install = '', commands = ''] = blocksOf('Install, without Docker');
const [, zfs = ''] = blocksOf('Install, with Docker');
const [open = ''] = blocksOf('Before you open it');
const [elsewhere = '', restore = ''] = blocksOf('Backup and restore');
const [upgrade = '', rollback = ''] = blocksOf('Upgrade');
const [uninstall = ''] = blocksOf('Uninstall');

/**
 * For what the machine has not: packages to install, a server of the sources, and a name with a certificate that others have signed. Without
 * Caddy, its part is curl's.
 */
const STAND_INS = `
cd /usr/local/bin
caddy=$(command -v caddy || true)
printf '#!/bin/sh\\nexit 0\\n' | tee apt-get >git
cat >curl <<END
#!/bin/bash
if [ -n "$caddy" ]; then exec /usr/bin/curl --silent --insecure --resolve paste.example.org:443:127.0.0.1 "\\$@"; fi
case "\\$*" in
  *X-Amz-Signature=*) port=7070 ;;
  *https://paste.example.org*) port=3000 ;;
  *) exec /usr/bin/curl --silent "\\$@" ;;
esac
exec /usr/bin/curl --silent --header 'Host: paste.example.org' "\\\${@/#https:\\/\\/paste.example.org/http:\\/\\/127.0.0.1:\\$port}"
END
cat >with-caddy <<END
#!/bin/sh
[ -n "$caddy" ] || exec sleep infinity
(printf '{\\nlocal_certs\\nskip_install_trust\\n}\\n'; cat /etc/caddy/Caddyfile) >/run/Caddyfile
exec $caddy run --config /run/Caddyfile --adapter caddyfile
END
chmod +x apt-get git curl with-caddy
mkdir -p /etc/caddy /var/lib/caddy
printf '[Service]\\nEnvironment=HOME=/var/lib/caddy\\nExecStart=/usr/local/bin/with-caddy\\n' >/etc/systemd/system/caddy.service
systemctl daemon-reload
`;

const missing = missingForMachine();
const described = missing.length > 0 ? describe.skip : describe;
const without = missing.length > 0 ? ` (left out: this machine lacks ${missing.join(', ')})` : '';

described(`the commands of docs/one-machine.md, as they stand there,${without}`, () => {
  let machine: MachineWithSystemd;
  let url = '';
  beforeAll(async () => {
    installPrograms();
    machine = await MachineWithSystemd.boot();
    machine.run(STAND_INS);
  }, 900_000);
  afterAll(async () => {
    await machine?.stop();
  });

  const read = () => machine.run(`curl --fail --retry 20 --retry-all-errors ${url}`);

  const [before = '', after = ''] = install.split(/(?<=^infra\/one-machine\/install.*$)/m);
  const statusOf = (request: string) =>
    machine.run(`curl --output /dev/null --write-out '%{http_code}' ${request}`).trim();
  const postAnonymously = () => statusOf('--data-binary @/etc/hostname https://paste.example.org');
  const setting = (name: string) =>
    Number(machine.run(`sed -n 's/^${name}=//p' /etc/pasteflow/pasteflow.env`));

  it('say what is missing before the first step', () => {
    expect(() => machine.run(before)).toThrow('a running Postgres 15 or later');
    machine.run('test ! -e /etc/pasteflow');
    machine.run('systemctl start postgresql');
  }, 300_000);

  it('install and start Pasteflow, create a paste, and take none from others', () => {
    expect(machine.run(before, { withNetwork: true })).toMatch(
      /with MAX_STORED_BYTES=\d+ MAX_PASTES=\d+\.\n[^]*systemctl start pasteflow-migrate\n[^]*Before you open it/,
    );
    const free = 4 * setting('MAX_STORED_BYTES');
    const now = Number(machine.run('df --output=avail --block-size=1 /var/lib | tail -n 1'));
    expect(free / now).toBeGreaterThan(0.5);
    expect(free / now).toBeLessThan(2); // others use the disk, too
    expect(setting('MAX_PASTES')).toBe(Math.min(1_000_000, Math.floor((free + 3) / 65_536)));
    url = machine.run(after).trim();
    expect(url).toMatch(/^https:\/\/paste\.example\.org\/\w+$/);
    expect(read()).toBe('hello\n');
    expect(postAnonymously()).toBe('401');
  }, 900_000);

  it('invite a member, make a token, show the state, and run a sweep, each with the settings of its service', () => {
    const output = machine.run(commands);
    const [link = ''] = /^https:\/\/paste\.example\.org\/invitation\/.*$/m.exec(output) ?? [];
    const accept = `--data form_key=$(cat /proc/sys/kernel/random/uuid) --header 'Origin: https://paste.example.org' --header 'Sec-Fetch-Site: same-origin' ${link}`;
    expect([statusOf(link), statusOf(accept), statusOf(accept)]).toEqual(['200', '201', '410']);
    expect(output).toMatch(/^Nothing needs a person\.$[^]*^\{"listed":1,"orphans":0/m);
    // The exit code of a command is that of what it runs.
    expect(() => machine.run('pasteflow-ops no-such-command')).toThrow('ended with 64');
  }, 300_000);

  it('keep secrets from other users, and content out of the messages that they can read', () => {
    for (const name of ['objects', 'pasteflow', 'api'])
      expect(() => machine.run(`runuser -u nobody -- cat /etc/pasteflow/${name}.env`)).toThrow(
        'Permission denied',
      );
    machine.run('systemctl stop pasteflow-run@worker');
    machine.run(
      'echo private | curl --header "Authorization: Bearer $(pasteflow-token me)" --data-binary @- https://paste.example.org',
    );
    const received =
      machine.run(`runuser -u nobody -- curl --data 'Action=ReceiveMessage&WaitTimeSeconds=20' \\
      http://127.0.0.1:9324/000000000000/pasteflow-uploads`);
    expect(received).toContain('shortCode');
    expect(received).not.toContain('contentBytes');
    machine.run('systemctl start pasteflow-run@worker');
  }, 300_000);

  it('give each service the rights that it needs with S3, and no more', () => {
    const putAs = (service: string) =>
      machine.run(`. /etc/pasteflow/s3-${service}.env
        curl --output /dev/null --write-out '%{http_code}' --aws-sigv4 aws:amz:us-east-1:s3 \\
          --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" --header 'x-amz-content-sha256: UNSIGNED-PAYLOAD' \\
          --upload-file LICENSE http://127.0.0.1:7070/pasteflow/jobs/x`);
    expect(['api', 'worker', 'janitor'].map(putAs)).toEqual(['403', '200', '403']);
    // Written by the worker, signed by the api, deleted by the janitor.
    const output = machine.run(`token=$(pasteflow-token EXPORTER)
      created=$(echo mine | curl --header "Authorization: Bearer $token" --data-binary @- https://paste.example.org)
      curl --retry 20 --fail "$created"
      job=$(curl --header "Authorization: Bearer $token" --header 'Content-Type: application/json' \\
        --data '{"job_type": "export", "parameters": {"format": "zip"}}' https://paste.example.org/v1/jobs | grep -o '[0-9a-f-]\\{36\\}')
      curl --header "Authorization: Bearer $token" --header 'Prefer: wait=30' "https://paste.example.org/v1/jobs/$job"
      archive=$(curl --header "Authorization: Bearer $token" "https://paste.example.org/v1/jobs/$job/assets" | grep -o 'https://paste[^"]*X-Amz[^"]*' | head -n 1)
      curl --fail --dump-header /tmp/head --header 'Cookie: session=of-the-pages' --output /tmp/archive.zip "$archive"
      python3 -m zipfile --list /tmp/archive.zip
      cat /tmp/head
      pasteflow-ops takedown "\${created##*/}" --reason test
      pasteflow-janitor --once cleanup
      test ! -e "/var/lib/pasteflow/objects/pasteflow/pastes/\${created##*/}"`);
    expect(output).toContain('"status":"completed"');
    expect(output).toMatch(/^Content-Disposition: attachment; filename=/im);
  }, 300_000);

  it('pass a quoted setting on as it is', () => {
    const [, example = ''] = /\(`OIDC_CLIENT_SECRET=('.*?')`\)/.exec(page) ?? [];
    machine.run(`cat >>/etc/pasteflow/worker.env <<'END'\nQUOTED=${example}\nEND
      systemctl restart pasteflow.target`);
    const environ = machine.run(
      'tr "\\0" "\\n" </proc/$(systemctl show --property MainPID --value pasteflow-run@worker)/environ',
    );
    expect(environ.split('\n')).toContain(`QUOTED=${example.slice(1, -1)}`);
  }, 300_000);

  it('open it to the world', () => {
    machine.run(open);
    expect(read()).toBe('hello\n');
    expect(postAnonymously()).toBe('201');
    expect(machine.run('curl https://paste.example.org/.well-known/security.txt')).toContain(
      'mailto:abuse@example.org',
    );
  }, 300_000);

  it('change a unit so that an upgrade keeps the change, and go back to the version before', () => {
    machine.run(zfs);
    // A version that was open, since none had said otherwise.
    machine.run(`echo first >/opt/pasteflow/version
      sed -i '/^ANONYMOUS_PASTES=/d' /opt/pasteflow/services.env /etc/pasteflow/pasteflow.env`);
    machine.run(upgrade, { withNetwork: true });
    expect(machine.run('cat /etc/pasteflow/pasteflow.env')).toMatch(/^ANONYMOUS_PASTES=allow$/m);
    expect(machine.run('systemctl show --property ExecStartPre pasteflow-objects')).not.toContain('chattr');
    expect(read()).toBe('hello\n');
    expect(postAnonymously()).toBe('201');
    machine.run('test ! -e /opt/pasteflow/version');
    machine.run(rollback);
    expect(read()).toBe('hello\n');
    machine.run('cat /opt/pasteflow/version');
    // One that was broken off is brought to its end.
    machine.run('mv /opt/pasteflow /opt/pasteflow.swap');
    machine.run('bash /opt/pasteflow.old/rollback');
    expect(read()).toBe('hello\n');
    machine.run('cat /opt/pasteflow.old/version');
  }, 900_000);

  it('back up each night, with files that nobody else reads, and restore', () => {
    expect(machine.run('systemctl list-timers')).toContain('pasteflow-backup.service');
    machine.run('systemctl start pasteflow-backup');
    const files = machine.run(
      'stat --format %A /var/backups/pasteflow{,/*Z{,/pasteflow.dump,/objects.tar.gz,/pasteflow}}',
    );
    expect(files.trim().split('\n')).toHaveLength(5);
    for (const mode of files.trim().split('\n')) expect(mode).toMatch(/^.rw.------$/);
    // Caddy of the new machine has read neither its file nor its drop-in.
    machine.run(`systemctl stop pasteflow.target caddy
      rm -r /var/lib/pasteflow/objects /etc/pasteflow /etc/pasteflow-house
      mkdir --mode 700 /etc/pasteflow
      mkdir /etc/pasteflow-house`);
    machine.run(restore);
    machine.run('systemctl is-active caddy');
    expect(read()).toBe('hello\n');
    expect(machine.run('curl https://paste.example.org/.well-known/security.txt')).toContain('abuse@');
  }, 600_000);

  it('back up into another folder', () => {
    machine.run(elsewhere);
    machine.run('ls /var/backups/elsewhere/*Z/objects.tar.gz');
  }, 300_000);

  it('uninstall it without its data, and then the data', () => {
    machine.run(uninstall);
    const left = () =>
      machine
        .run(`ls -d /opt/pasteflow* /usr/local/sbin/pasteflow-* /etc/systemd/system/pasteflow* /etc/pasteflow* /var/lib/pasteflow 2>/dev/null || true
        getent passwd | grep -o '^pasteflow_[a-z]*' || true
        runuser -u postgres -- psql -XAtc "SELECT datname FROM pg_database WHERE datname = 'pasteflow' UNION ALL (SELECT rolname FROM pg_roles WHERE rolname ~ '^pasteflow' ORDER BY oid)" postgres`)
        .trim()
        .split('\n');
    const users = ['api', 'worker', 'janitor', 'objects', 'queues'].map((name) => `pasteflow_${name}`);
    expect(left()).toEqual([
      '/etc/pasteflow',
      '/etc/pasteflow-house',
      '/etc/systemd/system/pasteflow-backup.service.d',
      '/etc/systemd/system/pasteflow-objects.service.d',
      '/var/lib/pasteflow',
      ...users,
      'pasteflow',
      'pasteflow_owner',
      ...users.slice(0, 3),
    ]);
    expect(machine.run('systemctl list-units --all "pasteflow*" --no-legend')).toBe('');
    machine.run('infra/one-machine/uninstall --delete-data');
    expect(left()).toEqual(['']);
    machine.run('ls /var/backups/pasteflow/*Z/pasteflow.dump');
  }, 300_000);
});
