import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-ports.ts';
import { type Child, startChild } from './child.ts';
import { ROOT } from './engines.ts';
import { straceTo } from './special/syncs.ts';

const STOP_MS_MAX = 30_000;
/** The length of a failed process's log that is shown, from its end, in characters. */
const LOG_SHOWN = 4000;

/** One process of a service. */
export interface ServiceProcess extends Pick<Child, 'ask'> {
  readonly pid: number;
  readonly opsUrl: string;
  /** Rejects when it exits before `stop`, with the end of its log. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** Starts a process with these roles; it does not outlive this one. */
export async function startServiceProcess(options: {
  readonly environment: Readonly<Record<string, string>>;
  /** As in HOOKRAIL_ROLES. */
  readonly roles: string;
  /** See RunOptions. */
  readonly traceTo?: string | undefined;
}): Promise<ServiceProcess> {
  const { roles, traceTo } = options;
  const environment = roles.includes('api') ? options.environment : await apart(options.environment, roles);
  const { HOOKRAIL_DATA_DIR: dataDir = '', HOOKRAIL_OPS_PORT: opsPort } = environment;
  const logFile = join(dataDir, 'service.log');
  const log = openSync(logFile, 'w');
  const { process: child, ask } = startChild('./service-process.mjs', {
    cwd: ROOT,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, ...environment, HOOKRAIL_ROLES: roles },
    ...(traceTo === undefined ? {} : straceTo(traceTo)),
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let isTold = false;
  const failed = exited.then(() => {
    if (isTold) return new Promise<never>(() => {});
    throw new Error(`a process of the service exited:\n${readFileSync(logFile, 'utf8').slice(-LOG_SHOWN)}`);
  });
  failed.catch(() => {});
  return {
    pid: child.pid ?? 0,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    failed,
    ask,
    async stop() {
      isTold = true;
      child.kill('SIGTERM');
      const late = setTimeout(kill, STOP_MS_MAX);
      await exited;
      clearTimeout(late);
      process.removeListener('exit', kill);
    },
  };
}

/** Returns the environment of a further process. The operator's tool uses the one that has the store. */
async function apart(environment: Readonly<Record<string, string>>, roles: string) {
  const dataDir = join(environment.HOOKRAIL_DATA_DIR ?? '', roles);
  mkdirSync(dataDir, { recursive: true });
  return { ...environment, HOOKRAIL_DATA_DIR: dataDir, HOOKRAIL_OPS_PORT: `${await freePort()}` };
}
