/**
 * Seals of merchants and endpoints, over all that decides what is sent where; null in rows that earlier builds made. Those
 * go on with this layout: a row that they change keeps the seal of an earlier version.
 */
export const seals = ['merchant', 'endpoint']
  .map((table) => `ALTER TABLE ${table} ADD seal_key_id text, ADD seal_version bigint, ADD seal_mac text;`)
  .join('\n');
