/** The client programs: their dependencies are fetched once into the user's cache, then each runs in its own process. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../cache-folder.ts';
import { Guard } from '../guard/guard.ts';
import { copyDependencies, findJava } from '../local-kafka/artifacts.ts';
import type { Job, Written } from './job.ts';

export const CLIENTS = ['kafkajs', 'librdkafka', 'Java'] as const;
export type ClientName = (typeof CLIENTS)[number];

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAMS = join(ROOT, 'scripts/producers/clients');
const JAVA_EXAMPLE = join(ROOT, 'docs/producers/java');
const REQUIREMENTS = join(ROOT, 'scripts/producers/requirements.txt');
const JAVA_SETTINGS = ['-Xmx1g', '-XX:TieredStopAtLevel=1'];
/** The number of lines shown from the output of a failed program. */
const SHOWN_LINES = 12;

interface Environment {
  /** Only JAVA_HOME, PATH and XDG_CACHE_HOME are read. */
  readonly environment: NodeJS.ProcessEnv;
  /** Reports progress, one line at a time. */
  readonly say: (line: string) => void;
}

/** The command that runs a program, without the program's own arguments. */
export type Launcher = readonly string[];

/** Returns the command of each client program. Rejects with one line that names what is missing on this machine. */
export async function prepareClients(options: Environment): Promise<Readonly<Record<ClientName, Launcher>>> {
  const python = await preparePython(options);
  const java = await prepareJava(options);
  return {
    kafkajs: [process.execPath, join(PROGRAMS, 'client.mjs')],
    librdkafka: [python, join(PROGRAMS, 'client.py')],
    Java: [...java, 'Client'],
  };
}

/** Returns the Python that has confluent-kafka. */
export async function preparePython({ environment, say }: Environment): Promise<string> {
  const folder = await cacheFolder(
    `producer-python-${versionOf(REQUIREMENTS)}`,
    { environment },
    async (target) => {
      say('Fetching confluent-kafka from PyPI (20 MB), once …');
      const python = await firstPython(environment);
      await mustRun([python, '-m', 'venv', target], environment);
      const pip = [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--only-binary',
        ':all:',
      ];
      await mustRun([pythonOf(target), ...pip, '--require-hashes', '-r', REQUIREMENTS], environment);
    },
  );
  return pythonOf(folder);
}

const pythonOf = (folder: string) => join(folder, 'bin', 'python');

async function firstPython(environment: NodeJS.ProcessEnv): Promise<string> {
  const probe = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))';
  const { code } = await run(['python3', '-c', probe], environment);
  if (code === 0) return 'python3';
  throw new Error(
    'librdkafka needs Python 3.11 or newer with venv, but `python3` is missing, older, or lacks venv. Install it (Debian: python3 and python3-venv).',
  );
}

/** Returns the command that runs a class of docs/producers/java or of the client program. */
async function prepareJava(options: Environment): Promise<Launcher> {
  const { environment, say } = options;
  const guard = new Guard();
  const pom = join(JAVA_EXAMPLE, 'pom.xml');
  const sources = [
    join(JAVA_EXAMPLE, 'src/main/java/RegistryAvroSerializer.java'),
    join(JAVA_EXAMPLE, 'src/main/java/Producer.java'),
    join(PROGRAMS, 'Client.java'),
  ];
  try {
    const { command: java } = await findJava({ guard, environment, say });
    const jars = await cacheFolder(`producer-jars-${versionOf(pom)}`, { environment }, (target) =>
      copyDependencies(pom, target, { guard, environment, say }),
    );
    const name = `producer-classes-${versionOf(pom, ...sources)}`;
    const classes = await cacheFolder(name, { environment }, async (target) => {
      const javac = java.replace(/java$/, 'javac');
      await mustRun([javac, '-d', target, '-cp', join(jars, '*'), ...sources], environment);
    });
    return [java, ...JAVA_SETTINGS, '-cp', `${classes}:${join(jars, '*')}`];
  } finally {
    await guard.close();
  }
}

/** Runs a client program and resolves with the result of each record. Rejects with its output when it fails. */
export async function writeWith(
  launcher: Launcher,
  job: Job,
  environment: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Written[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hookrail-job-'));
  try {
    const file = join(folder, 'job.json');
    writeFileSync(file, JSON.stringify(job));
    const { stdout } = await mustRun([...launcher, file], environment, signal);
    const written = stdout
      .trim()
      .split('\n')
      .map((line): Written => JSON.parse(line));
    const due = job.records.reduce((count, { at }) => count + (at?.length ?? 1), 0);
    if (written.length === due) return written;
    throw new Error(`a client reported ${written.length} of ${due} records`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function versionOf(...files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

interface Ended {
  /** null = killed; undefined = could not be started. */
  readonly code: number | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program until it exits and resolves with its output. Rejects when it fails. */
export async function mustRun(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Ended> {
  const ended = await run(command, environment, signal);
  if (ended.code === 0) return ended;
  const lines = `${ended.stdout.slice(-2000)}\n${ended.stderr}`.trim().split('\n');
  throw new Error(`\`${command.slice(0, 4).join(' ')} …\` failed:\n${lines.slice(-SHOWN_LINES).join('\n')}`);
}

function run(
  command: readonly string[],
  environment: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Ended> {
  const child = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
    ...(signal ? { signal, killSignal: 'SIGKILL' as const } : {}),
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: undefined, stdout, stderr: `${stderr}${error.message}` }));
    child.once('close', (code) => {
      process.off('exit', kill);
      resolve({ code, stdout, stderr });
    });
  });
}
