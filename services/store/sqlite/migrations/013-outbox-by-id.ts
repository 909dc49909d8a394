/** Drops the number of the last published change: a change is published when its row is gone. */
export const outboxById = `
DELETE FROM meta WHERE name = 'published_up_to';
`;
