/** The deployment as files say it: docker-compose.yml and Dockerfile. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../services/config/config.ts';

export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly scale?: number;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly profiles?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly stop_grace_period?: string;
  readonly hostname?: string;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly mem_limit?: string;
}

export const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
export const exists = (path: string) => existsSync(new URL(`../../${path}`, import.meta.url));

export const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
  volumes: Readonly<Record<string, unknown>>;
};
export const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('hookrail:'));
export const kafkas = services.filter(([, { image }]) => image.startsWith('apache/kafka:'));
export const postgres = services.filter(([, { image }]) => image.startsWith('postgres:'));
export const packageJson = JSON.parse(read('package.json'));

/** A line that is continued is one instruction. */
const instructions = read('Dockerfile')
  .replaceAll(/^\s*#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ name: line.split(' ', 1)[0] ?? '', text: line.slice(line.indexOf(' ') + 1) }));
export const instructed = (name: string) =>
  instructions.filter((each) => each.name === name).map((each) => each.text);
export const imageEnvironment = Object.fromEntries(
  instructed('ENV').flatMap((text) => text.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
);

/** Returns the environment of a container's process: the image's variables, then the service's, `${NAME:-default}` without NAME. */
export function environmentOf(service: Service): Record<string, string> {
  const given = Object.entries(service.environment ?? {}).map(([name, value]) => [
    name,
    String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
  ]);
  return { ...imageEnvironment, ...Object.fromEntries(given) };
}

/** Returns the configuration of a container, each of whose password files holds its own path. */
export function configOf(service: Service) {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-passwords-'));
  const variables = Object.entries(environmentOf(service)).map(([name, value], i) => {
    if (!name.endsWith('_PASSWORD_FILE')) return [name, value];
    const file = join(folder, String(i));
    writeFileSync(file, value);
    return [name, file];
  });
  const config = readConfig(Object.fromEntries(variables));
  rmSync(folder, { recursive: true });
  return config;
}

/** A program in a service's command, as the container's shell sees it. */
export const script = (name: string) => (compose.services[name]?.command?.[0] ?? '').replaceAll('$$', '$');

/** The containers that run the service itself, not another program of the image. */
export const processes = ours
  .filter(([, { entrypoint }]) => entrypoint === undefined)
  .map(([name, service]) => ({ name, service, config: configOf(service) }));

/** The source of a program in dist, which need not be built for these tests. */
export function sourceOf(program = ''): string {
  return program.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}
