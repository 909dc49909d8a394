/**
 * Debian's Apache, nginx and php-fpm for tests, each with a configuration of its own below a scratch folder. Where one is
 * missing the suites are skipped and the reason is printed; with HOOKRAIL_REQUIRE_WEB_SERVERS=1 they fail.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { freePort } from '../../../scripts/free-ports.ts';
import { spawnGuarded } from '../../../scripts/guard/guard.ts';
import { eventually } from '../eventually.ts';
import { accepts } from './documented-receivers.ts';

const PROGRAMS = '/usr/sbin';
const APACHE_MODULES = '/usr/lib/apache2/modules';
const PHP_RECEIVER = fileURLToPath(new URL('../../../docs/receivers/receiver.php', import.meta.url));
/** The user that Debian's packages run web servers as; taken only by a parent that is root. */
const USER = 'www-data';

/** Which server receives, and what its administrator has set. */
export interface WebServer {
  readonly kind: 'Apache' | 'nginx';
  readonly settings?: string;
}

export interface RunningWebServer {
  readonly url: string;
  /** The servers' logs of errors, which have the lines of PHP, too. */
  log(): string;
  stop(): Promise<void>;
}

/** Declares a suite that starts web servers. */
export function describeWhereWebServersStart(title: string, suite: () => void): void {
  const isThere = [join(PROGRAMS, 'apache2'), join(PROGRAMS, 'nginx'), phpFpm()].every(existsSync);
  if (!isThere) {
    const how =
      'Apache, nginx or php-fpm is missing (Debian: apt-get install --no-install-recommends apache2-bin nginx-light php-fpm php-cli php-sqlite3)';
    if (process.env.HOOKRAIL_REQUIRE_WEB_SERVERS === '1')
      throw new Error(`HOOKRAIL_REQUIRE_WEB_SERVERS=1: ${how}`);
    console.warn(`The documented receivers are not tested behind web servers: ${how}.`);
  }
  describe.skipIf(!isThere)(title, suite);
}

/** The PHP receiver, run by php-fpm behind the server. `secret`: empty where the pool sets none. */
export async function servePhp(server: WebServer, secret: string): Promise<RunningWebServer> {
  const folder = scratchFolder();
  copyFileSync(PHP_RECEIVER, join(folder, 'www', 'receiver.php'));
  const pool = `[global]
error_log = ${folder}/fpm.log
daemonize = no
[www]
user = ${USER}
group = ${USER}
listen = ${folder}/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 2
${secret ? `env[WEBHOOK_SECRET] = "${secret}"` : ''}
env[WEBHOOK_DB] = "${folder}/written/webhooks.db"
`;
  writeFileSync(join(folder, 'fpm.conf'), pool);
  const fpm = started(phpFpm(), ['--nodaemonize', '--fpm-config', join(folder, 'fpm.conf')]);
  const stopFpm = async () => {
    await stopped(fpm);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await eventually('php-fpm listens', () => {
      if (fpm.exitCode !== null)
        throw new Error(`php-fpm ended: ${readFileSync(join(folder, 'fpm.log'), 'utf8')}`);
      return existsSync(join(folder, 'fpm.sock'));
    });
    const front = await startFront(server, folder, {
      Apache: `<FilesMatch "\\.php$">
SetHandler "proxy:unix:${folder}/fpm.sock|fcgi://localhost"
</FilesMatch>`,
      nginx: `include /etc/nginx/fastcgi_params;
fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
fastcgi_pass unix:${folder}/fpm.sock;`,
    });
    return { ...front, stop: () => front.stop().finally(stopFpm) };
  } catch (error) {
    await stopFpm();
    throw error;
  }
}

/** A server that passes requests on to a receiver of its own port. */
export async function serveProxy(server: WebServer, to: string): Promise<RunningWebServer> {
  const folder = scratchFolder();
  const front = await startFront(server, folder, {
    Apache: `ProxyPass / ${to}/`,
    nginx: `proxy_pass ${to};`,
  });
  return {
    ...front,
    stop: () => front.stop().finally(() => rmSync(folder, { recursive: true, force: true })),
  };
}

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-web-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'www'));
  mkdirSync(join(folder, 'written'));
  chmodSync(join(folder, 'written'), 0o777);
  return folder;
}

async function startFront(
  { kind, settings = '' }: WebServer,
  folder: string,
  handlers: Readonly<Record<WebServer['kind'], string>>,
): Promise<RunningWebServer> {
  const port = await freePort();
  const file = join(folder, 'server.conf');
  const log = join(folder, 'server.log');
  const text = kind === 'Apache' ? apacheConfiguration : nginxConfiguration;
  writeFileSync(file, text(folder, port, `${handlers[kind]}\n${settings}`));
  const child =
    kind === 'Apache'
      ? started(join(PROGRAMS, 'apache2'), ['-f', file, '-DFOREGROUND'])
      : started(join(PROGRAMS, 'nginx'), ['-c', file]);
  await eventually(`${kind} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${kind} ended: ${readFileSync(log, 'utf8')}`);
    return accepts(port);
  });
  return {
    url: `http://127.0.0.1:${port}/receiver.php`,
    log: () => readFileSync(log, 'utf8'),
    stop: () => stopped(child),
  };
}

/** The modules of a plain Apache, without those that only Debian's configuration turns on: Authorization stays with Apache. */
function apacheConfiguration(folder: string, port: number, handler: string): string {
  const modules = [
    'mpm_event',
    'authz_core',
    'env',
    'setenvif',
    'headers',
    'proxy',
    'proxy_fcgi',
    'proxy_http',
  ];
  return `ServerRoot ${folder}
ServerName localhost
PidFile ${folder}/server.pid
ErrorLog ${folder}/server.log
DefaultRuntimeDir ${folder}/written
Listen 127.0.0.1:${port}
${modules.map((name) => `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so`).join('\n')}
User ${USER}
Group ${USER}
DocumentRoot ${folder}/www
<Location "/">
Require all granted
</Location>
${handler}
`;
}

function nginxConfiguration(folder: string, port: number, handler: string): string {
  const temporary = ['client_body', 'fastcgi', 'proxy', 'uwsgi', 'scgi'];
  return `user ${USER};
daemon off;
pid ${folder}/server.pid;
error_log ${folder}/server.log;
events {}
http {
access_log off;
${temporary.map((name) => `${name}_temp_path ${folder}/written/${name};`).join('\n')}
server {
listen 127.0.0.1:${port};
root ${folder}/www;
location / {
${handler}
}
}
}
`;
}

/** Debian's php-fpm has its version in its name. */
function phpFpm(): string {
  const names = existsSync(PROGRAMS)
    ? readdirSync(PROGRAMS).filter((name) => /^php-fpm[\d.]*$/.test(name))
    : [];
  return join(PROGRAMS, names.sort().at(-1) ?? 'php-fpm');
}

function started(program: string, args: readonly string[]): ChildProcess {
  return spawnGuarded(program, args, { stdio: 'ignore' });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
