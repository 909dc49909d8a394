import { isUuid } from '../../../services/domain/ids.ts';
import { visible } from '../../../services/domain/text/visible-text.ts';
import { usage } from '../../exit.ts';

/** Options of a command that shows only what is about one thing. */
export const ABOUT = {
  transaction: { type: 'string', describe: 'Only about this transaction (uuid)' },
  subject: { type: 'string', describe: 'Only about this: a transaction, account, profile or wallet' },
  entity: { type: 'string', describe: 'Only about this user or corporate (uuid)' },
} as const;

export type AboutOptions = { readonly [Name in keyof typeof ABOUT]?: string | undefined };

export interface AboutQuery {
  readonly transaction_uuid?: string;
  readonly subject_uuid?: string;
  readonly entity_uuid?: string;
}

/** Returns the options as parameters of a request. Throws a usage failure for what is no UUID. */
export function aboutQuery({ transaction, subject, entity }: AboutOptions): AboutQuery {
  for (const [name, value] of Object.entries({ transaction, entity }))
    if (value !== undefined && !isUuid(value))
      throw usage(`--${name} "${visible(value)}" is not a UUID`, 'hookrail sim lookup <id>');
  return {
    ...(transaction === undefined ? {} : { transaction_uuid: transaction }),
    ...(subject === undefined ? {} : { subject_uuid: subject }),
    ...(entity === undefined ? {} : { entity_uuid: entity }),
  };
}
