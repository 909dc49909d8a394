/**
 * Of a producer's key, what it may publish: JSON, null = all. Of an audit entry, the operator's name. Of an event, the id
 * of the key that published it, or 'kafka'; null where it is not known.
 */
export const publishers = `
ALTER TABLE api_key ADD COLUMN types text, ADD COLUMN merchants text;
ALTER TABLE audit ADD COLUMN person text;
ALTER TABLE event ADD COLUMN published_by bytea;
`;
