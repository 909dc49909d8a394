import { type ChildProcess, spawn } from 'node:child_process';
import { runCommandLine } from '../../../simulator/cli.ts';
import { BUILT } from '../../support/built/modules.ts';
import type { ServiceSetup } from '../../support/service/system.ts';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Resolves with the first line of standard output that has the text; rejects when the command ends without it. */
  line(text: string): Promise<string>;
}

/** Starts the real command line. Nothing of the surrounding environment gets in but the path. */
export function startSim(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, [BUILT.simulator, ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let onOutput = () => {};
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    onOutput();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  const line = (text: string) =>
    new Promise<string>((resolve, reject) => {
      onOutput = () => {
        const found = stdout.split('\n').find((candidate) => candidate.includes(text));
        if (found !== undefined) resolve(found);
      };
      onOutput();
      finished.then(() => reject(new Error(`it ended without "${text}":\n${stdout}${stderr}`)));
    });
  return { process: child, finished, line };
}

/** Runs a command to its end, as a process. */
export function sim(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return startSim(args, environment).finished;
}

/**
 * The same without a process, which takes a second or two to start. With `columns`, its output is a terminal of that
 * width, otherwise a pipe.
 */
export async function simHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  columns?: number,
): Promise<Finished> {
  const written = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
    ...(columns === undefined ? {} : { isTTY: true, columns }),
  });
  const { signal } = new AbortController();
  const surroundings = { environment, stdout: into('stdout'), stderr: into('stderr'), signal };
  return { code: await runCommandLine(args, surroundings), ...written };
}

/** Types a line here, as a shell splits it; returns its result with the items of `ndjson`. */
export async function itemsHere(line: string, access: Parameters<typeof simHere>[1]) {
  const finished = await simHere(`${line} --output ndjson`.split(' '), access);
  const texts = finished.stdout.split('\n').filter(Boolean);
  return { ...finished, items: texts.map((text) => JSON.parse(text)) };
}

/** Returns the environment in which a command reaches a service as its merchant. */
export function accessTo(
  { dataDir, apiKey, producerKey, merchantId }: ServiceSetup,
  { apiUrl }: { readonly apiUrl: string },
  folder = dataDir,
) {
  return {
    HOOKRAIL_DATA_DIR: folder,
    HOOKRAIL_BASE_URL: apiUrl,
    HOOKRAIL_API_KEY: apiKey,
    HOOKRAIL_PRODUCER_KEY: producerKey,
    HOOKRAIL_MERCHANT_ID: merchantId,
  };
}

/** Returns the environment in which a command finds the operations server. */
export function operationsOf({ operationsUrl }: { readonly operationsUrl: string }) {
  const { hostname, port } = new URL(operationsUrl);
  return { HOOKRAIL_OPS_HOST: hostname, HOOKRAIL_OPS_PORT: port };
}
