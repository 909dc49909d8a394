/**
 * Of a producer's key, what it may publish: JSON, null = all. Of an audit entry, the operator's name. Of an event, the id
 * of the key that published it, or 'kafka'; null where it is not known.
 */
export const publishers = `
ALTER TABLE api_key ADD COLUMN types TEXT;
ALTER TABLE api_key ADD COLUMN merchants TEXT;
ALTER TABLE audit ADD COLUMN person TEXT;
ALTER TABLE event ADD COLUMN published_by ANY;
`;
