/**
 * The list of one status: without it, the few endpoints of a status among very many cost a look at each. Endpoints change
 * by the minute, not by the delivery, so a further index costs nothing that counts.
 */
export const endpointStatus = `
CREATE INDEX endpoint_of_status ON endpoint (merchant_id, status, created_at, uuid) WHERE deleted_at IS NULL
  AND legacy = 0;
`;
