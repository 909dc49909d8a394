/** The image, made without Docker: the files that the Dockerfile copies, its steps, and containers with a read-only root. */
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { environmentOf, read, type Service } from '../deployment.ts';
import { Launched } from '../launched.ts';

const ENTER = resolve('test/support/image/enter.sh');
const USER = 1000;
/** Node, beside which npm is not installed: that of this machine is used. */
const NODE = dirname(process.execPath);

/** Returns why no container can be made here; undefined when one can. */
export function whyNoContainer(): string | undefined {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'pipe' });
    execFileSync('setpriv', ['--version'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `mount namespaces need root, unshare and setpriv: ${(error as Error).message.split('\n')[0]}`;
  }
}

interface Step {
  readonly name: string;
  readonly text: string;
}

/** Returns the steps of each stage of the Dockerfile. */
function stages(): readonly Step[][] {
  const lines = read('Dockerfile')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '');
  const found: Step[][] = [];
  for (const line of lines) {
    const [name = '', text = ''] = [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)];
    if (name === 'FROM') found.push([]);
    found.at(-1)?.push({ name, text });
  }
  return found;
}

/** Copies what .dockerignore lets through: it begins with `*`, and names the exceptions. */
function copyContext(to: string): void {
  const kept = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .flatMap((line) => globSync(line.slice(1)));
  for (const path of kept) cpSync(path, join(to, path), { recursive: true });
}

function copy(text: string, from: string, to: string): void {
  const words = text.split(' ').filter((word) => !word.startsWith('--'));
  const target = words.pop() ?? '';
  for (const word of words) {
    const source = join(from, word.replace(/^\/app\//, ''));
    const isInto = target.endsWith('/') && !statSync(source).isDirectory();
    const name = isInto ? join(to, target, source.split('/').pop() ?? '') : join(to, target);
    cpSync(source, name, { recursive: true, verbatimSymlinks: true });
  }
}

export class Image {
  readonly #folder = mkdtempSync(join(tmpdir(), 'hookrail-image-'));
  readonly app = join(this.#folder, 'app');
  readonly #running: Launched[] = [];

  /** Does what both stages of the Dockerfile do. */
  build(): void {
    const [build = [], final = []] = stages();
    const [context, built] = ['context', 'build'].map((name) => join(this.#folder, name)) as [string, string];
    for (const path of [context, built, this.app]) mkdirSync(path);
    copyContext(context);
    for (const { name, text } of build) {
      if (name === 'COPY') copy(text, context, built);
      if (name === 'RUN') this.#run(text, built);
    }
    for (const { name, text } of final) if (name === 'COPY') copy(text, built, this.app);
  }

  #run(text: string, cwd: string): void {
    const path = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
    const { NODE_ENV: _, npm_config_local_prefix: __, INIT_CWD: ___, ...env } = process.env;
    execFileSync('sh', ['-ec', text], {
      cwd,
      env: { ...env, PATH: [NODE, ...path].join(':') },
      stdio: 'pipe',
    });
  }

  /** Returns the folder of a volume, which the image's user owns. */
  volume(name: string): string {
    const path = join(this.#folder, 'volumes', name);
    if (!existsSync(path)) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      execFileSync('chown', [`${USER}:${USER}`, path]);
    }
    return path;
  }

  /** Writes a file into the volume `secrets`, for the image's user only. */
  secret(name: string, text: string): void {
    const file = join(this.volume('secrets'), name);
    writeFileSync(file, text, { mode: 0o600 });
    execFileSync('chown', [`${USER}:${USER}`, file]);
  }

  /** Starts a service of docker-compose.yml as its container does, with some other values of its variables. */
  start(
    service: Service,
    command: readonly string[],
    others: Readonly<Record<string, string>> = {},
  ): Launched {
    const root = mkdtempSync(join(this.#folder, 'root-'));
    const volumes = (service.volumes ?? []).map((volume) => {
      const [name = '', ...rest] = volume.split(':');
      return [this.volume(name), ...rest].join(':');
    });
    // Docker's own tmpfs can be written by everybody.
    const tmpfs = (service.tmpfs ?? []).map(
      (each) => `tmpfs:${each.includes(':') ? each : `${each}:mode=1777`}`,
    );
    const args = [root, this.app, NODE, ...volumes, ...tmpfs, '--', ...command];
    const env = { ...environmentOf(service), ...others, PATH: '/opt/node:/usr/bin:/bin' };
    const child = spawn('unshare', ['--mount', '--propagation', 'private', ENTER, ...args], { env });
    const running = new Launched(child);
    this.#running.push(running);
    return running;
  }

  async remove(): Promise<void> {
    for (const { child } of this.#running) child.kill('SIGKILL');
    await Promise.all(this.#running.map(({ ended }) => ended));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns the image's own command. */
export const ENTRYPOINT: readonly string[] = JSON.parse(
  stages()
    .at(-1)
    ?.find(({ name }) => name === 'ENTRYPOINT')?.text ?? '[]',
);
