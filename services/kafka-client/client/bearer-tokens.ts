import { Agent, request } from 'undici';
import { oneLine } from '../../messages/one-line.ts';
import { type Clock, systemClock } from '../../process/clock.ts';

/** How access tokens are obtained: client credentials at a token endpoint (RFC 6749, section 4.4). It can be copied. */
export interface OAuthOptions {
  readonly mechanism: 'oauthbearer';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes to ask for, with spaces between; empty: none. */
  readonly scope: string;
  /** Authorities of the token endpoint's certificate, PEM. Null: the public ones. */
  readonly ca: string | null;
}

/**
 * No access token was obtained. `unreachable`: the endpoint did not answer, or asks for patience; the same request may
 * succeed later. `refused`: it will give the same response again. The message is one line without secrets.
 */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly kind: 'unreachable' | 'refused';
  /** Read by kafkajs. */
  readonly retriable: boolean;

  constructor(kind: TokenError['kind'], message: string) {
    super(message);
    this.kind = kind;
    this.retriable = kind === 'unreachable';
  }
}

const ANSWER_MS_MAX = 5_000;
const ANSWER_BYTES_MAX = 256 * 1024;
const SAID_CHARACTERS_MAX = 300;
/** The lifetime of a token whose server tells none, seconds. */
const LIFETIME_S = 300;
/** A token is renewed after this part of its lifetime. */
const RENEWED_AFTER = 0.8;
/** At least this is left of an ordinary token when it is renewed: connections authenticate again later (access.ts), by the brokers' clocks. */
const LEFT_MS_MIN = 12_000;
/** The characters of a token (RFC 6750, section 2.1): others would change the message that carries it. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

interface Token {
  readonly value: string;
  /** Times of the clock, milliseconds. */
  readonly renewedAt: number;
  readonly endsAt: number;
}

/** Access tokens for the connections of a thread: one is used by all of them, and renewed before it ends. */
export class BearerTokens {
  readonly #options: OAuthOptions;
  readonly #clock: Clock;
  readonly #dispatcher: Agent;
  #token: Token | undefined;
  #asking: Promise<Token> | undefined;

  constructor(options: OAuthOptions, clock: Clock = systemClock()) {
    const { ca } = options;
    this.#options = options;
    this.#clock = clock;
    this.#dispatcher = new Agent({
      connect: ca === null ? {} : { ca },
      maxResponseSize: ANSWER_BYTES_MAX,
      // No connection is kept: tokens are asked for minutes apart.
      pipelining: 0,
    });
  }

  /** Returns a token that is valid now. Rejects with TokenError. */
  async current(): Promise<string> {
    const kept = this.#token;
    const now = this.#clock.now();
    if (kept !== undefined && now < kept.renewedAt) return kept.value;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    try {
      this.#token = await this.#asking;
      return this.#token.value;
    } catch (error) {
      if (kept !== undefined && now < kept.endsAt) return kept.value;
      throw error;
    }
  }

  async #ask(): Promise<Token> {
    const askedAt = this.#clock.now();
    const { status, json } = await this.#answer();
    if (status !== 200) throw this.#refusal(status, json);
    const { access_token: value, expires_in: lifetime, token_type: type } = json;
    if (typeof value !== 'string' || !TOKEN.test(value))
      throw this.#unusable('its response has no access_token');
    if (typeof type === 'string' && type.toLowerCase() !== 'bearer')
      throw this.#unusable(`its token_type is "${this.#said(type)}", not Bearer`);
    const lifetimeMs = 1000 * (Number(lifetime) > 0 ? Number(lifetime) : LIFETIME_S);
    const usedMs = Math.max(lifetimeMs / 2, Math.min(lifetimeMs * RENEWED_AFTER, lifetimeMs - LEFT_MS_MIN));
    return { value, renewedAt: askedAt + usedMs, endsAt: askedAt + lifetimeMs };
  }

  async #answer(): Promise<{ readonly status: number; readonly json: Readonly<Record<string, unknown>> }> {
    const { tokenUrl, clientId, clientSecret, scope } = this.#options;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope === '' ? {} : { scope }),
    });
    const credentials = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
    try {
      const { statusCode, body } = await request(tokenUrl, {
        method: 'POST',
        dispatcher: this.#dispatcher,
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
        headers: {
          accept: 'application/json',
          authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: form.toString(),
      });
      return { status: statusCode, json: fieldsOf(await body.text()) };
    } catch (error) {
      const { code, name, message } = error as { code?: string; name?: string; message: string };
      const why =
        name === 'TimeoutError' ? `no response within ${ANSWER_MS_MAX / 1000} s` : (code ?? message);
      throw new TokenError(
        'unreachable',
        `the token endpoint ${tokenUrl} does not answer (${this.#said(why)})`,
      );
    }
  }

  #refusal(
    status: number,
    { error, error_description: description }: Readonly<Record<string, unknown>>,
  ): TokenError {
    const said = [error, description].filter((text) => typeof text === 'string').join(', ');
    const isLater = status === 429 || status >= 500;
    return new TokenError(
      isLater ? 'unreachable' : 'refused',
      `the token endpoint ${this.#options.tokenUrl} answered ${status}${said === '' ? '' : ` (${this.#said(said)})`}`,
    );
  }

  #unusable(why: string): TokenError {
    return new TokenError(
      'refused',
      `the token endpoint ${this.#options.tokenUrl} gives no bearer token: ${why}`,
    );
  }

  /** Shortens a text of the server, which may repeat what it was given. */
  #said(text: string): string {
    return oneLine(text.replaceAll(this.#options.clientSecret, '…')).slice(0, SAID_CHARACTERS_MAX);
  }
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
