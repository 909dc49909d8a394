/** Why a delivery is parked; null = it is not. */
export const parked = `
ALTER TABLE delivery ADD COLUMN parked INTEGER;
`;
