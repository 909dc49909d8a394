import type { CommandModule } from 'yargs';
import type { ApiVersion } from '../../../services/domain/endpoint.ts';
import { NOTICE_FORMATS, type NoticeFormat } from '../../../services/domain/notices/notice.ts';
import { urlAdvice } from '../../client/advice.ts';
import { ApiRefusal } from '../../client/api-refusal.ts';
import { UNDESCRIBED } from '../../client/endpoint-names.ts';
import { MerchantApi } from '../../client/merchant-api.ts';
import { parseWebhookTypes } from '../../scenario/event-name.ts';
import { type CommandOptions, inSession, type Surroundings } from '../../session.ts';
import { describeEndpoint } from '../log/endpoint-lines.ts';
import { CONTROL_OPTIONS, type ControlOptions, newControlsOf } from './controls.ts';
import { API_VERSION_OPTION, EVENTS_OPTION, SIGNATURE_OPTION } from './options.ts';

interface CreateOptions extends CommandOptions, ControlOptions {
  readonly url: string;
  readonly description: string;
  readonly events?: string[];
  readonly apiVersion?: ApiVersion;
  readonly disabled: boolean;
  readonly kind?: 'events' | 'operational';
  readonly format?: NoticeFormat;
  readonly publicKeySignature?: boolean;
}

/** `endpoints create`. */
export function createCommand(surroundings: Surroundings): CommandModule<object, CreateOptions> {
  return {
    command: 'create [url]',
    describe: 'Register a URL; the signing secret is shown only once',
    builder: {
      url: { type: 'string', demandOption: true, describe: 'https URL' },
      description: { type: 'string', default: UNDESCRIBED, describe: 'A name to recognise it by' },
      events: { ...EVENTS_OPTION, describe: 'Types to receive: KYC,fiatToCrypto (default: all of its kind)' },
      'api-version': API_VERSION_OPTION,
      'public-key-signature': SIGNATURE_OPTION,
      kind: {
        choices: ['events', 'operational'] as const,
        describe: 'operational: notices about hookrail itself, and no events',
      },
      format: { choices: NOTICE_FORMATS, describe: 'Body of operational notices' },
      ...CONTROL_OPTIONS,
      disabled: { type: 'boolean', default: false, describe: 'Send nothing before it is enabled' },
    },
    handler: (options) =>
      inSession(options, surroundings, async (session) => {
        const api = new MerchantApi(session.api());
        const creation = api.createEndpoint({
          url: options.url,
          description: options.description,
          ...(options.events === undefined ? {} : { subscribed_events: parseWebhookTypes(options.events) }),
          ...(options.kind === undefined ? {} : { kind: options.kind }),
          ...(options.format === undefined ? {} : { format: options.format }),
          ...(options.apiVersion === undefined ? {} : { api_version: options.apiVersion }),
          ...(options.disabled ? { status: 'disabled' as const } : {}),
          ...signatureOf(options),
          ...newControlsOf(options, surroundings.environment),
        });
        const made = await withUrlAdvice(creation, options.url);
        session.output.result(made, () => describeEndpoint(made, session.output));
        session.output.remark(`keep the secret; to send a test: hookrail sim endpoints test ${made.uuid}`);
      }),
  };
}

/** Returns the property of a body by the option; none where it was not given. */
export function signatureOf({ publicKeySignature: isAsked }: { readonly publicKeySignature?: boolean }) {
  return isAsked === undefined ? {} : { public_key_signature: isAsked };
}

/** Explains the refusal of a URL. */
export async function withUrlAdvice<T>(change: Promise<T>, url: string): Promise<T> {
  return change.catch((error: unknown) => {
    throw error instanceof ApiRefusal ? urlAdvice(error, url) : error;
  });
}
