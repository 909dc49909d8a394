import type { Api } from './api/api.ts';
import type { Docs } from './api/docs.ts';
import type { Broker } from './broker/broker.ts';
import type { Store } from './store/store.ts';

/** A process of hookrail, with any of its roles. */
export interface HookrailProcess {
  /** Null in a process without the api role. */
  readonly apiUrl: string | null;
  /** The reference at /docs; null in a process without the api role. */
  readonly docs: Docs | null;
  /** Makes a link to the console of a merchant; null in a process without the api role. */
  readonly consoleLink: Api['consoleLink'] | null;
  readonly operationsUrl: string;
  /** Null in a process with neither the api nor the recorder role. */
  readonly store: Store | null;
  /** Publishes events without the REST API, for a program that hosts hookrail. */
  readonly broker: Pick<Broker, 'publishEvents'>;
  /** Resolves with the reason when a part cannot continue; the process must then end. */
  readonly failed: Promise<Error>;
  /** Finishes what is in flight, makes it durable, releases everything. The log names the signal that asked for it. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A process with the api role. */
export interface Hookrail extends HookrailProcess {
  readonly apiUrl: string;
  readonly docs: Docs;
  readonly consoleLink: Api['consoleLink'];
  readonly store: Store;
}
