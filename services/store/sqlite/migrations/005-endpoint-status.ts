/**
 * The list of one status: without an index, finding the few endpoints of a status means reading very many rows.
 * Endpoints change rarely, compared with deliveries, so the cost of a further index is negligible.
 */
export const endpointStatus = `
CREATE INDEX endpoint_of_status ON endpoint (merchant_id, status, created_at, uuid) WHERE deleted_at IS NULL
  AND legacy = 0;
`;
