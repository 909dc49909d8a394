import type { Mechanism } from 'kafkajs';
import { oneLine } from '../../messages/one-line.ts';
import { BearerTokens, type OAuthOptions } from './bearer-tokens.ts';

/** The broker rejects the access token. The message has the broker's text. */
export class TokenRejected extends Error {
  override readonly name = 'TokenRejected';
  /** Read by kafkajs. */
  readonly retriable = false;
}

const LENGTH_BYTES = 4;
/** Ends a failed exchange: the broker's text was read (RFC 7628, section 3.2.3). */
const READ = '\u0001';

/** One source for all clients of a thread with the same settings. */
const SOURCES = new WeakMap<OAuthOptions, BearerTokens>();

/**
 * Returns the SASL mechanism OAUTHBEARER (RFC 7628) for kafkajs, which authenticates each connection again before its session
 * ends. kafkajs's own one does not read the broker's refusal, and the connection breaks without a word.
 */
export function bearerMechanism(options: OAuthOptions): Mechanism {
  const tokens = SOURCES.get(options) ?? new BearerTokens(options);
  SOURCES.set(options, tokens);
  return {
    mechanism: options.mechanism,
    authenticationProvider: ({ saslAuthenticate }) => {
      const exchange = async (text: string) => {
        const response = { decode: (raw: Buffer) => raw.subarray(LENGTH_BYTES), parse: String };
        return (await saslAuthenticate({ request: { encode: () => withLength(text) }, response })) ?? '';
      };
      // The broker then refuses the exchange in words, and closes the connection, which could not be used again.
      const end = () => exchange(READ).catch(() => {});
      return {
        authenticate: async () => {
          const token = await tokens.current().catch(async (error: unknown) => {
            await end();
            throw error;
          });
          const refusal = await exchange(`n,,\u0001auth=Bearer ${token}\u0001\u0001`);
          if (refusal === '') return;
          await end();
          throw new TokenRejected(oneLine(refusal));
        },
      };
    },
  };
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
