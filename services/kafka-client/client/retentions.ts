import kafkajs from 'kafkajs';
import { errorLine } from '../../messages/error-message.ts';
import type { Clock } from '../../process/clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Admins } from './admins.ts';

// A default import, because Node does not see this named export of the package.
const { ConfigResourceTypes } = kafkajs;

/** Administrators may change it at any time. */
const ASK_MS = 3_600_000;
const SETTING = 'retention.ms';

export interface RetentionsOptions {
  readonly admins: Admins;
  readonly clock: Clock;
  readonly log: Logger;
  readonly topics: readonly string[];
}

/** The retention time of each topic. */
export class Retentions {
  readonly #options: RetentionsOptions;
  readonly #ms = new Map<string, number>();
  #cancel: () => void = () => {};

  constructor(options: RetentionsOptions) {
    this.#options = options;
  }

  /** Returns milliseconds; null = for ever, or not known. */
  of(topic: string): number | null {
    return this.#ms.get(topic) ?? null;
  }

  /** Requests them now and every hour. */
  start(): void {
    const { clock, topics } = this.#options;
    this.#cancel = clock.at(clock.now() + ASK_MS, () => this.start());
    // One by one: a topic that we may not describe does not hide the others.
    for (const topic of topics) void this.#ask(topic);
  }

  close(): void {
    this.#cancel();
  }

  async #ask(topic: string): Promise<void> {
    const { admins, log } = this.#options;
    try {
      const { resources } = await admins.ask((admin) =>
        admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: [SETTING] }],
        }),
      );
      const entries = resources.flatMap(({ configEntries }) => configEntries);
      const ms = Number(entries.find(({ configName }) => configName === SETTING)?.configValue ?? -1);
      if (ms >= 0) this.#ms.set(topic, ms);
      else this.#ms.delete(topic);
    } catch (error) {
      log.debug({ topic, detail: errorLine(error) }, 'the retention of a topic could not be read');
    }
  }
}
