/** Finds a merchant's legacy endpoint, whose URL no managed endpoint may have: the index of URLs does not contain it. */
export const legacyEndpoint = `
CREATE INDEX endpoint_legacy ON endpoint (merchant_id) WHERE deleted_at IS NULL AND legacy = 1;
`;
