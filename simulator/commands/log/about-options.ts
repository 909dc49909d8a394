import { isUuid } from '../../../services/domain/ids.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { usage } from '../../exit.ts';

/** What events are about, as a list's options. */
export interface AboutOptions {
  readonly transaction?: string;
  readonly subject?: string;
  readonly entity?: string;
}

export const ABOUT = {
  transaction: { type: 'string', describe: 'Only about this transaction (uuid)' },
  subject: { type: 'string', describe: 'Only about this transaction, account, profile or wallet (its id)' },
  entity: { type: 'string', describe: 'Only about this user or corporate (uuid)' },
} as const;

/** Returns the options as the API has them. Throws a usage failure for what is no UUID. */
export function aboutQuery({ transaction, subject, entity }: AboutOptions) {
  for (const [name, value] of Object.entries({ transaction, entity }))
    if (value !== undefined && !isUuid(value))
      throw usage(`--${name} "${visible(value)}" is not a UUID`, 'hookrail sim lookup <id>');
  return { transaction_uuid: transaction, subject_uuid: subject, entity_uuid: entity };
}
