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

/** Returns the options as parameters of a request. */
export function aboutQuery({ transaction, subject, entity }: AboutOptions): AboutQuery {
  return {
    ...(transaction === undefined ? {} : { transaction_uuid: transaction }),
    ...(subject === undefined ? {} : { subject_uuid: subject }),
    ...(entity === undefined ? {} : { entity_uuid: entity }),
  };
}
