import type { CommandModule } from 'yargs';
import { MerchantApi } from '../client/merchant-api.ts';
import { type CommandOptions, inSession, type Session, type Surroundings } from '../session.ts';
import type { Sourced } from '../settings.ts';

/** Shows the address, keys and merchant that a command would use, the source of each, and whether the key is valid. */
export function whoamiCommand(
  surroundings: Surroundings,
): Pick<CommandModule<object, CommandOptions>, 'builder' | 'handler'> {
  return {
    handler: (options) => inSession(options, surroundings, whoami),
  };
}

async function whoami(session: Session): Promise<void> {
  const { settings, output } = session;
  const shown = {
    base_url: settings.baseUrl(),
    api_key: hidden(settings.find('apiKey')),
    producer_key: hidden(settings.find('producerKey')),
    merchant: settings.find('merchant') ?? null,
    data_dir: settings.dataDir,
  };
  const rows = (['base_url', 'api_key', 'producer_key', 'merchant'] as const).map((name) => {
    const found = shown[name];
    const label = name.replace('_', ' ');
    return found
      ? [label, found.value, output.paint('dim', `from ${found.source}`)]
      : [label, '-', 'not given'];
  });
  output.result(shown, () => output.table(rows));
  // Requested last, so that the sources are on the screen when the key is refused.
  const endpoints = await new MerchantApi(session.api()).endpoints();
  output.remark(`the API accepts the key; the merchant has ${endpoints.length} endpoint(s)`);
}

/** Returns enough of a key to recognise it, but too little to use it. */
function hidden(found: Sourced | undefined): Sourced | null {
  if (!found) return null;
  const { value, source } = found;
  return { value: value.length < 24 ? '…' : `${value.slice(0, 15)}…${value.slice(-4)}`, source };
}
