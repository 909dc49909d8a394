import type { CommandModule } from 'yargs';
import { ApiClient } from '../client/api-client.ts';
import { MerchantApi } from '../client/merchant-api.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import { docsLink } from './sandbox/docs-link.ts';

/** Prints a link to the reference that shows the sandbox's keys in the samples, to the browser that opens it first. */
export function docsCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, CommandOptions>, 'builder' | 'handler'> {
  return {
    handler: (options) => inSession(options, surroundings, printLink),
  };
}

async function printLink({ settings, output, signal }: Session): Promise<void> {
  const { baseUrl, merchantKey, producerKey } = settings.sandbox();
  // A link of a sandbox that does not run, or has other keys by now, would only be refused.
  await new MerchantApi(new ApiClient(baseUrl, merchantKey, signal)).endpoints();
  const link = docsLink(baseUrl, { merchantKey, producerKey });
  output.result({ docs_link: link }, link);
  output.remark('it works once, within 15 minutes; that browser then sees your keys for a week');
}
