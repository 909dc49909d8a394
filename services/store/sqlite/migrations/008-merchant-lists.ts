/**
 * The lists of a merchant over all its endpoints. Events get an index; deliveries are merged from their endpoints'
 * indexes, so the endpoints of a merchant must be found. The new rows go to the end of a merchant's part of the index.
 */
export const merchantLists = `
CREATE INDEX event_newest ON event (merchant, created_at);
CREATE INDEX log_endpoint_of_merchant ON log_endpoint (merchant);
`;
