import type { MerchantApi } from '../../client/merchant-api.ts';
import { usage } from '../../exit.ts';
import type { EndpointOptions, Session } from '../../session.ts';

/* The commands that make an endpoint's secrets: `endpoints prepare` and `endpoints rotate`. */

interface KeyedOptions extends EndpointOptions {
  readonly idempotencyKey?: string;
}

export interface PrepareOptions extends KeyedOptions {
  readonly discard: boolean;
}

export interface RotateOptions extends KeyedOptions {
  readonly prepared: boolean;
}

const KEY_OPTION = {
  'idempotency-key': {
    type: 'string',
    requiresArg: true,
    describe: 'A text of your choice: repeated with it, the command prints the same secret',
  },
} as const;

export const PREPARE_OPTIONS = {
  ...KEY_OPTION,
  discard: { type: 'boolean', default: false, describe: 'Discard the prepared secret instead' },
} as const;

export const ROTATE_OPTIONS = {
  ...KEY_OPTION,
  prepared: {
    type: 'boolean',
    default: false,
    describe: 'Only to the prepared secret; refused when none is prepared',
  },
} as const;

export async function prepare(api: MerchantApi, options: PrepareOptions, { output }: Session): Promise<void> {
  const { endpoint, discard } = options;
  const key = keyOf(options);
  if (discard) {
    await api.discardPrepared(endpoint);
    return output.result({ discarded: endpoint }, `${endpoint} has no prepared secret`);
  }
  const prepared = await api.prepareSecret(endpoint, key);
  const id = endpoint.slice(0, 8);
  output.result(prepared, `prepared secret ${prepared.signing_secret}`);
  output.remark('put it into your receiver beside the one in force, which signs until you rotate');
  output.remark(`then: hookrail sim endpoints test ${id} --prepared`);
  output.remark(`then: hookrail sim endpoints rotate ${id} --prepared`);
}

export async function rotate(api: MerchantApi, options: RotateOptions, { output }: Session): Promise<void> {
  const { endpoint, prepared } = options;
  const rotated = await api.rotateSecret(endpoint, keyOf(options), prepared ? { use: 'prepared' } : {});
  output.result(rotated, `signing secret ${rotated.signing_secret}`);
  output.remark(
    prepared
      ? 'the old secret is invalid: take it out of your receiver in a minute'
      : 'the old secret is invalid: give the new one to your receiver now',
  );
  output.remark(`then: hookrail sim endpoints test ${endpoint.slice(0, 8)}`);
}

function keyOf({ idempotencyKey }: KeyedOptions): string | undefined {
  if (idempotencyKey?.trim() === '') throw usage('--idempotency-key is empty: give a text of your choice');
  return idempotencyKey;
}
