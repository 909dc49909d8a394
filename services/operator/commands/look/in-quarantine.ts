import type { QuarantinedFound } from '../../../broker/broker.ts';
import { messageOf } from '../../../messages/error-message.ts';
import type { OperatorDeps } from '../command.ts';

/** The records of the quarantine about an id. `fault`: why it could not be searched. */
export interface QuarantineLook extends QuarantinedFound {
  readonly fault: string | null;
}

/** Searches the quarantine, for a merchant or for all. Never rejects: the store answers without the broker. */
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

/** Returns the end of a sentence that says what was not searched; empty when all was. */
export function notSearched({ since, fault }: QuarantineLook): string {
  if (fault !== null) return `; the quarantine could not be searched (${fault})`;
  if (since === null) return '';
  return `; only the quarantine since ${new Date(since).toISOString()} was searched (see quarantine list)`;
}
