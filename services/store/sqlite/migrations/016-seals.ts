/** Seals of merchants and endpoints, over all that decides what is sent where; null in rows of earlier builds. */
export const seals = ['merchant', 'endpoint']
  .map(
    (table) => `
ALTER TABLE ${table} ADD COLUMN seal_key_id TEXT;
ALTER TABLE ${table} ADD COLUMN seal_version INTEGER;
ALTER TABLE ${table} ADD COLUMN seal_mac TEXT;`,
  )
  .join('');
