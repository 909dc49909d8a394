import { join } from 'node:path';
import { visible } from '../../services/domain/text/visible-text.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { readOwnFile } from '../own-file.ts';
import type { Session } from '../session.ts';
import { withVisibleTexts } from './foreign-texts.ts';
import { headerSecret } from './header-secret.ts';
import { readText } from './read-text.ts';

/** A step waits for the attempts that became due. */
const TIMEOUT_MS = 150_000;
/** The name in the audit. */
const NAME = 'hookrail sim';

/** An attempt, a delivery that ended without one, or an endpoint that was disabled, as a step of the clock reports it. */
export type ClockEntry =
  | {
      readonly kind: 'attempt';
      readonly at: string;
      readonly type: string;
      readonly sub_type: string;
      readonly delivery_uuid: string;
      readonly endpoint_uuid: string;
      readonly number: number;
      readonly outcome: 'delivered' | 'retry' | 'exhausted' | 'refused';
      readonly duration_ms: number;
      readonly response_status: number | null;
      readonly failure_code: string | null;
      readonly next_attempt_at: string | null;
    }
  | {
      readonly kind: 'cancelled';
      readonly at: string;
      readonly type: string;
      readonly sub_type: string;
      readonly delivery_uuid: string;
      readonly endpoint_uuid: string;
      readonly reason: string;
    }
  | { readonly kind: 'auto_disabled'; readonly at: string; readonly endpoint_uuid: string };

/** The sandbox's clock. */
export interface ClockState {
  /** False on Kafka. */
  readonly can_move: boolean;
  readonly now: string;
  readonly ahead_ms: number;
  /** When the next waiting attempt, of any merchant, is due. */
  readonly next_due_at: string | null;
  /** Where the merchant's feed goes on. */
  readonly position: string;
  readonly entries: readonly ClockEntry[];
}

function parsed(text: string): { readonly result?: unknown; readonly error?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** The operator's interface of a sandbox on this machine: its token is in the data directory. */
export class OperationsClient {
  readonly #url: string;
  readonly #dataDir: string;
  readonly #signal: AbortSignal;

  constructor({ settings, signal }: Pick<Session, 'settings' | 'signal'>) {
    this.#url = settings.operationsUrlForToken();
    this.#dataDir = settings.dataDir;
    this.#signal = signal;
  }

  /** Returns the clock; with a merchant, where its feed goes on. */
  clock(merchant: string): Promise<ClockState> {
    return this.#ask<ClockState>('clock-show', { merchant });
  }

  /** Moves the clock to the next due time, to `until` at most, and waits for the attempts; see the operation. */
  clockStep(given: { readonly until: string; readonly merchant: string; readonly after: string }) {
    return this.#ask<ClockState>('clock-step', given);
  }

  async #ask<Result>(command: string, given: object): Promise<Result> {
    const url = `${this.#url}/operator/${command}`;
    const init = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#token()}`,
        'content-type': 'application/json',
        // For the audit.
        'hookrail-operator': encodeURIComponent(NAME),
      },
      body: JSON.stringify(given),
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#signal]),
    };
    const response = await fetch(url, init).catch((error: unknown) => {
      throw this.#signal.aborted ? error : this.#unreachable(error);
    });
    const answer = parsed(await readText(response).catch(() => ''));
    if (response.ok && typeof answer.result === 'object' && answer.result !== null)
      return withVisibleTexts(answer.result) as Result;
    throw this.#refused(
      response.status,
      typeof answer.error === 'string' ? visible(answer.error) : undefined,
    );
  }

  #token(): string {
    const file = join(this.#dataDir, 'operator.token');
    const token = readOwnFile(file)?.trim();
    if (token !== undefined) return headerSecret(`the token in ${file}`, token);
    throw new CommandFailure(
      EXIT.authentication,
      `${file} does not exist: it has the token of the sandbox's operator`,
      [
        'start the sandbox with: hookrail start',
        'or name the data directory of the one that runs: --data-dir …',
      ],
    );
  }

  #refused(status: number, error: string | undefined): CommandFailure {
    if (status === 401) {
      return new CommandFailure(
        EXIT.authentication,
        `${this.#url} belongs to a sandbox with another data directory`,
        ['name its directory: --data-dir …', 'check which address is used with: hookrail sim doctor'],
      );
    }
    if (status === 422 && /no command "clock/.test(error ?? '')) {
      return new CommandFailure(
        EXIT.usage,
        `${this.#url} is a production service: its clock cannot be moved`,
        ['start a sandbox with: hookrail start'],
      );
    }
    const says = error ?? `${this.#url} answered ${status}: it is not the operations port of a sandbox`;
    return new CommandFailure(EXIT.api, says, error === undefined ? ['hookrail sim doctor'] : []);
  }

  #unreachable(error: unknown): CommandFailure {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const reason = isLate ? 'no response in time' : ((cause as NodeJS.ErrnoException).code ?? String(cause));
    return new CommandFailure(
      isLate ? EXIT.timeout : EXIT.unreachable,
      `the operations port at ${this.#url} cannot be reached (${reason})`,
      ['start the sandbox with: hookrail start', 'check which address is used with: hookrail sim doctor'],
    );
  }
}
