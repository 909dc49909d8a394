import type { Exchange } from '../../domain/attempt.ts';
import type { NetworkSign, OwnFault } from './connect-failure.ts';
import type { SecretMask } from './masking/secret-mask.ts';

export interface WebhookRequest {
  /** Connections are never shared by two merchants. */
  readonly merchantId: string;
  /** `https://host[:port]`. */
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Uint8Array;
  /** Removes the endpoint's secret from the response; null: there is none to remove. */
  readonly mask: SecretMask | null;
  /** Tells the watchdog which attempt it is; absent: nothing is told. */
  readonly label?: string | undefined;
}

export interface Posted {
  readonly exchange: Exchange;
  /** Retry-After in seconds, when the receiver sent one as a number. */
  readonly retryAfterSeconds: number | null;
  /** The address guard's rule that refused, or null. */
  readonly blockedBy: string | null;
  /** The attempt's evidence about our own network. */
  readonly sign: NetworkSign;
  /** The fault of our own that prevented the attempt; null: it was made. */
  readonly ownFault: OwnFault | null;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** How long the receiver certainly took, without the time in which this process was late, milliseconds. */
  readonly receiverMs: number;
}
