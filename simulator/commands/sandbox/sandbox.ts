import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Hookrail, startHookrail } from '../../../services/main.ts';
import { messageOf } from '../../../services/messages/error-message.ts';
import { runOperator } from '../../../services/operator.ts';
import { ApiRefusal } from '../../client/api-refusal.ts';
import { CommandFailure, EXIT } from '../../exit.ts';
import { openAuthority } from '../../receiver/certificate-authority.ts';
import type { CommandOptions, Session } from '../../session.ts';
import { EGRESS_ALLOW, type Environment } from '../../settings.ts';
import { beginAnew } from './begin-anew.ts';
import { type Demo, playDemo, removeDemoEndpoint } from './demo.ts';
import { ensureKeys } from './keys.ts';
import { trustedAuthorities } from './trusted-authorities.ts';
import { nextSteps, welcome } from './welcome.ts';

export interface SandboxOptions extends CommandOptions {
  readonly demo: boolean;
  readonly anew?: boolean;
}

/**
 * Runs the sandbox until Ctrl-C. Throws a failure with exit code 1 and one clear line when it cannot start, continue,
 * or stop cleanly.
 */
export async function sandbox(session: Session, options: SandboxOptions): Promise<void> {
  const { environment } = session.surroundings;
  if (environment.HOOKRAIL_ENVIRONMENT === 'production') {
    throw new CommandFailure(
      EXIT.expectation,
      'hookrail start runs the sandbox, but HOOKRAIL_ENVIRONMENT is production',
      ['start the service for production with: hookrail serve'],
    );
  }
  await beginAnew(session, options);
  const started = start(session).catch((error: unknown) => {
    throw new CommandFailure(EXIT.expectation, `the sandbox did not start: ${messageOf(error)}`);
  });
  const hookrail = await session.output.during(() => 'starting', started);
  // A later failure must not leave the engine's files open.
  let failure: unknown;
  await live(session, options, hookrail).catch((error: unknown) => {
    failure = error;
  });
  session.output.remark('\nstopping: waiting for what is in flight (Ctrl-C again stops at once)');
  await hookrail.stop().catch((error: unknown) => {
    failure ??= new CommandFailure(EXIT.expectation, `the sandbox did not stop cleanly: ${messageOf(error)}`);
  });
  if (failure !== undefined) throw failure;
}

async function start(session: Session): Promise<Hookrail> {
  const { settings } = session;
  const { environment } = session.surroundings;
  const dataDir = resolve(settings.dataDir);
  // It will hold databases and keys: for its owner only, as the service wants it.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  await openAuthority(dataDir);
  const keyRing = environment.HOOKRAIL_KEYRING || join(dataDir, 'keyring.json');
  await ensureKeyRing(keyRing, environment);
  return startHookrail({
    ...environment,
    HOOKRAIL_DATA_DIR: dataDir,
    HOOKRAIL_KEYRING: keyRing,
    HOOKRAIL_EXTRA_CA_FILE: trustedAuthorities(dataDir, environment.HOOKRAIL_EXTRA_CA_FILE),
    HOOKRAIL_EGRESS_ALLOW: environment.HOOKRAIL_EGRESS_ALLOW ?? EGRESS_ALLOW,
    // The demo prints one line per delivery to this terminal; the log would repeat them.
    HOOKRAIL_LOG_LEVEL: environment.HOOKRAIL_LOG_LEVEL ?? 'warn',
  });
}

async function ensureKeyRing(path: string, environment: Environment): Promise<void> {
  if (existsSync(path)) return;
  let problem = '';
  const say = (line: string) => {
    problem = line;
  };
  const code = await runOperator(['keyring', 'create', '--out', path], environment, () => {}, say);
  if (code !== 0) throw new Error(problem);
}

async function live(session: Session, options: SandboxOptions, hookrail: Hookrail): Promise<void> {
  const { signal } = session;
  const access = await ensureKeys(hookrail, session.settings, session.surroundings.environment);
  const { apiKey: merchantKey, producerKey, merchantId } = access;
  hookrail.docs.fillIn({ merchantKey, producerKey, merchantId });
  const consoleLink = await hookrail.consoleLink(access.merchantId);
  welcome(session.output, access, { hookrail, consoleLink });
  const broken = hookrail.failed.then((error) => {
    throw new CommandFailure(EXIT.expectation, `the sandbox has failed: ${error.message}`);
  });
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  if (!options.demo) await removeDemoEndpoint(access);
  const demo = options.demo
    ? await demoOrRemark(session, playDemo(session, access, stopped, broken))
    : undefined;
  try {
    if (!signal.aborted) nextSteps(session.output, access, { receiverUrl: demo?.url, consoleLink });
    await Promise.race([stopped, broken]);
  } finally {
    await demo?.close();
  }
}

/**
 * Continues without the demo when the API refuses the built-in receiver, which is right when HOOKRAIL_EGRESS_ALLOW
 * excludes this machine.
 */
async function demoOrRemark({ output }: Session, demo: Promise<Demo>): Promise<Demo | undefined> {
  try {
    return await demo;
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    output.warn(
      `the demo cannot be played, but the sandbox runs (--no-demo omits the demo):\n${error.message}`,
    );
    return undefined;
  }
}
