import type { QuarantinedFound } from '../../../broker/broker.ts';
import { messageOf } from '../../../messages/error-message.ts';
import type { OperatorDeps } from '../command.ts';

/** What the quarantine has about an id. `fault`: it could not be looked through. */
export interface QuarantineLook extends QuarantinedFound {
  readonly fault: string | null;
}

/** Looks through the quarantine, for a merchant or for all. Never rejects: the store answers without the broker. */
export async function lookInQuarantine(
  { withRecordStores }: Pick<OperatorDeps, 'withRecordStores'>,
  about: string,
  merchantId?: string,
): Promise<QuarantineLook> {
  try {
    const found = await withRecordStores(({ quarantine }) => quarantine.find({ about, merchantId }));
    return { ...found, fault: null };
  } catch (error) {
    return { records: [], since: null, fault: messageOf(error) };
  }
}

/** Returns the end of a sentence that says what was not looked through; empty: nothing. */
export function notSearched({ since, fault }: QuarantineLook): string {
  if (fault !== null) return `; the quarantine could not be looked through (${fault})`;
  if (since === null) return '';
  return `; of the quarantine only what came after ${new Date(since).toISOString()} was looked through (see quarantine list)`;
}
