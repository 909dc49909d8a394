import { formatCountdown } from '../client/duration.ts';
import { ServiceClock } from '../client/service-clock.ts';
import { asTyped } from '../services/messages/as-typed.ts';
import { ApiClient, type ClientOptions, limitReached } from './client/api-client.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { OUTPUT_FORMATS, Output, type OutputFormat } from './output.ts';
import { type Environment, type GlobalOptions, Settings } from './settings.ts';
import type { Keyboard } from './terminal/keyboard.ts';
import type { Sink } from './terminal/sink.ts';

/** A command's environment: the process's own, or a test's. */
export interface Surroundings {
  readonly environment: Environment;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Fires on Ctrl-C: waits and loops then end cleanly. */
  readonly signal: AbortSignal;
  /** Opens the keys of a terminal; returns undefined where standard input is none. */
  readonly keyboard?: () => Keyboard | undefined;
}

export interface CommandOptions extends GlobalOptions {
  readonly output?: OutputFormat | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
}

/** The options of a command that takes an endpoint. */
export interface EndpointOptions extends CommandOptions {
  /** As it was typed; a command gets the uuid. */
  readonly endpoint: string;
}

/** The options of every command, for yargs. */
export const GLOBAL_OPTIONS = {
  'base-url': { type: 'string', describe: 'Address of the API', group: 'Connection:' },
  'api-key': { type: 'string', describe: 'Merchant API key (sk_sandbox_…)', group: 'Connection:' },
  'producer-key': { type: 'string', describe: 'Producer key (pk_sandbox_…)', group: 'Connection:' },
  merchant: { type: 'string', describe: 'Merchant whose events are sent (uuid)', group: 'Connection:' },
  'data-dir': { type: 'string', describe: 'Directory of sandbox.env', group: 'Connection:' },
  output: { choices: OUTPUT_FORMATS, default: 'pretty', describe: 'Format of the output', group: 'Output:' },
  quiet: { type: 'boolean', default: false, describe: 'Print results only', group: 'Output:' },
  color: {
    type: 'boolean',
    default: true,
    describe: 'Use colours; --no-color turns them off',
    group: 'Output:',
  },
} as const;

/** One run of a command: its settings, its output, its clients. */
export class Session {
  readonly settings: Settings;
  readonly output: Output;
  readonly signal: AbortSignal;
  readonly surroundings: Surroundings;
  /** The clock of the service that the clients speak to. */
  readonly clock = new ServiceClock();

  constructor(options: CommandOptions, surroundings: Surroundings) {
    this.surroundings = surroundings;
    this.settings = new Settings(options, surroundings.environment);
    this.signal = surroundings.signal;
    // NO_COLOR is the convention of no-color.org: any value switches colours off.
    const color = (options.color ?? true) && !surroundings.environment.NO_COLOR;
    this.output = new Output(surroundings.stdout, surroundings.stderr, {
      format: options.output ?? 'pretty',
      quiet: options.quiet ?? false,
      color,
      asTyped: (text) => asTyped(text, surroundings.environment),
    });
  }

  /** Returns the client of the merchant API. */
  api(): ApiClient {
    return this.#client('apiKey', { whenLimited: (waitMs) => this.#waitForLimit(waitMs) });
  }

  /** Returns a client of the merchant API that is refused at once when the rate limit is reached. */
  impatientApi(): ApiClient {
    return this.#client('apiKey', {});
  }

  /** Returns a client of the merchant API that Ctrl-C does not cut off: for removing what a command has made. */
  lastingApi(): ApiClient {
    const { signal } = new AbortController();
    const { baseUrl, key } = this.settings.connection('apiKey');
    return new ApiClient(baseUrl, key, signal, {
      clock: this.clock,
      keepsTexts: this.output.format !== 'pretty',
    });
  }

  /** Returns the client of the producer routes. */
  producer(): ApiClient {
    return this.#client('producerKey', {
      asksEnvironment: true,
      whenLimited: (waitMs) => this.#waitForLimit(waitMs),
    });
  }

  #client(name: 'apiKey' | 'producerKey', options: ClientOptions): ApiClient {
    const { baseUrl, key } = this.settings.connection(name);
    const otherBaseUrl = this.settings.otherBaseUrl();
    return new ApiClient(baseUrl, key, this.signal, {
      clock: this.clock,
      keepsTexts: this.output.format !== 'pretty',
      otherBaseUrl,
      ...options,
    });
  }

  async #waitForLimit(waitMs: number): Promise<void> {
    this.output.warn(limitReached(waitMs));
    const until = Date.now() + waitMs;
    const text = () => `the API takes requests again in ${formatCountdown(until - Date.now())}`;
    await this.output.during(text, this.pause(waitMs));
  }

  /** Waits; ends early on Ctrl-C. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.signal.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.signal.addEventListener('abort', done, { once: true });
    });
  }
}

/** Runs a command's body, prints its collected output, and throws its error. */
export async function inSession(
  options: CommandOptions,
  surroundings: Surroundings,
  body: (session: Session) => Promise<void>,
): Promise<void> {
  const session = new Session(options, surroundings);
  try {
    const { whyThere } = session.settings;
    if (whyThere) session.output.advise({ says: whyThere, next: [] });
    session.settings.refuseLive();
    await body(session);
  } finally {
    session.output.finish();
  }
}

/** Returns a usage failure for a file that cannot be read. */
export function unreadable(path: string, error: unknown, next: readonly string[] = []): CommandFailure {
  if (error instanceof CommandFailure) return error;
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  return new CommandFailure(EXIT.usage, `${path} ${what}`, next);
}
