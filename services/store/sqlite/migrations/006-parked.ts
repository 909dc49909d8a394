/** Why a delivery was put back, while it waits; null = it was not. */
export const parked = `
ALTER TABLE delivery ADD COLUMN parked INTEGER;
`;
