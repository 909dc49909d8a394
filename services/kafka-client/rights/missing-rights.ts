import type { Logger } from '../../telemetry/logger.ts';
import { rootOf } from '../client/client.ts';

/** One operation that Kafka's authorizer must allow the Kafka user. */
export interface Right {
  readonly operation: 'READ' | 'WRITE' | 'DESCRIBE';
  readonly resource: 'topic' | 'group';
  readonly name: string;
  /** The name is a prefix. */
  readonly isPrefix?: boolean;
}

/** A reader: a member of a group, or one with a new group each time, whose names begin with `groupId`. */
export interface Reader {
  readonly topic: string;
  readonly groupId: string;
  readonly isPrefix?: boolean;
}

/** The permissions that readers lack; each is logged once when it is refused and once when it is granted again. */
export class MissingRights {
  readonly #log: Logger;
  readonly #grant: (right: Right) => string;
  /** The missing permission by the topic that cannot be read without it. */
  readonly #missing = new Map<string, Right>();

  /** `grant`: returns the command that grants the Kafka user a permission. */
  constructor(log: Logger, grant: (right: Right) => string) {
    this.#log = log;
    this.#grant = grant;
  }

  /** Returns whether the reader failed because of a missing permission. */
  isRefused(reader: Reader, error: unknown): boolean {
    const { topic } = reader;
    const { name, type } = rootOf(error);
    const known = this.#missing.get(topic);
    const right = rightOf(reader, type);
    // kafkajs loses the reason why no broker names the coordinator: without permission for the group none does.
    if (!right) return name === 'KafkaJSGroupCoordinatorNotFound' && known?.resource === 'group';
    if (known?.resource !== right.resource) this.#log.error({ topic }, this.#lineOf(topic, right));
    this.#missing.set(topic, right);
    return true;
  }

  /** The topic is being read, or is no longer read here. */
  granted(topic: string): void {
    if (this.#missing.delete(topic)) this.#log.info({ topic }, 'the topic can be read again');
  }

  has(topic: string): boolean {
    return this.#missing.has(topic);
  }

  /** Returns the command that grants the Kafka user a permission. */
  commandFor(right: Right): string {
    return this.#grant(right);
  }

  /** A line for each: the permission, the resource, and the command that grants it. */
  get lines(): string[] {
    return [...this.#missing].map(([topic, right]) => this.#lineOf(topic, right));
  }

  #lineOf(topic: string, right: Right): string {
    const { operation, resource, name, isPrefix } = right;
    const what = `the Kafka user lacks ${operation} on ${resource} ${name}${isPrefix ? '*' : ''}`;
    return `${what}; the records of ${topic} wait: ${this.#grant(right)}`;
  }
}

/** Returns the missing permission. READ includes DESCRIBE, so granting it helps whichever of the two was missing. */
function rightOf({ topic, groupId, isPrefix = false }: Reader, type: string | undefined): Right | undefined {
  if (type === 'TOPIC_AUTHORIZATION_FAILED') return { operation: 'READ', resource: 'topic', name: topic };
  if (type !== 'GROUP_AUTHORIZATION_FAILED') return undefined;
  return { operation: 'READ', resource: 'group', name: groupId, isPrefix };
}
